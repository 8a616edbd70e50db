"""What is piped into `bot ask`, as a file that goes with the question."""

from __future__ import annotations

import csv
import os
import select
import sys
import time

from bot.core.errors import ConfigurationError

DASH = "-"
_MOST_BYTES = 50_000_000  # as tools read of a file
MOST_SILENCE, _MOST_SECONDS = 60.0, 600.0
FIRST_SECONDS = 5.0  # in which something has to come, unless stdin was asked for
_PART = 1_000_000
_LOOKED_AT = 50_000
_FEWEST_ROWS = 2
_ENDINGS = {b"\x89PNG": ".png", b"\xff\xd8\xff": ".jpg", b"GIF8": ".gif", b"%PDF-": ".pdf"}


def read_stdin(*, is_asked_for: bool) -> bytes:
    """Return all of stdin, b"" for a terminal, where nothing comes, and if it is closed.

    Without `--file -` a stdin that stays silent is left alone, and stderr says so: who started this command
    may have left it open.

    Raises ConfigurationError where it is asked for and holds nothing, is too large, or does not end.
    """
    is_piped = sys.stdin is not None and not sys.stdin.isatty()  # None if it is closed
    if is_piped and not is_asked_for and not _comes(sys.stdin.fileno(), FIRST_SECONDS):
        sys.stderr.write(
            f"bot: nothing came from stdin for {FIRST_SECONDS:.0f} s, so it is not read. "
            "`--file -` waits for it.\n"
        )
        return b""
    data = _read_to_end(sys.stdin.fileno()) if is_piped else b""
    if is_asked_for and not data:
        raise ConfigurationError(
            "--file -: nothing comes from stdin; pipe a file into this command."
        )
    return data


def _comes(descriptor: int, seconds: float) -> bool:
    """Return whether there is something to read, or the end, within these seconds."""
    return bool(select.select([descriptor], [], [], seconds)[0])


def _read_to_end(descriptor: int) -> bytes:
    data, deadline = bytearray(), time.monotonic() + _MOST_SECONDS
    while True:
        seconds = min(MOST_SILENCE, deadline - time.monotonic())
        if seconds <= 0 or not _comes(descriptor, seconds):
            raise ConfigurationError(
                f"stdin does not end ({len(data):,} bytes came): end what writes to it, or add "
                "`< /dev/null` to ask without it."
            )
        part = os.read(descriptor, _PART)
        if not part:
            return bytes(data)
        data += part
        if len(data) > _MOST_BYTES:
            raise ConfigurationError(
                f"stdin is larger than {_MOST_BYTES / 1e6:.0f} MB, the most that can be read of a file."
            )


def file_name(data: bytes) -> str:
    """Return a name for a file without one, whose ending says how to read it."""
    beginning = (ending for magic, ending in _ENDINGS.items() if data.startswith(magic))
    if ending := next(beginning, ""):
        return f"stdin{ending}"
    if b"\x00" in data[:_LOOKED_AT]:
        return "stdin"  # its bytes say what it is, if it can be read
    text = data[:_LOOKED_AT].decode("utf-8", "ignore").lstrip("\ufeff \r\n\t")
    if text.startswith(("{", "[")):
        return "stdin.json"
    if text[:20].lower().startswith(("<!doctype html", "<html")):
        return "stdin.html"
    return "stdin.csv" if _is_table(text) else "stdin.txt"


def _is_table(text: str) -> bool:
    """Return whether all whole lines have as many cells, and more than one."""
    lines = text.splitlines()[: -1 if len(text) > _LOOKED_AT / 2 else None]
    for delimiter in ",;\t":
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
        if len(widths) >= _FEWEST_ROWS and set(widths) == {max(widths)} and widths[0] > 1:
            return True
    return False
