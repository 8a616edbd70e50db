"""What a request plainly needs, told from its words, files and place by code.

A tool declares what it works on (`offered_with`) and how people ask for what it does (`asked_as`).
Requests that bring the one or say the other carry the tool from the first model call on.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, get_args

from bot.core.ids import HANDLE

Input = Literal[
    "file", "message", "channel", "page", "thread", "table", "document", "output", "figure"
]
"""What tools work on: an attached or named file; a message, channel or web page that is named; the
messages of the thread above; a table, document or other output saved under a handle; a figure."""

INPUTS: tuple[Input, ...] = get_args(Input)
"""All of them: first those whose tools a question needs before the others."""

_TABLES = ("csv", "tsv", "xlsx", "xlsm", "parquet")
_CLIPS = ("m4a", "mp3", "mp4", "wav", "webm", "ogg", "mov")
_NAMED: dict[Input, re.Pattern[str]] = {
    "table": re.compile(rf"\.(?:{'|'.join(_TABLES)})\b", re.IGNORECASE),
    "file": re.compile(
        rf"\w\.(?:{'|'.join((*_TABLES, *_CLIPS))}|pdf|docx|txt|md|json|html?|eml|log)\b",
        re.IGNORECASE,
    ),
    "figure": re.compile(r"\d"),
    "channel": re.compile(r"(?<![\w/&#])#(?=[\w-]*[^\W\d_])[\w-]+"),
    "message": re.compile(r"https://[\w.-]+\.slack\.com/archives/"),
    "page": re.compile(r"https?://(?![\w.-]+\.slack\.com/archives/)"),
}
_SAVED: dict[str, Input] = {"tbl": "table", "doc": "document", "out": "output", "mcp": "output"}
_MOST = 4_000  # characters of a text that are looked at


def inputs_of(text: str, files: Iterable[str] = (), *, in_thread: bool = False) -> frozenset[Input]:
    """Return what a text and the names of its files bring; `in_thread` with messages above them."""
    words = " ".join((text[:_MOST], *files))
    named = (kind for kind, pattern in _NAMED.items() if pattern.search(words))
    found = {*named, *saved_inputs(HANDLE.findall(words))}
    return frozenset(found | {"thread"} if in_thread else found)


def saved_inputs(handles: Iterable[str]) -> frozenset[Input]:
    """Return what the artifacts of these handles are, as far as tools are offered for it."""
    kinds = (_SAVED.get(handle.partition("_")[0]) for handle in handles)
    return frozenset(kind for kind in kinds if kind)


def asks_for(text: str, phrases: Iterable[re.Pattern[str]]) -> bool:
    """Return whether a person's words hold one of the phrases."""
    return any(phrase.search(text[:_MOST]) for phrase in phrases)
