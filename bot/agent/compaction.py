"""Compaction of a conversation that has grown too long.

The current request and the last exchanges stay whole if they fit; the model summarises what came
before, or a mechanical summary takes its place: lines cut short, and of very many only the newest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass, field

from bot.agent import prompts
from bot.agent.calls.outputs import mark_as_data, marked_text, new_mark
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.window import is_from_model, portable, text_of, user_requests, whole_pairs
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError
from bot.core.text.token_estimate import estimated_tokens
from bot.model.types import Model, ModelRequest, ModelResponse
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.size import SAVED, Room, limited, saved_handle, shortened

log = logging.getLogger(__name__)

_LAST_EXCHANGES = 2
_SUMMARY_SECONDS = 60.0
_SUMMARY_SOURCE = 15_000  # tokens given to the model to summarise
_UNKNOWN_WINDOW = 100_000  # tokens
_SHARE_OF_LAST = 0.4  # of the window, for the last exchanges
_PREVIEW = Room(1_000, 250)
_LINE = 200  # characters kept of an output in a mechanical summary
_MECHANICAL = 5_000  # tokens of one; the last resort is a window that slides
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

    async def compact(self, items: Sequence[Item], task: Item | None) -> Compacted | None:
        """Return `items` with everything before the last exchanges put into one message; None when
        there is nothing to shorten. What people want of `task` stays. The last exchanges stay whole
        if they fit into a part of the window; else their largest outputs become a preview and a
        handle, and then the oldest of them go."""
        wanted = user_requests(items, task)
        recent = _recent(items, items.index(wanted[0]) if wanted and wanted[0] in items else 0)
        kept = [item for item in wanted if item not in items[recent:]]
        old = [item for item in items[:recent] if item not in kept]
        last = whole_pairs(items[recent:])
        fitting = await self._fit(last)
        if not old and fitting == last:
            return None
        summary, usage = await self._summarise(old) if old else ("", NO_USAGE)
        outputs = [item for item in items if _is_output(item)]
        gone = [each for each in outputs if self._as_cut(each) not in fitting]
        saved = await self._save(gone)
        before = prompts.summary_of_before(summary, saved)
        notes = (prompts.note(before),) if before else ()
        return Compacted(portable((*notes, *kept, *fitting)), usage)

    @property
    def _room(self) -> int:
        return self.window or _UNKNOWN_WINDOW

    async def _fit(self, items: Sequence[Item]) -> tuple[Item, ...]:
        """Return `items` in at most a share of the window: first the largest outputs are cut to a
        preview, then the oldest items that people did not say go, in whole pairs."""
        fitting, room = list(items), int(self._room * _SHARE_OF_LAST)
        for n in sorted(range(len(fitting)), key=lambda n: -_size(fitting[n])):
            if sum(map(_size, fitting)) <= room:
                break
            if _is_output(fitting[n]):
                fitting[n] = await self._cut(fitting[n])
        while sum(map(_size, fitting)) > room:
            oldest = next((n for n, i in enumerate(fitting) if i.get("role") != "user"), None)
            if oldest is None:
                break
            del fitting[oldest]
            fitting = list(whole_pairs(fitting))
        return tuple(fitting)

    async def _save(self, outputs: Sequence[Item]) -> list[str]:
        """Return the handles of the newest of `outputs`, as far as they are large."""
        cuts = [await self._cut(each) for each in outputs[-_MOST_HANDLES:]]
        return [handle for each in cuts if (handle := saved_handle(str(each["output"])))]

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
                async with self.interrupt.within(self.deadline):
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
        """Return a summary by the model of the newest of `items`, or a mechanical one if that
        fails, and its usage."""
        source = _newest(transcript(items), min(_SUMMARY_SOURCE, self._room // 2))
        request = ModelRequest(
            model=self.name,
            instructions=prompts.SUMMARISE,
            input=({"role": "user", "content": source},),
            tools=(),
            store=False,  # on no chain: nobody would know of it, to erase it
        )
        until = min(self.deadline, asyncio.get_running_loop().time() + _SUMMARY_SECONDS)
        try:
            async with aclosing(
                self.interrupt.iterate(self.model.respond(request), until)
            ) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse) and part.text:
                        return part.text, part.usage
        except (ModelError, TimeoutError, Interrupted):
            log.warning("the model did not summarise; the conversation is shortened mechanically")
        lines = transcript(items, line=_LINE)
        return _newest(lines, min(_MECHANICAL, self._room // 8)), NO_USAGE


def _newest(text: str, tokens: int) -> str:
    """Return as much of the end of `text` as takes about `tokens`."""
    most = Room(len(text), tokens).characters_of(text)
    return text[len(text) - most :]


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


def transcript(items: Sequence[Item], line: int = 2_000) -> str:
    """Return the conversation as text, each entry cut to `line` characters."""
    return "\n".join(filter(None, (_as_text(item, line) for item in items)))


def _as_text(item: Item, line: int) -> str:
    match item.get("type"):
        case "function_call":
            return f"call {item['name']}({item['arguments'][:line]})"
        case "function_call_output":
            return f"→ {str(item['output'])[:line]}"
        case "reasoning":
            return ""
        case _:
            return f"{item.get('role', 'assistant')}: {text_of(item)[:line]}"
