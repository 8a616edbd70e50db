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

log = logging.getLogger(__name__)

_LAST_EXCHANGES = 2
_SUMMARY_SECONDS = 60.0
_SUMMARY_SOURCE = 60_000  # characters given to the model to summarise
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
) -> Compacted | None:
    """`items` with everything before the last exchanges put into one message; None when there is
    nothing to shorten. What people want of `task` stays. The model has until `deadline`, on the
    event loop's clock in seconds."""
    wanted = asked(items, task)
    recent = _recent(items, items.index(wanted[0]) if wanted and wanted[0] in items else 0)
    kept = [item for item in wanted if item not in items[recent:]]
    old = [item for item in items[:recent] if item not in kept]
    if not old:
        return None
    summary, usage = await _summarised(old, model, name, interrupt, deadline)
    note = prompts.note(prompts.summary_of_before(summary))
    return Compacted(portable((note, *kept, *paired(items[recent:]))), usage)


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
    items: Sequence[Item], model: Model, name: str, interrupt: Interrupt, deadline: float
) -> tuple[str, Usage]:
    """A person who stops the run does not wait for the model's summary; nor does a deadline."""
    request = ModelRequest(
        model=name,
        instructions=prompts.SUMMARISE,
        input=({"role": "user", "content": transcript(items)[-_SUMMARY_SOURCE:]},),
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
    return transcript(items, line=_LINE)[-_MECHANICAL:], NO_USAGE


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
