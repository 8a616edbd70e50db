"""A token estimate for models without a known tokenizer."""

from __future__ import annotations

import string

_LETTERS = (string.ascii_letters + string.whitespace).encode()
_DIGITS = string.digits.encode()
_WIDE = bytes(range(0x80, 0x100))


def estimated_tokens(text: str) -> int:
    """Return an estimate of the tokens in `text`, rather too high than too low.

    One token is four Latin letters, two digits, one and a half signs, or three UTF-8 bytes of any
    other script: a Chinese character is one token, an emoji one and a third.
    """
    data = text.encode("utf-8", "surrogatepass")
    letters = len(data) - len(data.translate(None, _LETTERS))
    digits = len(data) - len(data.translate(None, _DIGITS))
    wide = 0 if text.isascii() else len(data) - len(data.translate(None, _WIDE))
    signs = len(data) - letters - digits - wide
    return -(-letters // 4) + -(-digits // 2) + -(-signs * 2 // 3) + -(-wide // 3)
