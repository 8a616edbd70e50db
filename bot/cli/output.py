"""Output of the commands on stdout and stderr.

Much of it was written by people, models and tool servers, and must not move the cursor, change
colours or forge lines. So commands print only with these functions.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from bot.settings import Settings


def write(stream: TextIO, text: str) -> None:
    """Write `text`, and nothing from now on if nobody reads it any more, as after `| head`.

    Ends the command with a line if it cannot be written, as on a full disk.
    """
    try:
        stream.write(text)
        stream.flush()
    except BrokenPipeError:
        discard(stream)
    except OSError as error:
        discard(stream)
        sys.exit(f"bot: the output cannot be written: {error.strerror}.")


def discard(stream: TextIO) -> None:
    """Let `stream` lead nowhere: what it still holds would fail again at the end of the process."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def print_lines(lines: Iterable[str], *, to_stderr: bool = False) -> None:
    """Print each of `lines` as exactly one line."""
    from bot.text.invisible_text import escaped  # loads what help does not need

    for line in lines:
        write(sys.stderr if to_stderr else sys.stdout, f"{escaped(line)}\n")


def say_left_out(settings: Settings) -> None:
    """Say which MCP servers are left out in a place where nobody has an account."""
    if names := sorted(settings.personal_servers):
        line = f"Only in Slack, where people have accounts: {', '.join(names)}"
        print_lines([line], to_stderr=True)


def print_json(text: str) -> None:
    """Print JSON `text` with control characters escaped, which does not change its value."""
    from bot.text.invisible_text import escaped_json

    write(sys.stdout, f"{escaped_json(text)}\n")
