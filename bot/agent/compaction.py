"""Shortening a conversation that has grown too long (E3, E4).

The request in hand and the last exchanges stay whole; what came before is summarised, by the
model, or mechanically if that fails: cut short, and of very much only the newest.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from contextlib import aclosing
from dataclasses import dataclass

from bot.agent import prompts
from bot.agent.interrupt import Interrupt, Interrupted
from bot.agent.window import asked, is_models, paired, portable, words
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ModelError
from bot.model.types import Model, ModelRequest, ModelResponse
from bot.toolkit.size import preview

log = logging.getLogger(__name__)

_LAST_EXCHANGES = 2
_SUMMARY_SECONDS = 60.0
_SUMMARY_SOURCE = 60_000  # characters given to the model to summarise
_CHARACTERS_PER_TOKEN = 4
_UNKNOWN_WINDOW = 400_000  # characters
_SHARE_OF_LAST = 0.4  # of the window, for the last exchanges
_PREVIEW = 1_000  # characters kept of an output that does not fit
_CUT = (
    "[This output was cut to make room. Call the tool again for the rest of it, if it is needed.]"
)
_LINE = 200  # characters kept of an output in a mechanical summary
_MECHANICAL = 20_000  # characters of one; the last resort is a window that slides


@dataclass(frozen=True, slots=True)
class Compacted:
    """What a fresh chain begins with, and what making it took."""

    items: tuple[Item, ...]
    usage: Usage


async def compacted(
    items: Sequence[Item],
    task: Item | None,
    model: Model,
    name: str,
    interrupt: Interrupt,
    deadline: float,
    window: int,
) -> Compacted | None:
    """Return `items` with everything before the last exchanges put into one message; None when there
    is nothing to shorten. What people want of `task` stays. The model has until `deadline`, on the
    event loop's clock in seconds. The last exchanges stay whole if they fit into a part of
    `window`, in tokens (0: not known); else their largest outputs are cut, and the oldest of them
    go."""
    room = window * _CHARACTERS_PER_TOKEN if window else _UNKNOWN_WINDOW
    wanted = asked(items, task)
    recent = _recent(items, items.index(wanted[0]) if wanted and wanted[0] in items else 0)
    kept = [item for item in wanted if item not in items[recent:]]
    old = [item for item in items[:recent] if item not in kept]
    last = paired(items[recent:])
    fitting = _fitting(last, int(room * _SHARE_OF_LAST))
    if not old and fitting == last:
        return None
    if not old:
        return Compacted(portable((*kept, *fitting)), NO_USAGE)
    summary, usage = await _summarised(old, model, name, interrupt, deadline, room)
    note = prompts.note(prompts.summary_of_before(summary))
    return Compacted(portable((note, *kept, *fitting)), usage)


def _fitting(items: Sequence[Item], room: int) -> tuple[Item, ...]:
    """Return `items` in at most `room` characters: first the largest outputs are cut to a preview,
    then the oldest items that people did not say go, in whole pairs."""
    fitting = list(items)
    for n in sorted(range(len(fitting)), key=lambda n: -_size(fitting[n])):
        if sum(map(_size, fitting)) <= room:
            break
        if fitting[n].get("type") == "function_call_output" and _size(fitting[n]) > _PREVIEW:
            cut = f"{preview(str(fitting[n]['output']), _PREVIEW)}\n{_CUT}"
            fitting[n] = {**fitting[n], "output": cut}
    while sum(map(_size, fitting)) > room:
        oldest = next((n for n, i in enumerate(fitting) if i.get("role") != "user"), None)
        if oldest is None:
            break
        del fitting[oldest]
        fitting = list(paired(fitting))
    return tuple(fitting)


def _size(item: Item) -> int:
    return len(str(item))


def _recent(items: Sequence[Item], request: int) -> int:
    """Where the exchanges begin that stay whole: the last two turns of the model that called."""
    begins, turns = 0, []
    for n in range(request + 1, len(items)):
        if is_models(items[n]) and not is_models(items[n - 1]):
            begins = n
        if items[n].get("type") == "function_call" and begins not in turns:
            turns.append(begins)
    return turns[-_LAST_EXCHANGES] if len(turns) >= _LAST_EXCHANGES else len(items)


async def _summarised(
    items: Sequence[Item], model: Model, name: str, interrupt: Interrupt, deadline: float, room: int
) -> tuple[str, Usage]:
    """Return a summary of what fits into `room` characters, and its usage. A person who stops the run does not wait for the model's summary; nor does a deadline."""
    request = ModelRequest(
        model=name,
        instructions=prompts.SUMMARISE,
        input=({"role": "user", "content": transcript(items)[-min(_SUMMARY_SOURCE, room // 2) :]},),
        tools=(),
        store=False,  # on no chain: nobody would know of it, to erase it
    )
    until = min(deadline, asyncio.get_running_loop().time() + _SUMMARY_SECONDS)
    try:
        async with aclosing(interrupt.each(model.respond(request), until)) as parts:
            async for part in parts:
                if isinstance(part, ModelResponse) and part.text:
                    return part.text, part.usage
    except (ModelError, TimeoutError, Interrupted):
        log.warning("the model did not summarise; the conversation is shortened mechanically")
    return transcript(items, line=_LINE)[-min(_MECHANICAL, room // 8) :], NO_USAGE


def transcript(items: Sequence[Item], line: int = 2_000) -> str:
    """The conversation as text, each entry cut to `line` characters."""
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
            return f"{item.get('role', 'assistant')}: {words(item)[:line]}"
