"""Round axis ticks and short numbers for charts."""

import math
from collections.abc import Sequence
from itertools import pairwise

_LETTER, _GAP, _LEAST = 7, 14, 7  # pixels; the last between names that are whole
_BESIDE = 24  # pixels that a name may be wider than its slot, half on either side
_FEWEST, _MOST = 8, 14  # letters of a name that is cut
_FEW = 8  # names in two rows


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


def full(value: float | None, *, fractions: bool = False) -> str:
    """A number for a tooltip or a table, with thousands separators; `fractions` says that others
    beside it have decimals."""
    if value is None:
        return "–"
    return (
        f"{value:,.{2 if fractions else 0}f}"
        if value == round(value)
        else f"{value:,.4g}"
        if abs(value) < 1
        else f"{value:,.2f}"
    )


def _trim(value: float) -> str:
    text = f"{value:,.2f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def labelled(categories: Sequence[str], room: float) -> list[list[tuple[int, str]]]:
    """The category labels that stand side by side in `room` pixels, in rows below each other: all of
    them, cut if they can still be told apart, or a few in two rows by turns, else every nth."""
    slot = room / max(len(categories), 1)
    letters = max(int((slot - _GAP) // _LETTER), 1)
    cut = [_cut(name, letters) for name in categories]
    if _fit(categories, slot):
        return [list(enumerate(categories))]
    if letters >= _FEWEST and len(set(cut)) == len(cut):
        return [list(enumerate(cut))]
    wider = [
        _cut(name, int(min(slot + _BESIDE, 2 * slot - _GAP) // _LETTER)) for name in categories
    ]
    if len(categories) <= _FEW and len(set(wider)) == len(wider):
        return [list(enumerate(wider))[row::2] for row in (0, 1)]
    shown = [_cut(name, _MOST) for name in categories]
    fits = max(1, int(room // (max(map(len, shown)) * _LETTER + _GAP)))
    return [list(enumerate(shown))[:: math.ceil(len(shown) / fits)]]


def _fit(names: Sequence[str], slot: float) -> bool:
    """Whether no name reaches into the next, each in the middle of its slot, or out of the chart."""
    around = all(
        (len(one) + len(other)) / 2 * _LETTER + _LEAST <= slot for one, other in pairwise(names)
    )
    ends = (len(name) * _LETTER <= slot + _BESIDE for name in names[-1:])
    return around and all(ends)


def _cut(name: str, letters: int) -> str:
    return name if len(name) <= letters else f"{name[: letters - 1]}…"
