"""Output of the commands on stdout and stderr.

Much of it was written by people, models and tool servers, and must not move the cursor, change
colours or forge lines. So commands print only with these functions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bot.settings import Settings


def print_lines(lines: Iterable[str], *, to_stderr: bool = False) -> None:
    """Print each of `lines` as exactly one line."""
    from bot.text.invisible_text import escaped  # loads what help does not need

    for line in lines:
        print(escaped(line), file=sys.stderr if to_stderr else sys.stdout, flush=True)


def say_left_out(settings: Settings) -> None:
    """Say which MCP servers are left out in a place where nobody has an account."""
    if names := sorted(settings.personal_servers):
        line = f"Only in Slack, where people have accounts: {', '.join(names)}"
        print_lines([line], to_stderr=True)


def print_json(text: str) -> None:
    """Print JSON `text` with control characters escaped, which does not change its value."""
    from bot.text.invisible_text import escaped_json

    print(escaped_json(text))
