"""Keeps large outputs out of the conversation: a preview and a handle instead."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.text.token_estimate import estimated_tokens
from bot.toolkit.artifacts import Artifact, Artifacts

log = logging.getLogger(__name__)

_PREVIEW_SHARE = 0.05
_LEAST = 500
_HUGE = 1_000_000
_READING = "Page it with read_artifact, or search it with search_artifact."
_CUT = "\n[… the middle of long lines is not shown …]\n"
_CHARACTERS_PER_TOKEN = 4
SAVED = "All of it was saved: handle: "
_HANDLE = re.compile(rf"^{SAVED}(\S+) · ", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Room:
    """What one output may take: so many `characters`, and so many `tokens` (0: not bounded)."""

    characters: int
    tokens: int = 0

    def characters_of(self, text: str) -> int:
        """Return how many characters of a text like `text` fit: fewer where more of its characters
        than usual are a token of their own, as in Chinese or in rows of numbers."""
        taken = estimated_tokens(text) if self.tokens else 0
        if taken <= self.tokens:
            return self.characters
        return min(self.characters, len(text) * self.tokens // taken)

    def holds(self, text: str) -> bool:
        """Return whether `text` fits."""
        return len(text) <= self.characters_of(text)

    def beside(self, text: str) -> Room:
        """Return what is left beside `text`, at least a little."""
        tokens = max(1, self.tokens - estimated_tokens(text)) if self.tokens else 0
        return Room(max(1, self.characters - len(text)), tokens)


def current_room() -> Room:
    """Return what the output of the call in progress may take. Raises LookupError outside a call."""
    context = current_request()
    return Room(context.max_response_size, context.max_response_tokens)


def room_for_calls(
    ceiling: int, window: int, usage_ratio: float, calls: int, reserved: int = 0
) -> tuple[int, Room]:
    """Return how many of `calls` in one turn may be run, and the room for the output of each: at most
    `ceiling` characters and a quarter of the free context, and so little that all of them together
    leave half of it to reason in.

    `window` in tokens (0: not known); `reserved` tokens of the half for outputs have another use. The room
    is never under 500 characters, so that a handle and a little of a preview always fit.
    """
    if not window:
        return calls, Room(ceiling)
    least = _LEAST // _CHARACTERS_PER_TOKEN
    free = int(window * max(0.0, 1 - usage_ratio))
    half = free // 2 - reserved
    most = max(1, min(calls, half // least))
    tokens = max(least, min(free // 4, half // most))
    return most, Room(max(_LEAST, min(ceiling, tokens * _CHARACTERS_PER_TOKEN)), tokens)


async def limited(
    text: str, room: Room, artifacts: Artifacts, *, name: str, narrowing: Sequence[str] = ()
) -> str:
    """Return `text` itself, or, when it has no room, a notice with its size, a 5 % preview, how to
    ask the tool `name` for less with its arguments `narrowing`, and the handle of the whole. The
    notice, too, has room. What cannot be saved is previewed without a handle."""
    size, allowed = len(text), room.characters_of(text)
    if size <= allowed:
        return text
    head = f"The output is too large: {size:,} characters, {allowed:,} are allowed.\n"
    how = f"Ask for less with {', '.join(narrowing)}. " if narrowing else ""
    try:
        kept = await _kept(text, name, artifacts)
    except ToolError as error:  # more than may be kept
        head += f"{error}\n{how}\n"
    except Exception:  # a notice without a handle is better than no output of a call that was made
        log.exception("an output was not saved", extra={"tool": name})
        head += f"It could not be saved now.\n{how}\n"
    else:
        head += (
            f"{SAVED}{kept.handle} · {kept.rows:,} lines · {kept.size:,} bytes"
            f" · sha256 {kept.sha256[:16]}\n{how}{_READING}\n"
        )
    left = room.beside(head)
    most = min(int(size * _PREVIEW_SHARE), left.characters_of(text))
    return shortened(head, room) + shortened(preview(text, most), left)


def shortened(text: str, room: Room) -> str:
    """Return `text`, or as much of its beginning and end as has room."""
    size = room.characters_of(text)
    while not room.holds(text):
        text, size = preview(text, size), size * 3 // 4
    return text


def saved_handle(text: str) -> str:
    """Return the handle under which the whole of a limited output was saved, "" without one."""
    found = _HANDLE.search(text)
    return found[1] if found else ""


async def _kept(content: str, tool: str, artifacts: Artifacts) -> Artifact:
    return await artifacts.save(
        content.encode("utf-8", "replace"),
        name=f"{tool} output.txt",
        media_type="text/plain",
        prefix="out",
        rows=content.count("\n") + 1,
    )


def preview(text: str, size: int) -> str:
    """The first and last lines of `text`, whole, at most `size` characters with what is said of
    those between; of lines too long for that, the beginning and the end."""
    first, last, total = _ends(text, size)
    room = (size - len(_hidden(total))) // 2
    head = _take(first, room)
    tail = _take(last[::-1] if last else first[len(head) :][::-1], room)[::-1]
    hidden = total - len(head) - len(tail)
    if head or tail:
        return "\n".join([*head, *([_hidden(hidden)] if hidden else []), *tail])
    half = max(0, size - len(_CUT)) // 2
    return f"{text[:half]}{_CUT}{text[len(text) - half :]}" if half else ""


def _ends(text: str, size: int) -> tuple[list[str], list[str], int]:
    """Lines from the beginning of `text`, from its end, and how many it has; all of them at the
    beginning, unless that would take much memory."""
    reach = 2 * size + 2  # of each line at least half counts
    if len(text) <= max(_HUGE, 2 * reach):
        lines = text.splitlines()
        return lines, [], len(lines)
    total = text.rstrip("\n").count("\n") + 1
    return text[:reach].splitlines()[:-1], text[-reach:].splitlines()[1:], total


def _hidden(lines: int) -> str:
    return f"[… {lines:,} lines not shown …]"


def _take(lines: list[str], size: int) -> list[str]:
    taken: list[str] = []
    for line in lines:
        size -= len(line) + 1
        if size < 0:
            break
        taken.append(line)
    return taken
