"""Keeps large outputs out of the conversation: a preview and a handle instead (D7)."""

from __future__ import annotations

from bot.toolkit.artifacts import Artifacts
from bot.toolkit.tool import Tool, ToolResult

_PREVIEW_SHARE = 0.05
_LEAST = 500
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


async def limited(result: ToolResult, tool: Tool, allowed: int, artifacts: Artifacts) -> ToolResult:
    """`result` itself, or, when its content has more than `allowed` characters, a notice with its
    size, a 5 % preview, how to ask for less, and the handle of the whole. The notice, too, has at
    most `allowed` characters."""
    if len(result.content) <= allowed:
        return result
    data = result.content.encode("utf-8", "replace")
    kept = await artifacts.save(
        data,
        name=f"{tool.name} output.txt",
        media_type="text/plain",
        prefix="out",
        rows=result.content.count("\n") + 1,
    )
    head = (
        f"The output is too large: {len(result.content):,} characters, {allowed:,} are allowed.\n"
        f"All of it was saved: handle: {kept.handle} · {kept.rows:,} lines · {kept.size:,} bytes · "
        f"sha256 {kept.sha256[:16]}\n{_how_to_narrow(tool)}\n"
    )
    size = min(int(len(result.content) * _PREVIEW_SHARE), max(0, allowed - len(head)))
    notice = head + preview(result.content, size)
    return ToolResult(notice, result.sources, (*result.handles, kept.handle))


def preview(text: str, size: int) -> str:
    """The first and last lines of `text`, whole, at most `size` characters with what is said of
    those between; of lines too long for that, the beginning and the end."""
    lines = text.splitlines()
    room = (size - len(_hidden(len(lines)))) // 2
    head = _take(lines, room)
    tail = _take(lines[len(head) :][::-1], room)[::-1]
    hidden = len(lines) - len(head) - len(tail)
    if head or tail:
        return "\n".join([*head, *([_hidden(hidden)] if hidden else []), *tail])
    half = max(0, size - len(_CUT)) // 2
    return f"{text[:half]}{_CUT}{text[len(text) - half :]}" if half else ""


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
    reading = "Page it with read_artifact, or search it with search_artifact."
    if not tool.narrowing:
        return reading
    return f"Ask for less with {', '.join(tool.narrowing)}. {reading}"
