"""The part of a thread's conversation that is still in play, from our own ledger.

It is what a fresh chain begins with when the service no longer has the old one, what stateless
mode sends every time, and what compaction shortens.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace

from pydantic_core import from_json

from bot.core.chain import Item, LedgerEntry
from bot.model.types import CONTENT_FILTER, HOSTED_CALLS, ModelResponse

_SERVICE_FIELDS = frozenset({"id", "status"})
"""Name an item in the service's store; on a chain that has no such store they are refused."""


def active_items(entries: Sequence[LedgerEntry]) -> tuple[Item, ...]:
    """Return the items since the last checkpoint, with the checkpoint in the place of all before.

    Only whole pairs of call and output, and nothing before the first message: the ledger may
    have been cut at its old end, and a crash leaves calls whose response was made again.
    """
    start = max((n for n, entry in enumerate(entries) if entry.checkpoint), default=0)
    items = [i for entry in entries[start:] if not entry.abandoned for i in entry.items]
    first = next((n for n, item in enumerate(items) if _is_message(item)), len(items))
    return whole_pairs(items[first:])


def user_requests(items: Sequence[Item], task: Item | None) -> tuple[Item, ...]:
    """Return what people want of the current run: its task, or else their last message, and what they
    said since."""
    said = [item for item in items if item.get("role") == "user"]
    if task is None:
        return tuple(said[-1:])
    since = said[::-1].index(task) if task in said else 0
    return (task, *said[len(said) - since :])


def whole_pairs(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return `items` without calls that have no output, outputs that have no call, and the reasoning
    that led to what is left out. Of several calls under one id the output belongs to the last, and
    an id may be used again once it has its output: some services number the calls of each response
    from the start."""
    stays = [True] * len(items)
    unanswered: dict[str, int] = {}
    for n, item in enumerate(items):
        match item.get("type"):
            case "function_call":
                stays[n] = False
                unanswered[item["call_id"]] = n
            case "function_call_output":
                call = unanswered.pop(item["call_id"], None)
                stays[n] = call is not None
                if call is not None:
                    stays[call] = True
            case _:  # whatever else was said
                pass
    return _with_what_follows(items, stays)


def without_stray_reasoning(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return `items` without reasoning that led to nothing: the service takes none alone."""
    return _with_what_follows(items, [True] * len(items))


def complete_part(response: ModelResponse) -> ModelResponse:
    """Return `response` without what is not whole, if it was cut: empty messages, calls whose
    arguments are no JSON object, steps that had not ended, and reasoning that led to these. Nothing
    is kept of one that the content filter cut."""
    if response.incomplete is None:
        return response
    is_filtered = response.incomplete == CONTENT_FILTER
    whole = () if is_filtered else tuple(filter(_is_whole, response.items))
    return replace(response, items=without_stray_reasoning(whole))


def _is_whole(item: Item) -> bool:
    kind = item.get("type")
    if kind in HOSTED_CALLS:
        return item.get("status") in (None, "completed", "failed")
    if kind != "function_call":
        return kind != "message" or bool(text_of(item))
    try:
        return isinstance(from_json(item["arguments"]), dict)
    except ValueError:
        return False


def _with_what_follows(items: Sequence[Item], stays: list[bool]) -> tuple[Item, ...]:
    """Return those of `items` that stay, reasoning only with the item that it led to."""
    for n in range(len(items) - 1, -1, -1):
        if items[n].get("type") == "reasoning":
            stays[n] = n + 1 < len(items) and stays[n + 1] and is_from_model(items[n + 1])
    return tuple(item for item, stay in zip(items, stays, strict=True) if stay)


def portable(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return `items` as a fresh chain takes them: without the names that the old one's store gave them.

    Reasoning goes along only where it carries itself, encrypted; without that it is a mere name.
    What the model said goes as plain words.
    """
    return tuple(
        _portable(item)
        for item in items
        if item.get("type") not in HOSTED_CALLS
        and (item.get("type") != "reasoning" or item.get("encrypted_content"))
    )


def text_of(item: Item) -> str:
    """Return the text of a message, a refusal too."""
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or part.get("refusal") or "") for part in content)


def assistant_message(text: str) -> Item:
    """Return words of the model as input. llama.cpp's server takes none without a type."""
    return {"type": "message", "role": "assistant", "content": text}


def _portable(item: Item) -> Item:
    if item.get("type", "message") == "message" and item.get("role") == "assistant":
        return assistant_message(text_of(item))
    # Reasoning must have its id, which names nothing where the content is all there.
    dropped = {"status"} if item.get("type") == "reasoning" else _SERVICE_FIELDS
    return {key: value for key, value in item.items() if key not in dropped}


def _is_message(item: Item) -> bool:
    return item.get("role") in ("user", "developer")


def is_from_model(item: Item) -> bool:
    """Return whether the model made the item."""
    return (
        item.get("type") != "function_call_output" and item.get("role", "assistant") == "assistant"
    )
