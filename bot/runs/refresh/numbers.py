"""Numbers as an answer writes them, and a new value in the same notation."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass

_SPACES = "\u00a0\u202f\u2009 "
_NUMBER = re.compile(
    rf"[-−+]?(?:\d{{1,3}}(?P<group>[,.'’{_SPACES}])\d{{3}}(?!\d)(?:(?P=group)\d{{3}}(?!\d))*"
    r"|\d{1,2}(?:,\d{2})+,\d{3}(?!\d)|\d+)(?:[.,]\d+)?(?:[eE][-+]?\d+)?"
)
_SCALES = (1.0, 1e3, 1e6, 1e9, 1e5, 1e7, 0.01, 100.0)
"""Values of "1.2" in 1.2, 1.2k, 1.2 million, 1.2 billion, lakh, crore; of a percentage; of a
share."""
_ROUNDING = 1.0001  # of the last written digit: half of it, or all of it where it was cut off


@dataclass(frozen=True, slots=True)
class Written:
    """One reading of a written number: its value, its decimals, and its marks."""

    value: float
    decimals: int
    mark: str
    group: str


def numbers(text: str) -> list[re.Match[str]]:
    """Return the numbers in a text, in order."""
    return list(_NUMBER.finditer(text))


def value_of(text: str) -> float | None:
    """Return the value of a text that is one number as tools write it; None for other texts."""
    plain = text.strip().replace("−", "-")
    try:
        value = float(plain.replace(",", "") if re.fullmatch(r"-?[\d,]+(\.\d+)?", plain) else plain)
    except ValueError:
        return None
    return value if math.isfinite(value) and any(map(str.isdigit, plain)) else None


def readings(text: str) -> Iterator[Written]:
    """Yield what a written number may mean: thousands before decimals."""
    bare = text.strip("+-−").replace("−", "-")
    group = next((each for each in f"'’{_SPACES}" if each in bare), "")
    bare = bare.replace(group, "") if group else bare
    marks = [each for each in bare if each in ".,"]
    if not marks:
        yield Written(float(bare), 0, "." if group != "." else ",", group)
        return
    last = marks[-1]
    head, _, tail = bare.rpartition(last)
    if marks.count(last) > 1 or (len(set(marks)) == 1 and len(tail) == 3 and not group):
        digits = re.sub(r"[.,]", "", bare)
        yield Written(float(digits), 0, "," if last == "." else ".", last)
    if marks.count(last) == 1 and tail.isdecimal():
        digits = re.sub(r"[.,]", "", head)
        other = next((each for each in marks if each != last), group)
        yield Written(float(f"{digits or '0'}.{tail}"), len(tail), last, other)


def written_as(shown: str, old: float) -> tuple[re.Match[str], Written, float] | None:
    """Return the number in `shown` that stands for the value `old`, with its reading and its scale.

    `shown` may be rounded, scaled ("1.2k"), or a percentage of a share. None if no number fits.
    """
    for found in numbers(shown):
        for reading in readings(found[0]):
            step = 10.0**-reading.decimals
            for scale in _SCALES:
                if abs(reading.value * scale - abs(old)) <= step * scale * _ROUNDING / 2 or (
                    scale > 1 and 0 <= abs(old) - reading.value * scale < step * scale
                ):
                    return found, reading, scale
    return None


def rewritten(shown: str, old: float, new: float) -> str | None:
    """Return `shown`, which stands for `old`, with the value `new` in the same notation.

    None if `shown` does not stand for `old`.
    """
    place = written_as(shown, old)
    if place is None:
        return None
    found, reading, scale = place
    text = f"{abs(new) / scale:,.{reading.decimals}f}"
    marks = {",": reading.group, ".": reading.mark}
    text = "".join(marks.get(each, each) for each in text)
    had_sign = found[0][0] in "-−+"
    sign = "−" if new < 0 else ""
    if had_sign and new >= 0 and found[0][0] == "+":
        sign = "+"
    if old < 0 and not had_sign:  # "fell by 12": the words have the sign
        sign = "" if new < 0 else "−"
    return shown[: found.start()] + sign + text + shown[found.end() :]
