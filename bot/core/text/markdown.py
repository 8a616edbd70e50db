"""Markdown as a model means it: CommonMark with tables and ~~struck out~~ words, in which 2*3*4 is a
product and emphasises nothing."""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

MAX_NESTING = 40

_EMPHASIS = {"em_open", "em_close", "strong_open", "strong_close"}
_TEXT = {"text", "text_special"}
_IN_WORD = re.compile(r"[0-9A-Za-z]")  # other scripts emphasise without spaces around


def parser() -> MarkdownIt:
    """Takes HTML as text, and leaves out what is nested deeper than twice `MAX_NESTING`."""
    made = MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MAX_NESTING})
    made.enable(["table", "strikethrough"])
    made.core.ruler.before("text_join", "signs", _keep_signs)
    return made


def _keep_signs(state: StateCore) -> None:
    """Turn marks that are signs into text again."""
    for block in state.tokens:
        tokens = block.children or []
        opened: list[int] = []
        for at, token in enumerate(tokens):
            if token.type not in _EMPHASIS:
                continue
            if token.nesting == 1:
                opened.append(at)
                continue
            start = opened.pop()
            before, after = tokens[:start][-1:], tokens[at + 1 : at + 2]
            if _are_signs(token, _text(before)[-1:], _text(after)[:1]):
                _as_text(tokens[start])
                _as_text(token)


def _are_signs(token: Token, before: str, after: str) -> bool:
    """One asterisk that touches a word, as in 2*3*4; two only beside a digit, as in x**2 + y**2: a
    part of a word is made bold at times."""
    inside = [_IN_WORD.match(side) is not None for side in (before, after)]
    if token.type == "em_close":
        return any(inside)
    return all(inside) and (before + after).strip("0123456789") != before + after


def _text(tokens: list[Token]) -> str:
    return "".join(each.content for each in tokens if each.type in _TEXT)


def _as_text(token: Token) -> None:
    token.type, token.tag, token.nesting, token.content = "text", "", 0, token.markup
