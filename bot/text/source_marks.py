"""Marks in an answer that name its sources by number: `It ends in June [1], with notice [2, 3].`"""

from __future__ import annotations

import re
from collections.abc import Callable

from bot.text.code_blocks import FENCED, SPAN

_MARK = re.compile(r"(?<!\\)[ \xa0]?\[(\d{1,2}(?:\s?,\s?\d{1,2}){0,9})\](?!\()")
_CODE = re.compile(f"({FENCED}|{SPAN})", re.DOTALL | re.MULTILINE)


def marks_rewritten(text: str, sources: int, write: Callable[[int], str]) -> str:
    """Return a Markdown text with each mark as `write` says it, which gets the number of a source.

    A number beyond `sources` names nothing and goes. Text in code, and that of an answer without
    sources, stays as it is.
    """

    def rewritten(match: re.Match[str]) -> str:
        numbers = [int(number) for number in match[1].split(",")]
        marks = "".join(write(number) for number in numbers if 0 < number <= sources)
        return f"{' ' if match[0][0] != '[' else ''}{marks}" if marks else ""

    if not sources:
        return text
    parts = _CODE.split(text)
    return "".join(part if at % 2 else _MARK.sub(rewritten, part) for at, part in enumerate(parts))
