"""Foreign interpreters for tools, in isolated processes; see `bot.toolkit.provided.interpreters`."""

from __future__ import annotations

import asyncio
from typing import Any

from bot.core.errors import ToolError
from bot.library.isolated import ProcessLost, Refused
from bot.library.isolated.process import IsolatedLimits
from bot.services.children import asker_process
from bot.toolkit.provided.interpreters import Conversion, JsonSelection, Matches

_TEXT = "text"  # the file that the jobs read
_LIMITS = IsolatedLimits(memory=2**30, cpu=5.0, seconds=15.0, reply=64_000_000)


class IsolatedInterpreters:
    """See `Interpreters`."""

    async def convert(self, value: float, source: list[str], target: list[str]) -> Conversion:
        """See `Interpreters.convert`."""
        found = await _run("convert", value=value, source=source, target=target)
        return Conversion(found["value"], tuple(found["units"]))

    async def select(self, text: str, expression: str) -> JsonSelection:
        """See `Interpreters.select`."""
        found = await _run("select", text, expression=expression)
        return JsonSelection(found["json"], tuple(found["columns"]), _rows(found["rows"]))

    async def matching_lines(self, text: str, pattern: str) -> list[int]:
        """See `Interpreters.matching_lines`."""
        return list(await _run("matching_lines", text, pattern=pattern))

    async def matches(self, text: str, pattern: str) -> Matches:
        """See `Interpreters.matches`."""
        found = await _run("matches", text, pattern=pattern)
        return Matches(tuple(found["columns"]), _rows(found["rows"]))


def _rows(rows: list[list[object]]) -> tuple[tuple[object, ...], ...]:
    return tuple(map(tuple, rows))


async def _run(job: str, text: str | None = None, **arguments: Any) -> Any:
    """Return what a job returns. Raises ToolError."""
    try:
        async with asker_process("bot.library.interpreters.expressions", _LIMITS) as process:
            if text is not None:
                data = text.encode("utf-8", "surrogatepass")
                await asyncio.to_thread(process.write, _TEXT, data)
            return await process.call(job, **arguments)
    except Refused as error:
        raise ToolError(str(error)) from None
    except TimeoutError:
        raise ToolError("This takes too long. Write it simpler, or ask for less.") from None
    except ProcessLost:
        raise ToolError("This needs too much memory. Write it simpler, or ask for less.") from None
