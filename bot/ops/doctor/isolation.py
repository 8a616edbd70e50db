"""Check of isolated processes: what this machine's kernel does not refuse them."""

from __future__ import annotations

from bot.core.check import Check, ok, warning
from bot.core.errors import ToolError
from bot.library.isolated import ProcessLost
from bot.library.isolated.confinement import missing
from bot.library.isolated.proof import open_ways

_SUBJECT = "isolated processes"


_FIX = (
    "run the bot on Linux 6.12 or later (x86_64 or aarch64) with Landlock, or trust what it reads"
)


async def examine_isolation() -> list[Check]:
    """Have one try what it must not do, and name what is missing here."""
    try:
        return [open_line(missing(), await open_ways())]
    except (ToolError, ProcessLost, TimeoutError) as error:
        return [warning(_SUBJECT, f"cannot be tried: {str(error) or 'it does not answer'}", _FIX)]


def open_line(lacking: list[str], ways: list[str]) -> Check:
    """Return the line for what this machine lacks, and what a process can do because of that."""
    if not ways:
        return ok(_SUBJECT, "reach nothing outside their folder")
    why = "; ".join(lacking) or "this kernel refuses less than it should"
    return warning(_SUBJECT, f"{why}: one that a file took over can {', '.join(ways)}", _FIX)
