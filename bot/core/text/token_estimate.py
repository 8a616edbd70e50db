"""An estimate of how many tokens a text takes, for when no tokenizer of the model is at hand."""

from __future__ import annotations

import string

_LETTERS = (string.ascii_letters + string.whitespace).encode()
_DIGITS = string.digits.encode()
_WIDE = bytes(range(0x80, 0x100))


def estimated_tokens(text: str) -> int:
    """Return about how many tokens `text` takes, rather too many than too few: four letters to a
    token, two digits, one and a half signs, and three bytes of every other script (a Chinese
    character is one token, an emoji one and a third)."""
    data = text.encode("utf-8", "surrogatepass")
    letters = len(data) - len(data.translate(None, _LETTERS))
    digits = len(data) - len(data.translate(None, _DIGITS))
    wide = 0 if text.isascii() else len(data) - len(data.translate(None, _WIDE))
    signs = len(data) - letters - digits - wide
    return -(-letters // 4) + -(-digits // 2) + -(-signs * 2 // 3) + -(-wide // 3)
