"""Standard output and standard error of the commands. Much of what they print was written by
others: people, models, tool servers. None of it may move the cursor, change colours or forge lines,
so commands print with these functions and no others."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from bot.core.text.invisible_text import escaped, escaped_json


def print_lines(lines: Iterable[str], *, to_stderr: bool = False) -> None:
    """Print each of `lines` as exactly one line."""
    for line in lines:
        print(escaped(line), file=sys.stderr if to_stderr else sys.stdout, flush=True)


def print_json(text: str) -> None:
    """Print JSON `text`, of one line or several; it means what it meant."""
    print(escaped_json(text))
