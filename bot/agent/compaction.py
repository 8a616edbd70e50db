"""Compaction of a conversation that has grown too long.

The current request and the last exchanges stay whole if they fit; the model summarises everything
else, or a mechanical summary takes its place: lines cut short, and of very many the newest, which
says how many are missing. Calls that changed something are listed in any case.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from bot.agent import prompts
from bot.agent.calls.outputs import mark_as_data, marked_text, new_mark
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.window import (
    Change,
    is_from_model,
    lines_of,
    portable,
    text_of,
    whole_pairs,
    without,
)
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError
from bot.model.types import HOSTED_CALLS, Model, ModelRequest, whole_response
from bot.text.token_estimate import estimated_tokens
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.size import SAVED, Room, limited, saved_handle, shortened

log = logging.getLogger(__name__)

_LAST_EXCHANGES = 2
_SUMMARY_SECONDS = 60.0
_LEAST_PIECE = 500  # tokens given to the model to summarise at once
_ENTRY, _NOTE = 2_000, 20_000  # characters of an item, and of a note of ours, in what it is given
UNKNOWN_WINDOW = 100_000  # tokens
_SHARE_OF_LAST = 0.4  # of the window, for the last exchanges
_PREVIEW = Room(1_000, 250)
_LINE = 200  # characters kept of an output in a mechanical summary
_MECHANICAL = 5_000  # tokens of one
SHARE_OF_CHANGES = 8  # the list of changes takes the window divided by this
_MOST_HANDLES = 30


@dataclass(frozen=True, slots=True)
class Compacted:
    """The items that a fresh chain begins with, and the usage of summarising."""

    items: tuple[Item, ...]
    usage: Usage


@dataclass(frozen=True, slots=True)
class Compaction:
    """Shortens the conversation of one run with its `model`, called `name`.

    `window` is in tokens (0: unknown). Outputs that are cut are saved as `artifacts`. Stop and the
    `deadline` (seconds on the event loop's clock) interrupt it."""

    model: Model
    name: str
    artifacts: Artifacts
    interrupt: Interrupt
    deadline: float
    window: int
    _cuts: dict[tuple[str, str], Item] = field(default_factory=dict)  # each output is saved once

    async def compact(
        self, items: Sequence[Item], task: Item | None, changes: Sequence[Change] = ()
    ) -> Compacted | None:
        """Return `items` with everything that has no room put into one message; None when there is
        nothing to shorten.

        What people want of `task` stays. The last exchanges stay whole if they fit into a part of the
        window; else their largest outputs become a preview and a handle, and then the oldest of them
        go. Each item stays, or is told to the model that summarises. The `changes` whose calls do not
        stay are listed as well.
        """
        wanted = _requests(items, task)
        recent = _recent(items, min(wanted, default=0))
        numbers = sorted(wanted | set(range(recent, len(items))))
        fitting = await self._fit([(n, items[n]) for n in numbers], wanted)
        stays = {n for n, _ in fitting}
        gone = [item for n, item in enumerate(items) if n not in stays]
        if not gone and all(item is items[n] for n, item in fitting):
            return None
        kept = tuple(item for _, item in fitting)
        told = [*gone, *(item for item in kept if item.get("type") in HOSTED_CALLS)]
        summary, usage = await self._summarise(told) if gone else ("", NO_USAGE)
        lost = [items[n] for n in range(len(items)) if _is_output(items[n]) and n not in stays]
        saved = await self._save(lost)
        asked = () if task is None or task in items else (task,)
        notes = [prompts.summary_of_before(summary, saved)]
        if missing := without(changes, kept):
            notes.append(prompts.changes_before(lines_of(missing, self._room // SHARE_OF_CHANGES)))
        return Compacted(
            portable((*(prompts.note(note) for note in notes if note), *asked, *kept)), usage
        )

    @property
    def _room(self) -> int:
        return self.window or UNKNOWN_WINDOW

    async def _fit(
        self, items: Sequence[tuple[int, Item]], wanted: Collection[int]
    ) -> list[tuple[int, Item]]:
        """Return the numbered items, those beside the `wanted` in at most a share of the window: first
        the largest outputs are cut to a preview, then the oldest items that people did not say go, in
        whole pairs."""
        fitting, room = dict(items), int(self._room * _SHARE_OF_LAST)

        def size() -> int:
            return sum(_size(item) for n, item in fitting.items() if n not in wanted)

        for n in sorted(fitting, key=lambda n: -_size(fitting[n])):
            if size() <= room:
                break
            if _is_output(fitting[n]):
                fitting[n] = await self._cut(fitting[n])
        while size() > room:
            oldest = next((n for n, i in fitting.items() if i.get("role") != "user"), None)
            if oldest is None:
                break
            del fitting[oldest]
            whole = {id(item) for item in whole_pairs(tuple(fitting.values()))}
            fitting = {n: item for n, item in fitting.items() if id(item) in whole}
        return list(fitting.items())

    async def _save(self, outputs: Sequence[Item]) -> list[str]:
        """Return the handles of the newest of `outputs`, as far as they are large."""
        cuts = [await self._cut(output) for output in outputs[-_MOST_HANDLES:]]
        return [handle for cut in cuts if (handle := saved_handle(str(cut["output"])))]

    async def _cut(self, item: Item) -> Item:
        """Return an output as a preview, with the handle under which the model finds all of it.
        What others wrote stays marked."""
        output = str(item["output"])
        if _key(item) in self._cuts or _PREVIEW.holds(output):
            return self._as_cut(item)
        theirs = marked_text(output)
        text, mark = theirs or output, new_mark() if theirs else ""
        if handle := saved_handle(output):
            head = f"{SAVED}{handle} · it was cut again to make room.\n"
            short = head + shortened(text, _PREVIEW.left_after(head))
        else:
            try:
                with self.interrupt.within(self.deadline):
                    short = await limited(text, _PREVIEW, self.artifacts, name="earlier")
            except (Interrupted, TimeoutError):
                short = shortened(text, _PREVIEW)
        cut = {**item, "output": mark_as_data(short, mark) if mark else short}
        self._cuts[_key(item)] = cut
        return cut

    def _as_cut(self, item: Item) -> Item:
        """Return an output as it was cut before, or itself."""
        return self._cuts.get(_key(item), item)

    async def _summarise(self, items: Sequence[Item]) -> tuple[str, Usage]:
        """Return a summary of the items by the model, piece by piece if they do not fit into half of
        the window, and its usage. What the model did not summarise follows in short lines."""
        summary, usage = "", NO_USAGE
        entries = _entries(items, _ENTRY)
        while entries:
            most = max(_LEAST_PIECE, self._room // 2 - estimated_tokens(summary))
            piece, rest = _piece(entries, most)
            found = await self._summary(summary, piece)
            if found is None:
                log.warning(
                    "the model did not summarise; the conversation is shortened mechanically"
                )
                left = _entries(items, _LINE)[-len(entries) :]
                lines = _newest(left, min(_MECHANICAL, self._room // 8))
                return "\n".join(filter(None, (summary, lines))), usage
            summary, usage, entries = found[0], usage + found[1], rest
        return summary, usage

    async def _summary(self, before: str, piece: Sequence[str]) -> tuple[str, Usage] | None:
        """Return the model's summary of a piece of the conversation and of the summary `before` it;
        None if there is none in time."""
        earlier = (f"Summary of what came before:\n{before}\n\nWhat followed:",) if before else ()
        request = ModelRequest(
            model=self.name,
            instructions=prompts.SUMMARISE,
            input=({"role": "user", "content": "\n".join((*earlier, *piece))},),
            tools=(),
            store=False,  # on no chain: nobody would know of it, to erase it
        )
        until = min(self.deadline, asyncio.get_running_loop().time() + _SUMMARY_SECONDS)
        with suppress(ModelError, TimeoutError, Interrupted), self.interrupt.within(until):
            response = await whole_response(self.model, request)
            return (response.text, response.billed) if response.text else None
        return None


def _requests(items: Sequence[Item], task: Item | None) -> set[int]:
    """Return the numbers of what people asked of the current run, as `user_requests` has it."""
    asked = [n for n, item in enumerate(items) if item.get("role") == "user"]
    if task is None:
        return set(asked[-1:])
    begins = next((n for n in reversed(asked) if items[n] == task), len(items))
    return {n for n in asked if n >= begins}


def _piece(entries: list[str], tokens: int) -> tuple[list[str], list[str]]:
    """Return the first entries that take about `tokens`, at least one, which is cut; and the others."""
    piece = [shortened(entries[0], Room(len(entries[0]), tokens))]
    left = tokens - estimated_tokens(piece[0])
    for entry in entries[1:]:
        left -= estimated_tokens(entry)
        if left < 0:
            break
        piece.append(entry)
    return piece, entries[len(piece) :]


def _newest(lines: Sequence[str], tokens: int) -> str:
    """Return the newest of the lines that take about `tokens`, and how many are left out."""
    kept: list[str] = []
    for line in reversed(lines):
        tokens -= estimated_tokens(line)
        if tokens < 0:
            break
        kept.append(line)
    more = len(lines) - len(kept)
    head = [f"[{more} earlier entries could not be kept]"] if more else []
    return "\n".join((*head, *reversed(kept)))


def _key(output: Item) -> tuple[str, str]:
    """Return a unique key of an output: several outputs may have the same call id."""
    return output["call_id"], str(output["output"])


def _is_output(item: Item) -> bool:
    return item.get("type") == "function_call_output"


def _size(item: Item) -> int:
    """Return the approximate number of tokens of an item."""
    return estimated_tokens(str(item))


def _recent(items: Sequence[Item], request: int) -> int:
    """Return where the exchanges begin that stay whole: the last two turns of the model that
    called."""
    begins, turns = 0, []
    for n in range(request + 1, len(items)):
        if is_from_model(items[n]) and not is_from_model(items[n - 1]):
            begins = n
        if items[n].get("type") == "function_call" and begins not in turns:
            turns.append(begins)
    return turns[-_LAST_EXCHANGES] if len(turns) >= _LAST_EXCHANGES else len(items)


def transcript(items: Sequence[Item], line: int = _ENTRY) -> str:
    """Return the conversation as text, each entry cut to `line` characters."""
    return "\n".join(_entries(items, line))


def _entries(items: Sequence[Item], line: int) -> list[str]:
    return [entry for item in items if (entry := _as_text(item, line))]


def _as_text(item: Item, line: int) -> str:
    kind = item.get("type")
    match kind:
        case "function_call":
            return f"call {item['name']}({_cut_text(item['arguments'], line)})"
        case "function_call_output":
            return f"→ {_cut_text(str(item['output']), line)}"
        case "reasoning":
            return ""
        case str() if kind in HOSTED_CALLS:
            return f"call {kind}({_cut_text(str(item.get('action', '')), line)})"
        case _:
            # What the bot told the model before, such as a summary, is told whole.
            most = line if item.get("role") != "developer" else max(line, _NOTE)
            return f"{item.get('role', 'assistant')}: {_cut_text(text_of(item), most)}"


def _cut_text(text: str, characters: int) -> str:
    if len(text) <= characters:
        return text
    return f"{text[:characters]}… [{len(text) - characters:,} more characters]"
