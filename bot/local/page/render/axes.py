"""Round axis ticks and short numbers for charts."""

import math
from collections.abc import Sequence

_LETTER, _GAP = 7, 14  # pixels
_FEWEST, _MOST = 8, 14  # letters of a name that is cut


def ticks(low: float, high: float, target: int = 5) -> list[float]:
    """Round values from at or below `low` to at or above `high`, about `target` of them.

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
    """A number for an axis: 1,200, 15k, 2.5M."""
    for size, suffix in ((1e12, "T"), (1e9, "B"), (1e6, "M"), (1e4, "k")):
        if abs(value) >= size:
            unit = 1e3 if suffix == "k" else size
            return f"{_trim(value / unit)}{suffix}"
    return _trim(value)


def full(value: float | None) -> str:
    """A number for a tooltip or a table, with thousands separators."""
    if value is None:
        return "–"
    return (
        f"{value:,.0f}"
        if value == round(value)
        else f"{value:,.4g}"
        if abs(value) < 1
        else f"{value:,.2f}"
    )


def _trim(value: float) -> str:
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def labelled(categories: Sequence[str], room: float) -> list[tuple[int, str]]:
    """The category labels that stand side by side in `room` pixels: all of them, cut if they can
    still be told apart, else every nth from the first."""
    letters = max(int((room / max(len(categories), 1) - _GAP) // _LETTER), 1)
    cut = [_cut(name, letters) for name in categories]
    if cut == list(categories) or (letters >= _FEWEST and len(set(cut)) == len(cut)):
        return list(enumerate(cut))
    shown = [_cut(name, _MOST) for name in categories]
    fits = max(1, int(room // (max(map(len, shown)) * _LETTER + _GAP)))
    return list(enumerate(shown))[:: math.ceil(len(shown) / fits)]


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
