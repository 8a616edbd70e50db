"""Keeps large outputs out of the conversation: a preview and a handle instead (D7)."""

from __future__ import annotations

from dataclasses import replace

from bot.core.errors import ToolError
from bot.toolkit.artifacts import Artifact, Artifacts
from bot.toolkit.tool import Tool, ToolResult

_PREVIEW_SHARE = 0.05
_LEAST = 500
_HUGE = 1_000_000
_READING = "Page it with read_artifact, or search it with search_artifact."
_CUT = "\n[… the middle of long lines is not shown …]\n"
_CHARACTERS_PER_TOKEN = 4
_SHARE_OF_FREE_CONTEXT = 0.25


def allowed_size(ceiling: int, window: int, usage_ratio: float) -> int:
    """Characters one output may have: `ceiling`, or a quarter of what context is left.

    `window` in tokens (0: not known), counted as four characters each; never under 500, so that
    a handle and a little of a preview always fit.
    """
    if not window:
        return ceiling
    free = window * max(0.0, 1 - usage_ratio) * _CHARACTERS_PER_TOKEN
    return max(_LEAST, min(ceiling, int(free * _SHARE_OF_FREE_CONTEXT)))


def room_for_calls(ceiling: int, window: int, usage_ratio: float, calls: int) -> tuple[int, int]:
    """Return how many of `calls` in one turn may be run, and how many characters the output of each
    may have, so that all of them fit together and leave half of the free context to reason in."""
    each = allowed_size(ceiling, window, usage_ratio)
    if not window:
        return calls, each
    free = int(window * max(0.0, 1 - usage_ratio) * _CHARACTERS_PER_TOKEN)
    most = max(1, min(calls, free // 2 // _LEAST))
    return most, max(_LEAST, min(each, free // 2 // most))


async def limited(result: ToolResult, tool: Tool, allowed: int, artifacts: Artifacts) -> ToolResult:
    """`result` itself, or, when its content has more than `allowed` characters, a notice with its
    size, a 5 % preview, how to ask for less, and the handle of the whole. The notice, too, has at
    most `allowed` characters."""
    size = len(result.content)
    if size <= allowed:
        return result
    head = f"The output is too large: {size:,} characters, {allowed:,} are allowed.\n"
    handles = result.handles
    try:
        kept = await _kept(result.content, tool, artifacts)
    except ToolError as error:  # more than may be kept
        head += f"{error}\n{_how_to_narrow(tool)}\n"
    else:
        head += (
            f"All of it was saved: handle: {kept.handle} · {kept.rows:,} lines · {kept.size:,} bytes"
            f" · sha256 {kept.sha256[:16]}\n{_how_to_narrow(tool)}{_READING}\n"
        )
        handles = (*handles, kept.handle)
    shown = preview(result.content, min(int(size * _PREVIEW_SHARE), max(0, allowed - len(head))))
    return replace(result, content=head + shown, handles=handles)


async def _kept(content: str, tool: Tool, artifacts: Artifacts) -> Artifact:
    return await artifacts.save(
        content.encode("utf-8", "replace"),
        name=f"{tool.name} output.txt",
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


def _how_to_narrow(tool: Tool) -> str:
    return f"Ask for less with {', '.join(tool.narrowing)}. " if tool.narrowing else ""
