"""Size limits for tool outputs: for a large output the model gets a preview and a handle."""

from __future__ import annotations

import logging
import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.text.token_estimate import estimated_tokens
from bot.toolkit.provided.artifacts import Artifact, Artifacts

log = logging.getLogger(__name__)

_PREVIEW_SHARE = 0.05
_LEAST = 500
_HUGE = 1_000_000
_READING = "Page it with read_artifact, or search it with search_artifact."
_CUT = "\n[… the middle of long lines is not shown …]\n"
_CHARACTERS_PER_TOKEN = 4
_MOST_TOKENS = 2  # of a character
SAVED = "All of it was saved: handle: "
_HANDLE = re.compile(rf"^{SAVED}(\S+) · ", re.MULTILINE)
_SHOWN_PART = re.compile(r"handle: (\S+) · ")
"""Begins the output of a tool that shows a part of an artifact."""


@dataclass(frozen=True, slots=True)
class Room:
    """The size limit of one output in `characters` and `tokens` (0 means no token limit)."""

    characters: int
    tokens: int = 0

    def characters_of(self, text: str) -> int:
        """Return how many characters of a text like `text` fit.

        Fewer characters fit where each takes more tokens than usual, as in Chinese or in rows of
        numbers.
        """
        is_tight = 0 < self.tokens < len(text) * _MOST_TOKENS
        taken = estimated_tokens(text) if is_tight else 0
        if taken <= self.tokens:
            return self.characters
        return min(self.characters, len(text) * self.tokens // taken)

    def holds(self, text: str) -> bool:
        """Return whether `text` fits."""
        return len(text) <= self.characters_of(text)

    def left_after(self, text: str) -> Room:
        """Return the room that is left next to `text`, at least one character."""
        tokens = max(1, self.tokens - estimated_tokens(text)) if self.tokens else 0
        return Room(max(1, self.characters - len(text)), tokens)


def current_room() -> Room:
    """Return the room for the output of the current call. Raises LookupError outside a call."""
    context = current_request()
    return Room(context.max_response_size, context.max_response_tokens)


def room_for_calls(
    ceiling: int, window: int, usage_ratio: float, calls: int, reserved: int = 0
) -> tuple[int, Room]:
    """Return how many of `calls` in one turn may run, and the room for the output of each.

    Each output gets at most `ceiling` characters and a quarter of the free context; all outputs
    together leave half of the free context for reasoning. `window` is in tokens (0: unknown);
    `reserved` tokens of the half for outputs are needed for another purpose. The room is at least
    500 characters, so that a handle and a short preview always fit.
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
    text: str,
    room: Room,
    artifacts: Artifacts,
    *,
    name: str,
    narrowing: Sequence[str] = (),
    handles: Collection[str] = (),
) -> str:
    """Return `text` itself if it fits into `room`, or else save it and return a notice.

    The notice has the size of the text, a 5 % preview, the handle, and the arguments `narrowing`
    with which the tool `name` returns less; it fits into `room`. It has no handle if saving failed.
    A text that shows a part of one of `handles`, those of its call, is not saved again.
    """
    size, allowed = len(text), room.characters_of(text)
    if size <= allowed:
        return text
    head = f"The output is too large: {size:,} characters, {allowed:,} are allowed.\n"
    how = f"Ask for less with {', '.join(narrowing)}. " if narrowing else ""
    part_of = _SHOWN_PART.match(text)
    if part_of and part_of[1] in handles:
        head += f"{SAVED}{part_of[1]} · this output shows a part of it\n{how}{_READING}\n"
        return _noticed(head, text, room)
    try:
        kept = await _kept(text, name, artifacts)
    except ToolError as error:  # the text is larger than an artifact may be
        head += f"{error}\n{how}\n"
    except Exception:  # the call was made: a notice without a handle beats no output
        log.exception("an output was not saved", extra={"tool": name})
        head += f"It could not be saved now.\n{how}\n"
    else:
        head += (
            f"{SAVED}{kept.handle} · {kept.rows:,} lines · {kept.size:,} bytes"
            f" · sha256 {kept.sha256[:16]}\n{how}{_READING}\n"
        )
    return _noticed(head, text, room)


def _noticed(head: str, text: str, room: Room) -> str:
    """Return a notice with a preview of `text`."""
    left = room.left_after(head)
    most = min(int(len(text) * _PREVIEW_SHARE), left.characters_of(text))
    return shortened(head, room) + shortened(preview(text, most), left)


def shortened(text: str, room: Room) -> str:
    """Return `text`, or as much of its beginning and end as fits into `room`."""
    size = room.characters_of(text)
    while not room.holds(text):
        text, size = preview(text, size), size * 3 // 4
    return text


def saved_handle(text: str) -> str:
    """Return the handle in a notice made by `limited`, "" if there is none."""
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
    """Return whole first and last lines of `text` and the number of lines between them.

    The preview has at most `size` characters. If not even one line fits, it has the beginning and
    the end of the text.
    """
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
    """Return lines from the beginning of `text`, lines from its end, and the number of lines.

    All lines are in the first list unless splitting the text would take much memory.
    """
    reach = 2 * size + 2  # the preview can use at most this many characters of either end
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
