"""Round axis ticks and short numbers for charts."""

import math
from collections.abc import Sequence

_LETTER, _GAP = 7, 14  # pixels
_SHORTEST = 8  # letters of a name that is cut


def ticks(low: float, high: float, target: int = 5) -> list[float]:
    """Return about `target` round values from at or below `low` to at or above `high`.

    The step is 1, 2, 2.5 or 5 times a power of ten; the range always includes zero.
    """
    low, high = min(low, 0.0), max(high, 0.0)
    if high - low < 1e-12:
        high = low + 1
    rough = (high - low) / target
    power = 10.0 ** math.floor(math.log10(rough))
    step = next(m * power for m in (1, 2, 2.5, 5, 10) if m * power >= rough * 0.999)
    first, last = math.floor(low / step + 1e-9), math.ceil(high / step - 1e-9)
    return [n * step for n in range(first, last + 1)]


def short(value: float) -> str:
    """Return a number for an axis: 1,200, 15k, 2.5M."""
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if suffix == "k" else size
            return f"{_trim(value / unit)}{suffix}"
    return _trim(value)


def full(value: float | None, *, fractions: bool = False) -> str:
    """Return a number for a table or tooltip; `fractions` gives whole numbers two decimals too."""
    if value is None:
        return "–"
    if value == round(value):
        return f"{value:,.{2 if fractions else 0}f}"
    return f"{value:,.4g}" if abs(value) < 1 else f"{value:,.2f}"


def labelled(categories: Sequence[str], width: float) -> list[tuple[int, str]]:
    """Return the (index, label) of categories that fit side by side in `width` pixels.

    Long names are cut; where even that is too wide, only every nth category has a label.
    """
    letters = int((width / max(len(categories), 1) - _GAP) // _LETTER)
    shown = [_cut(name, max(letters, _SHORTEST)) for name in categories]
    widest = max(map(len, shown), default=0) * _LETTER + _GAP
    every = max(1, math.ceil(widest * len(shown) / width))
    return list(enumerate(shown))[::every]


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1]}…"


def _trim(value: float) -> str:
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
