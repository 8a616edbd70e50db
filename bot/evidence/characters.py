"""Characters: one form for digits, spaces, signs and quotation marks, so that rules are simple."""

from __future__ import annotations

import unicodedata

NBSP = "\u00a0"
_SPACES = "\u00a0\u2007\u2008\u2009\u202f"
_HYPHENS = "\u2010\u2011\u2212\ufe63"
_QUOTES = '“”„‟«»‹›「」『』"‘‚'
_APOSTROPHES = "’ʼ‘＇"
_WIDE = range(0xFF01, 0xFF5F)
_DIGITS = "٠۰०"  # zero in the Arabic, Persian and Devanagari scripts

_PLAIN = {
    **{code: code - 0xFEE0 for code in _WIDE},
    **{ord(zero) + n: ord("0") + n for zero in _DIGITS for n in range(10)},
    **dict.fromkeys(map(ord, _SPACES), ord(NBSP)),
    **dict.fromkeys(map(ord, _HYPHENS), ord("-")),
    **dict.fromkeys(map(ord, _APOSTROPHES), ord("'")),
    ord("٫"): ord("."),
    ord("٬"): ord(","),
    0x3000: ord(" "),
}
_FOLDED = {
    **dict.fromkeys(map(ord, _QUOTES + "*`'’"), None),
    ord("_"): " ",
    **dict.fromkeys(map(ord, "–—‒"), ord("-")),
    ord("…"): "...",
}


def plain(text: str) -> str:
    """Return `text`, of the same length, with ASCII digits, signs and apostrophes, and one kind of
    unbreakable space."""
    return text if text.isascii() else text.translate(_PLAIN)


def folded(text: str) -> str:
    """Return `text` for comparing words: no case, quotation marks, emphasis or extra spaces."""
    if not text.isascii():
        text = unicodedata.normalize("NFKC", text)
    return " ".join(text.translate(_FOLDED).casefold().split())
