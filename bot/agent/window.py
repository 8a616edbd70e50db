"""The active window of a thread's ledger: the items since the last checkpoint, and the changes that
the thread's runs have made.

A new chain starts with the window when the service has lost the old chain, stateless mode sends it
with every request, and compaction shortens it. A conversation that is shortened names the changes
whatever a summary says, because a model that does not see its change makes it again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import NamedTuple

from pydantic_core import from_json

from bot.core.chain import Item, LedgerEntry
from bot.model.types import CONTENT_FILTER, HOSTED_CALLS, ModelResponse
from bot.text.token_estimate import estimated_tokens

_SERVICE_FIELDS = frozenset({"id", "status"})
"""Name an item in the service's store; on a chain that has no such store they are refused."""


def active_items(entries: Sequence[LedgerEntry]) -> tuple[Item, ...]:
    """Return the items since the last checkpoint, which replaces everything before it.

    Calls without an output and items before the first message are left out: old entries of the
    ledger expire, and a crash leaves calls whose response was requested again.
    """
    entries = on_chain(entries)
    start = max((n for n, entry in enumerate(entries) if entry.checkpoint), default=0)
    items = [item for entry in entries[start:] for item in entry.items]
    first = next((n for n, item in enumerate(items) if _is_message(item)), len(items))
    return whole_pairs(items[first:])


def on_chain(entries: Sequence[LedgerEntry]) -> list[LedgerEntry]:
    """Return the entries whose items are part of the conversation, checkpoints among them."""
    stay: list[LedgerEntry] = []
    abandoned: set[str] = set()
    for entry in reversed(entries):
        gone = entry.abandoned or {entry.response_id, entry.run_id} & abandoned
        if not gone:
            stay.append(entry)
        abandoned.update(entry.abandons)
    return stay[::-1]


def user_requests(items: Sequence[Item], task: Item | None) -> tuple[Item, ...]:
    """Return what people asked of the current run: `task`, or the last user message if there is
    none, and all user messages after it."""
    requests = [item for item in items if item.get("role") == "user"]
    if task is None:
        return tuple(requests[-1:])
    since = requests[::-1].index(task) if task in requests else 0
    return (task, *requests[len(requests) - since :])


def whole_pairs(items: Sequence[Item]) -> tuple[Item, ...]:
    """Return `items` without calls that have no output, outputs that have no call, and the
    reasoning that led to what is left out. Of several calls under one id the output belongs to the
    last, and an id may be used again once it has its output: some services number the calls of each
    response from the start."""
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
    """Return `items` without reasoning that no output of the model follows: the service refuses it."""
    return _with_what_follows(items, [True] * len(items))


def complete_part(response: ModelResponse) -> ModelResponse:
    """Return the complete items of `response`. A response that was cut may hold empty messages,
    calls whose arguments are not a JSON object, unfinished hosted steps, and reasoning before
    these. Of a response that the content filter cut nothing is kept."""
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
    """Return `items` as a new chain accepts them: without the ids that the service's store gave
    them.

    Reasoning is kept only if its encrypted content is there. Messages of the model become plain
    text.
    """
    return tuple(
        _portable(item)
        for item in items
        if item.get("type") not in HOSTED_CALLS
        and (item.get("type") != "reasoning" or item.get("encrypted_content"))
    )


def with_own_ids(items: Iterable[Item]) -> tuple[Item, ...]:
    """Return `items` with another id for each that has the id of an earlier one, which services refuse:
    some servers number the items of each response from the start."""
    ids: set[str] = set()
    own: list[Item] = []
    for n, item in enumerate(items):
        item_id = item.get("id")
        if item_id in ids:
            item = {**item, "id": (item_id := f"{item_id}_{n}")}  # noqa: PLW2901 - the same item
        if item_id:
            ids.add(item_id)
        own.append(item)
    return tuple(own)


def text_of(item: Item) -> str:
    """Return the text of a message, a refusal too."""
    content = item.get("content") or ""
    if isinstance(content, str):
        return content
    return " ".join(str(part.get("text") or part.get("refusal") or "") for part in content)


def assistant_message(text: str) -> Item:
    """Return text of the model as an input item. llama.cpp's server requires the type."""
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
    """Return whether the model produced the item."""
    return (
        item.get("type") != "function_call_output" and item.get("role", "assistant") == "assistant"
    )


_ARGUMENTS, _OUTPUT = 200, 100  # characters of a line


class Change(NamedTuple):
    """A call that may have changed something; `output` is None if nobody knows its outcome."""

    call: Item
    output: str | None

    @property
    def line(self) -> str:
        """Return the change in one line for the model."""
        arguments = _short(str(self.call["arguments"]), _ARGUMENTS)
        outcome = "outcome unknown" if self.output is None else _short(self.output, _OUTPUT)
        return f"{self.call['name']}({arguments}) → {outcome}"


def changes_in(
    entries: Sequence[LedgerEntry], is_change: Callable[[str], bool]
) -> tuple[Change, ...]:
    """Return the changes of a ledger, oldest first. Checkpoints only repeat earlier items."""
    changes: list[Change] = []
    waiting: dict[str, int] = {}
    for entry in on_chain(entries):
        for item in () if entry.checkpoint else entry.items:
            kind, call_id = item.get("type"), str(item.get("call_id"))
            if kind == "function_call" and is_change(item["name"]):
                waiting[call_id] = len(changes)
                changes.append(Change(item, None))
            elif (
                kind == "function_call_output" and (index := waiting.pop(call_id, None)) is not None
            ):
                changes[index] = changes[index]._replace(output=str(item["output"]))
    return tuple(changes)


def without(changes: Iterable[Change], items: Iterable[Item]) -> tuple[Change, ...]:
    """Return the changes whose calls are not among `items`; of equal calls the newest are."""
    present = Counter(_key(item) for item in items if item.get("type") == "function_call")
    missing: list[Change] = []
    for change in reversed(tuple(changes)):
        if present[_key(change.call)] > 0:
            present[_key(change.call)] -= 1
        else:
            missing.append(change)
    return tuple(reversed(missing))


def lines_of(changes: Sequence[Change], tokens: int) -> list[str]:
    """Return a line for each change in about `tokens`: the newest whole, the others counted."""
    lines: list[str] = []
    left = tokens
    for number, change in enumerate(reversed(changes)):
        line = f"- {change.line}"
        left -= estimated_tokens(line)
        if left < 0 and number:
            before = Counter(change.call["name"] for change in changes[: len(changes) - number])
            counted = ", ".join(f"{name} {times} ×" for name, times in before.items())
            lines.append(f"- before these: {counted}")
            break
        lines.append(line)
    return lines[::-1]


def _key(call: Item) -> tuple[str, str, str]:
    return str(call["call_id"]), str(call["name"]), str(call["arguments"])


def _short(text: str, characters: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= characters else f"{line[:characters]}…"
