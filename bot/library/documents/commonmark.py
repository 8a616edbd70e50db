"""A Markdown parser for model output: CommonMark with tables and ~~strikethrough~~.

Unlike in CommonMark, 2*3*4 is a product and not emphasis.
"""

from __future__ import annotations

import re

from markdown_it import MarkdownIt
from markdown_it.rules_core import StateCore
from markdown_it.token import Token

MAX_NESTING = 40

_EMPHASIS = {"em_open", "em_close", "strong_open", "strong_close"}
_TEXT = {"text", "text_special"}
_IN_WORD = re.compile(r"[0-9A-Za-z]")  # other scripts have no spaces around emphasised words


def parser() -> MarkdownIt:
    """Return a parser that treats HTML as text and drops text nested deeper than 2 × `MAX_NESTING`."""
    markdown = MarkdownIt("commonmark", {"html": False, "maxNesting": 2 * MAX_NESTING})
    markdown.enable(["table", "strikethrough"])
    markdown.core.ruler.before("text_join", "signs", _restore_asterisks)
    return markdown


def _restore_asterisks(state: StateCore) -> None:
    """Turn emphasis marks that are arithmetic back into text."""
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
            if _is_arithmetic(token, _text(before)[-1:], _text(after)[:1]):
                _turn_into_text(tokens[start])
                _turn_into_text(token)


def _is_arithmetic(token: Token, before: str, after: str) -> bool:
    """Return whether emphasis that ends with `token` is arithmetic, by the characters around it."""
    # One asterisk that touches a word, as in 2*3*4. Two asterisks count only beside a digit, as in
    # x**2 + y**2, because models sometimes make part of a word bold.
    inside = [_IN_WORD.match(side) is not None for side in (before, after)]
    if token.type == "em_close":
        return any(inside)
    return all(inside) and (before + after).strip("0123456789") != before + after


def _text(tokens: list[Token]) -> str:
    return "".join(each.content for each in tokens if each.type in _TEXT)


def _turn_into_text(token: Token) -> None:
    token.type, token.tag, token.nesting, token.content = "text", "", 0, token.markup
