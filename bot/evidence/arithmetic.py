"""Arithmetic of two figures: the steps by which a figure may follow, and how they are written."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import prod

from bot.core.findings import Operation
from bot.evidence.units import PERCENT, POINTS

_MOST_SHOWN = 8
FACTOR = "factor"
"""The kind of a number that only multiplies: "five" of five years, or the 12 months of a year."""
_Range = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Step:
    """A step from the figures `a` and `b` to a third.

    `needed` gives for `a` and the range of the result the range of `b`, None if there is none.
    `kinds` tells which units go together: "same", "any", "part" (a is a percentage, b none) or
    "points" (both are percentages). `mixes`: the result has another unit than the figures, so they
    are not converted.
    """

    operation: Operation
    written: str
    value: Callable[[float, float], float]
    needed: Callable[[float, float, float], _Range | None]
    kinds: str = "same"
    mixes: bool = False

    def takes_first(self, kind: str) -> bool:
        return (kind in (PERCENT, POINTS)) == (self.kinds in ("part", "points"))

    def takes(self, first: str, second: str) -> bool:
        """Return whether figures with these kinds of units may be combined."""
        is_percent = second in (PERCENT, POINTS)
        if self.kinds == "points":
            return is_percent
        return not is_percent and (
            self.kinds != "same" or not first or not second or first == second
        )


AMOUNTS = (
    Step(
        Operation.DIFFERENCE,
        "{b} − {a}",
        lambda a, b: b - a,
        lambda a, low, high: (a + low, a + high),
    ),
    Step(
        Operation.DIFFERENCE,
        "{a} − {b}",
        lambda a, b: a - b,
        lambda a, low, high: (a - high, a - low) if a > high else None,
    ),
    Step(
        Operation.SUM,
        "{a} + {b}",
        lambda a, b: a + b,
        lambda a, low, high: (max(low - a, 0), high - a) if high > a else None,
    ),
    Step(
        Operation.PRODUCT,
        "{a} × {b}",
        lambda a, b: a * b,
        lambda a, low, high: (low / a, high / a),
        kinds="any",
        mixes=True,
    ),
    Step(
        Operation.RATIO,
        "{a} ÷ {b}",
        lambda a, b: a / b,
        lambda a, low, high: (a / high, a / low) if low > 0 else None,
        kinds="any",
        mixes=True,
    ),
    Step(
        Operation.RATIO,
        "{a} ÷ {b}",
        lambda a, b: a / b,
        lambda a, low, high: (a / high, a / low) if low > 0 else None,
        kinds="any",
    ),
    Step(
        Operation.PERCENT_OF,
        "{b} × {a} %",
        lambda a, b: b * a / 100,
        lambda a, low, high: (low * 100 / a, high * 100 / a),
        kinds="part",
        mixes=True,
    ),
    Step(
        Operation.PERCENT_OF,
        "{b} × (100 % + {a} %)",
        lambda a, b: b * (1 + a / 100),
        lambda a, low, high: (low / (1 + a / 100), high / (1 + a / 100)),
        kinds="part",
        mixes=True,
    ),
    Step(
        Operation.PERCENT_OF,
        "{b} × (100 % − {a} %)",
        lambda a, b: b * (1 - a / 100),
        lambda a, low, high: (low / (1 - a / 100), high / (1 - a / 100)) if a < 100 else None,
        kinds="part",
        mixes=True,
    ),
)
"""The steps to an amount or a number."""

PERCENTAGES = (
    Step(
        Operation.GROWTH,
        "{b} ÷ {a} − 1",
        lambda a, b: (b / a - 1) * 100,
        lambda a, low, high: (a * (1 + low / 100), a * (1 + high / 100)),
    ),
    Step(
        Operation.GROWTH,
        "{b} ÷ {a} − 1",
        lambda a, b: (b / a - 1) * 100,
        lambda a, low, high: (a * (1 - high / 100), a * (1 - low / 100)) if high < 100 else None,
    ),
    Step(
        Operation.SHARE,
        "{a} ÷ {b}",
        lambda a, b: a / b * 100,
        lambda a, low, high: (a * 100 / high, a * 100 / low) if low > 0 else None,
    ),
    Step(
        Operation.DIFFERENCE,
        "{b} − {a}",
        lambda a, b: b - a,
        lambda a, low, high: (a + low, a + high),
        kinds="points",
    ),
)
"""The steps to a percentage."""


_STEPS = {(each.operation, each.written): each.value for each in (*AMOUNTS, *PERCENTAGES)}
_OF_ALL: dict[Operation, Callable[[Sequence[float]], float]] = {
    Operation.SUM: sum,
    Operation.MEAN: lambda values: sum(values) / len(values),
    Operation.PRODUCT: prod,
    Operation.DIFFERENCE: lambda values: values[0] - sum(values[1:]),
    Operation.COUNT: lambda values: values[0],
    Operation.CONVERSION: lambda values: values[0],
}


def repeated(operation: Operation, pattern: str, values: Sequence[float]) -> float | None:
    """Return the result of an operation on the values of its operands; None if there is none.

    `pattern` is that of the step, "" for an operation on any number of operands.
    """
    try:
        if pattern:
            return _STEPS[operation, pattern](*values)
        return _OF_ALL[operation](values)
    except (ArithmeticError, LookupError):
        return None


def shown(value: float) -> str:
    """Write a value with grouped thousands and up to four decimals."""
    return f"{value:,.4f}".rstrip("0").rstrip(".")


def shown_list(values: Sequence[float], operation: Operation) -> str:
    """Write a sum or mean with its operands, the first eight."""
    more = " + …" if len(values) > _MOST_SHOWN else ""
    written = " + ".join(map(shown, values[:_MOST_SHOWN])) + more
    return f"({written}) ÷ {len(values)}" if operation is Operation.MEAN else written
