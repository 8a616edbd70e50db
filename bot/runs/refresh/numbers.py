"""A new value in the notation in which an answer wrote the old one."""

from __future__ import annotations

import re
from math import log10

from bot.evidence.characters import plain
from bot.evidence.notations import DIGITS, readings

_NUMBER = re.compile(rf"[-+]?({DIGITS})")
_SCALES = (1.0, 1e3, 1e6, 1e9, 1e5, 1e7, 0.01, 100.0)
"""Values of "1.2" in 1.2, 1.2k, 1.2 million, 1.2 billion, lakh, crore; of a percentage; of a
share."""
_ROUNDING = 1.0001  # of the last written digit: half of it, or all of it where it was cut off


def rewritten(shown: str, old: float, new: float) -> str | None:
    """Return `shown`, which stands for `old`, with the value `new` in the same notation.

    `shown` may be rounded, scaled ("1.2k"), or a percentage of a share. None if no number in it
    stands for `old`.
    """
    for found in _NUMBER.finditer(plain(shown)):
        for reading in readings(found[1]):
            for scale in _SCALES:
                over, step = abs(old) - reading.value * scale, reading.step * scale
                if abs(over) <= step * _ROUNDING / 2 or (scale > 1 and 0 <= over < step):
                    digits = shown[found.start(1) : found.end(1)]
                    text = _sign(found[0][0], old, new) + _written(
                        digits, reading.step, new / scale
                    )
                    return shown[: found.start()] + text + shown[found.end() :]
    return None


def _sign(first: str, old: float, new: float) -> str:
    """Return the sign of the new value; `first` is the first character of the number before."""
    if old < 0 and first not in "+-":  # "fell by 12": the words have the sign
        return "" if new < 0 else "−"
    if new < 0:
        return "−"
    return "+" if first == "+" else ""


def _written(digits: str, step: float, value: float) -> str:
    """Return a value without its sign, with the decimals and marks of `digits`."""
    decimals = round(-log10(step))
    marks = [each for each in digits if not each.isdecimal()]
    point = marks.pop() if decimals and marks else ""
    group = marks[0] if marks else ""
    if not point:
        point = "," if group == "." else "."
    return f"{abs(value):,.{decimals}f}".translate({ord(","): group, ord("."): point})
