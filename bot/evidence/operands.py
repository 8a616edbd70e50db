"""Operands: the figures that a claim may follow from, and what follows from two of them."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from bot.core.findings import Operation, Place
from bot.evidence.aggregates import Aggregate
from bot.evidence.arithmetic import AMOUNTS, FACTOR, PERCENTAGES, Step, shown, shown_list
from bot.evidence.claims import NUMBER_WORDS, Claim
from bot.evidence.fields import FieldKind
from bot.evidence.figures import tells_decline
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.places import place_of
from bot.evidence.units import Unit

FAIRLY_CLEAR = 3
"""Significant digits that tell a figure from chance among a few dozen pairs."""
_SHORT = 30  # characters of a line that is hardly more than its figure
_LEAST_PART = 0.002  # of the greater figure, that the lesser one of a sum is


@dataclass(slots=True)
class Operand:
    """A figure to compute with.

    `group` is the field or row of the answer that states it as a `claim`, "" if none does. `read` is
    where it was read. `is_total`: it is a sum of figures of a column, `is_column` of all of them.
    """

    value: float
    unit: Unit | None
    group: str
    place: Callable[[], Place]
    read: tuple[IndexedOutput, Mention] | None = None
    claim: Claim | None = None
    is_total: bool = False
    is_column: bool = False

    @property
    def base(self) -> float:
        """The value in base units."""
        return self.value * self.unit.in_base if self.unit else self.value

    @property
    def kind(self) -> str:
        return self.unit.kind if self.unit else ""


@dataclass(slots=True)
class Term:
    """An operand as the arithmetic uses it: its value in the unit of the result, without its sign.

    `is_column`: it stands for the whole column that the operand is in.
    """

    value: float
    operand: Operand
    is_column: bool = False


@dataclass(slots=True)
class Result:
    """What was computed: the value with its sign, how, and from which operands in order.

    `terms` and `pattern` are what `arithmetic.repeated` takes; no terms if it cannot be repeated.
    """

    value: float
    operation: Operation
    formula: str
    operands: Sequence[Operand]
    terms: Sequence[Term] = ()
    pattern: str = ""


@dataclass(frozen=True, slots=True)
class Target:
    """A claim to be computed, and the range in which the result must be."""

    claim: Claim
    low: float
    high: float

    @property
    def is_percent(self) -> bool:
        return self.claim.unit is not None and self.claim.unit.is_percent

    def holds(self, value: float) -> bool:
        """Return whether a result is in the range, whatever its sign."""
        return self.low <= abs(value) <= self.high


def stated_operand(claim: Claim) -> Operand | None:
    """Return the figure that a claim states, with its exact value; None before it is traced."""
    if claim.value is None:
        return None
    unit = claim.unit or (claim.source[1].unit if claim.source else None)
    place = partial(place_of_claim, claim)
    return Operand(claim.value, unit, claim.group, place, claim.source, claim)


def place_of_claim(claim: Claim) -> Place:
    """Return where a claim was read."""
    return claim.places[0] if claim.places else Place(call_id="", text=claim.text)


def read_operand(output: IndexedOutput, mention: Mention) -> Operand:
    """Return a figure that was read but that the answer does not state."""
    return Operand(
        mention.signed, mention.unit, "", lambda: place_of(output, mention), (output, mention)
    )


def factors(claim: Claim) -> list[Operand]:
    """Return the small numbers in words of a sentence, and the months of a year."""
    words = claim.sentence.split()
    numbers = {12, *(number for word, number in NUMBER_WORDS.items() if word in words)}
    place = Place(call_id="")
    return [Operand(each, Unit(FACTOR), claim.group, lambda: place) for each in sorted(numbers)]


def totals_of_column(output: IndexedOutput, mention: Mention) -> list[Operand]:
    """Return the sums of the column that a figure is in."""
    return [total_operand(output, each) for each in output.totals if each.is_column_of(mention)]


def total_operand(output: IndexedOutput, total: Aggregate) -> Operand:
    """Return the sum of a column; its place is the column, at the first figure."""
    first = total.operands[0]

    def place() -> Place:
        return place_of(output, first).model_copy(update={"row": "", "excerpt": ""})

    return Operand(total.value, first.unit, "", place, is_total=True, is_column=total.is_whole)


def sum_of(operands: Sequence[Operand], value: float, operation: Operation) -> Result:
    """Return the sum or mean of figures as a result."""
    formula = shown_list([each.value for each in operands], operation)
    terms = [Term(each.value, each) for each in operands]
    return Result(value, operation, f"{formula} = {shown(value)}", operands, terms)


class _Sorted:
    """Operands by size, to find the one that a step lacks."""

    def __init__(self, operands: Sequence[Operand], *, base: bool) -> None:
        sizes = ((abs(each.base if base else each.value), n) for n, each in enumerate(operands))
        ordered = sorted(sizes)
        self.sizes = [size for size, _ in ordered]
        self.operands = [operands[n] for _, n in ordered]

    def between(self, low: float, high: float) -> Iterator[Operand]:
        at = bisect_left(self.sizes, low * (1 - 1e-9))
        while at < len(self.sizes) and self.sizes[at] <= high * (1 + 1e-9):
            yield self.operands[at]
            at += 1


def from_pairs(
    target: Target, firsts: Sequence[Operand], others: Sequence[Operand]
) -> Iterator[Result]:
    """Yield what follows from one of the first figures and one of the others."""
    claim, unit = target.claim, target.claim.unit
    by_base, by_value = _Sorted(others, base=True), _Sorted(others, base=False)
    for step in PERCENTAGES if target.is_percent else AMOUNTS:
        # What is measured in milliseconds and seconds is compared in seconds; products are taken of
        # the figures as they are written.
        base = not step.mixes and unit is not None
        scale = unit.in_base if unit and base and not target.is_percent else 1.0
        for one in firsts:
            a = abs(one.base if base else one.value)
            if not a or not step.takes_first(one.kind):
                continue
            needed = step.needed(a, target.low * scale, target.high * scale)
            for other in (by_base if base else by_value).between(*needed) if needed else ():
                units = [one.unit, other.unit]
                fits = step.takes(one.kind, other.kind) and may_be(claim, units, exact=not base)
                if fits and not _is_idle(step, one, other) and _is_plain(claim, step):
                    yield _result(claim, step, one, other, base, scale)


def may_be(claim: Claim, units: Sequence[Unit | None], *, exact: bool = True) -> bool:
    """Return whether a result of figures with these `units` may have the claim's unit.

    It may if one of them has it, none has any, or it is a currency and none has one. Unless
    `exact`, it may be in milliseconds where they are in seconds.
    """
    unit = claim.unit
    if unit is None or unit.is_percent or not any(units):
        return True
    alike = [each for each in units if each and unit.is_like(each)]
    return (unit.is_currency and not alike) or any(
        each == unit if exact else each.kind == unit.kind for each in alike
    )


def _is_idle(step: Step, one: Operand, other: Operand) -> bool:
    """Return whether a step changes nothing (61,200 + 0.7 or × 1) or has one figure twice."""
    if one is other or (one.read and other.read and one.read[1] is other.read[1]):
        return True
    less, more = sorted((abs(one.base), abs(other.base)))
    is_sum = step.operation in (Operation.SUM, Operation.DIFFERENCE) and step.kinds == "same"
    return (is_sum and less < more * _LEAST_PART) or (step.mixes and less == 1)


def _is_plain(claim: Claim, step: Step) -> bool:
    """Return whether a step may give such a figure.

    A bare number of two digits is only a sum or difference: some product of other figures nearly
    always fits.
    """
    is_coarse = claim.unit is None and claim.significant < FAIRLY_CLEAR and claim.is_whole
    return not is_coarse or step.operation in (Operation.SUM, Operation.DIFFERENCE)


def _result(
    claim: Claim, step: Step, one: Operand, other: Operand, base: bool, scale: float
) -> Result:
    a, b = (abs(each.base if base else each.value) for each in (one, other))
    value = step.value(a, b) / scale
    if step.operation is Operation.DIFFERENCE and _is_told_as_less(claim):
        value, a, b = -value, b, a  # which is taken from which is not told
        one, other = other, one
    written = step.written.format(a=shown(a / scale), b=shown(b / scale))
    operands = [one, other] if step.written.startswith("{a}") else [other, one]
    ending = " %" if claim.unit and claim.unit.is_percent else ""
    shown_ones = [each for each in operands if each.is_column or not each.is_total]
    terms = [Term(a / scale, one, one.is_column), Term(b / scale, other, other.is_column)]
    formula = f"{written} = {shown(value)}{ending}"
    return Result(value, step.operation, formula, shown_ones, terms, step.written)


def _is_told_as_less(claim: Claim) -> bool:
    """Return whether the words or the column of a claim explain its minus."""
    is_cell = claim.part.kind is FieldKind.CELL
    is_list = len(claim.part.text) <= len(claim.text) + _SHORT
    return claim.has_sign("-") and (is_cell or is_list or tells_decline(claim))
