"""Titles of tool calls: the line that people read while a call runs."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from pydantic import BaseModel

from bot.core.ids import HANDLE
from bot.text.translation import Text, translated

log = logging.getLogger(__name__)

_MAX_TITLE = 80
_KINDS = {
    "tbl": Text("the table"),
    "doc": Text("the document"),
    "img": Text("the image"),
    "chart": Text("the chart"),
    "file": Text("the file"),
}
_RESULT = Text("the result")


class _Unsaid(BaseModel):
    """Arguments of no call in particular: each is an ellipsis."""

    def __getattr__(self, name: str) -> str:
        return "…"


UNSAID = _Unsaid()
"""The arguments with which a title says what a tool does, without a call."""


class _Values(dict[str, object]):
    """The values of arguments by their names."""

    def __init__(self, arguments: BaseModel) -> None:
        self._arguments = arguments

    def __missing__(self, name: str) -> object:
        return getattr(self._arguments, name)


def title_function(name: str, title: str | Callable[[Any], str]) -> Callable[[BaseModel], str]:
    """Return a function that makes the title of a call of `name` from its arguments, or from `UNSAID`.

    The returned function never raises.
    """
    plain = name.replace("_", " ").capitalize()
    pattern = title or plain

    def make(arguments: BaseModel) -> str:
        try:
            if callable(pattern):
                return _one_line(pattern(arguments))
            return _one_line(translated(pattern).format_map(_Values(arguments)))
        except Exception:  # a bug in the tool, but only in its title: the call itself goes on
            if arguments is not UNSAID:
                log.exception("a title could not be made", extra={"tool": name})
            return plain

    return make


def _one_line(title: str) -> str:
    """Return `title` on one line of at most 80 characters, cut between words with an ellipsis.

    Handles are replaced by the kind of artifact that they name.
    """
    named = HANDLE.sub(lambda found: _KINDS.get(found[0].partition("_")[0], _RESULT)(), title)
    flat = " ".join(named.split())
    if len(flat) <= _MAX_TITLE:
        return flat
    cut = flat[: _MAX_TITLE - 1]
    whole, _, part = cut.rpartition(" ")
    return f"{(whole if len(part) < _MAX_TITLE // 2 else cut).rstrip(' ,;:')}…"
