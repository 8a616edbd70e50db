"""Derivations: simple arithmetic by which a figure follows from others, for those who look closer."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, permutations

from bot.library.tracing.findings import Operation, Place
from bot.library.tracing.numerals import Number

_MOST_OPERANDS = 24
_MOST_CELLS = 5_000
_FEWEST_DIGITS = 3


@dataclass(frozen=True, slots=True)
class Operand:
    """A figure that was read: its exact value, and the path of the field that states it."""

    value: float
    is_percent: bool
    path: str
    place: Place


@dataclass(frozen=True, slots=True)
class Column:
    """The figures of a column that was shown, and the place of the first."""

    values: tuple[float, ...]
    place: Place


@dataclass(frozen=True, slots=True)
class Derivation:
    """How a figure follows from others: "90 + 30 = 120"."""

    operation: Operation
    formula: str
    places: tuple[Place, ...]


def derive(
    claim: Number,
    path: str,
    operands: Sequence[Operand],
    columns: Callable[[], Sequence[Column]],
) -> Derivation | None:
    """Return how a figure follows from figures of the answer, those of its own field first, or from
    one column; None if it does not. A figure of one or two digits follows from nearly anything, so
    for it only its own field counts."""
    near = [operand for operand in operands if operand.path == path]
    far = [operand for operand in operands if operand.path != path]
    is_clear = claim.digits >= _FEWEST_DIGITS
    windows = list(_windows(claim))
    candidates = (near + far if is_clear else near)[:_MOST_OPERANDS]
    ways = chain(
        _pairs(claim, candidates), _runs(near), _columns(claim, columns, is_clear=is_clear)
    )
    for operation, value, formula, places in ways:
        if any(low <= abs(value) <= high for low, high in windows):
            shown = f"{_shown(value * 100)} %" if _is_share(operation, claim) else _shown(value)
            return Derivation(operation, f"{formula} = {shown}", places)
    return None


def _windows(claim: Number) -> Iterator[tuple[float, float]]:
    for reading in claim.readings:
        value, step = abs(float(reading.value)), float(reading.step)
        factor = 0.01 if claim.is_percent else 1.0
        slack = step * 0.5 * (1 + 1e-9) + 1e-12 * value
        yield (value - slack) * factor, (value + slack) * factor


def _is_share(operation: Operation, claim: Number) -> bool:
    return claim.is_percent and operation in (Operation.SHARE, Operation.GROWTH)


_Candidate = tuple[Operation, float, str, tuple[Place, ...]]


def _columns(
    claim: Number, columns: Callable[[], Sequence[Column]], *, is_clear: bool
) -> Iterator[_Candidate]:
    if claim.is_percent or not is_clear:
        return
    cells = 0
    for column in columns():
        cells += len(column.values)
        if cells > _MOST_CELLS:
            return
        total, count = sum(column.values), len(column.values)
        name = column.place.column
        yield Operation.SUM, total, f"sum of {name} ({count} rows)", (column.place,)
        yield Operation.MEAN, total / count, f"mean of {name} ({count} rows)", (column.place,)


def _pairs(claim: Number, operands: Sequence[Operand]) -> Iterator[_Candidate]:
    """Yield what two figures give together; a percentage only as share, growth or difference of
    percentages."""
    for one, other in permutations(operands, 2):
        if one.value == other.value:
            continue
        yield from _percentages(one, other) if claim.is_percent else _figures(claim, one, other)


def _percentages(one: Operand, other: Operand) -> Iterator[_Candidate]:
    a, b, places = one.value, other.value, (one.place, other.place)
    x, y = _shown(a), _shown(b)
    if one.is_percent and other.is_percent:
        yield Operation.DIFFERENCE, (a - b) / 100, f"({x} % − {y} %) ÷ 100", places
    elif b and not one.is_percent and not other.is_percent:
        yield Operation.SHARE, a / b, f"{x} ÷ {y}", places
        yield Operation.GROWTH, a / b - 1, f"{x} ÷ {y} − 1", places


def _figures(claim: Number, one: Operand, other: Operand) -> Iterator[_Candidate]:
    a, b, places = one.value, other.value, (one.place, other.place)
    x, y = _shown(a), _shown(b)
    if one.is_percent != other.is_percent:
        if one.is_percent:
            yield Operation.PERCENT_OF, a * b / 100, f"{x} % of {y}", places
        return
    if a > b or claim.sign == "-":
        yield Operation.DIFFERENCE, a - b, f"{x} − {y}", places
    yield Operation.SUM, a + b, f"{x} + {y}", places
    if b and claim.digits >= _FEWEST_DIGITS:
        yield Operation.RATIO, a / b, f"{x} ÷ {y}", places


def _runs(operands: Sequence[Operand]) -> Iterator[_Candidate]:
    """Yield the sum and the mean of three figures or more that follow each other."""
    for start in range(len(operands)):
        for end in range(start + 3, len(operands) + 1):
            run = operands[start:end]
            if len({operand.is_percent for operand in run}) > 1:
                break
            total = sum(operand.value for operand in run)
            terms = " + ".join(_shown(operand.value) for operand in run)
            places = tuple(operand.place for operand in run)
            yield Operation.SUM, total, terms, places
            yield Operation.MEAN, total / len(run), f"({terms}) ÷ {len(run)}", places


def _shown(value: float) -> str:
    return f"{value:,.10g}"
