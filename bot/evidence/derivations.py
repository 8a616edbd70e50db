"""Derivations: figures that follow from others by arithmetic that code repeats.

The operands are figures that the answer states and that were read, with their exact values; figures of
the same line or row; and the sums of whole columns. Few may be combined, because of many figures some
fit nearly every percentage.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from bot.core.findings import Operation, Place, Reason, Verdict
from bot.evidence.aggregates import Aggregate
from bot.evidence.arithmetic import AMOUNTS, FACTOR, PERCENTAGES, Step, shown, shown_list
from bot.evidence.claims import NUMBER_WORDS, Claim
from bot.evidence.evidence import Evidence
from bot.evidence.fields import FieldKind
from bot.evidence.figures import tells_decline, told_rows
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.places import place_of
from bot.evidence.tokens import Kind
from bot.evidence.units import PERCENT, Unit

_ROUNDS = 3
_MOST_OPERANDS = 30
_MOST_PLACES = 8
_MOST_ON_LINE = 8
_MOST_LINES = 6
_MOST_COUNTED = 200_000  # characters in which words are counted
_CLEAR = 4  # significant digits that tell a figure from chance among hundreds of sums
_FAIRLY_CLEAR = 3
_MOST_BEFORE = 30
_LEAST_PART = 0.002  # of the greater figure, that the lesser one of a sum is


@dataclass(slots=True)
class Operand:
    """A figure to compute with. `group` is the field or row of the answer that states it, "" if none
    does. `read` is where it was read."""

    value: float
    unit: Unit | None
    group: str
    place: Callable[[], Place]
    read: tuple[IndexedOutput, Mention] | None = None
    is_total: bool = False

    @property
    def base(self) -> float:
        """The value in base units."""
        return self.value * self.unit.in_base if self.unit else self.value

    @property
    def kind(self) -> str:
        return self.unit.kind if self.unit else ""


@dataclass(slots=True)
class Result:
    """What was computed: the value with its sign, how, and from which operands in order."""

    value: float
    operation: Operation
    formula: str
    operands: Sequence[Operand]


def derive(claims: Sequence[Claim], evidence: Evidence) -> None:
    """Fill in the figures that follow from others, in rounds: a share of a total comes after it."""
    for _ in range(_ROUNDS):
        open_ones = [each for each in claims if not each.is_traced and not each.is_small]
        figures = [each for each in open_ones if each.token and each.token.kind is Kind.FIGURE]
        stated = _stated(claims)
        runs = _runs(claims)
        found = [_derived(each, claims, stated, runs, evidence) for each in figures]
        if not any(found):
            return


def _stated(claims: Sequence[Claim]) -> list[Operand]:
    found = [operand for each in claims if (operand := _operand(each))]
    return found[:_MOST_OPERANDS]


def _operand(claim: Claim) -> Operand | None:
    if claim.value is None:
        return None
    unit = claim.unit or (claim.source[1].unit if claim.source else None)

    return Operand(claim.value, unit, claim.group, partial(_place, claim), claim.source)


def _place(claim: Claim) -> Place:
    return claim.places[0] if claim.places else Place(call_id="", text=claim.text)


def _implicit(output: IndexedOutput, mention: Mention) -> Operand:
    return Operand(
        mention.signed, mention.unit, "", lambda: place_of(output, mention), (output, mention)
    )


def _derived(
    claim: Claim,
    claims: Sequence[Claim],
    stated: list[Operand],
    runs: list[_Run],
    evidence: Evidence,
) -> bool:
    """Try what a figure may follow from, the likeliest first. Return whether something fits."""
    near = [each for each in stated if each.group == claim.group]
    for low, high in claim.windows(exact=True):
        ways = (
            _aggregate(claim, low, high, evidence),
            _from_groups(claim, low, high, near, stated, evidence),
            _from_lines(claim, low, high, near, evidence),
            _from_runs(claim, low, high, runs),
            _from_named_rows(claim, low, high, near, stated, evidence),
            _from_three(claim, low, high, near),
            _from_moments(claim, low, high, claims),
            _counted_words(claim, low, high, evidence),
        )
        for result in ways:
            if found := next(result, None):
                return _fill(claim, found)
    return False


def _factors(claim: Claim) -> list[Operand]:
    """Return the small numbers in words of a sentence, and the months of a year."""
    words = claim.sentence.split()
    numbers = {12, *(number for word, number in NUMBER_WORDS.items() if word in words)}
    place = Place(call_id="")
    return [Operand(each, Unit(FACTOR), claim.group, lambda: place) for each in sorted(numbers)]


def _fill(claim: Claim, result: Result) -> bool:
    if (claim.has_sign("-") and result.value > 0) or (claim.has_sign("+") and result.value < 0):
        claim.reason = Reason.OTHER_SIGN
        return False
    claim.found(Verdict.WORKED_OUT, *(each.place() for each in result.operands[:_MOST_PLACES]))
    claim.value, claim.operation = result.value, result.operation
    claim.formula = result.formula
    return True


def _aggregate(claim: Claim, low: float, high: float, evidence: Evidence) -> Iterator[Result]:
    """Yield the sums, means and counts of columns and rows that a figure may be."""
    has_sign_or_unit = claim.unit is not None or claim.has_sign("-") or claim.has_sign("+")
    for output in evidence.newest_first:
        for each in output.aggregates_between(low, high):
            is_count = each.operation is Operation.COUNT
            if (each.is_weak and claim.significant < _CLEAR) or (is_count and has_sign_or_unit):
                continue
            if each.operation is Operation.MEAN and claim.is_whole and claim.significant < _CLEAR:
                continue
            if each.operands and not _may_be(claim, [each.operands[0].unit]):
                continue
            value = -each.value if each.is_negative else each.value
            operands = [_implicit(output, mention) for mention in each.operands]
            values = [mention.signed for mention in each.operands]
            formula = f"rows with {each.of}" if is_count else shown_list(values, each.operation)
            yield Result(value, each.operation, f"{formula} = {shown(value)}", operands)


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


def _from_groups(
    claim: Claim,
    low: float,
    high: float,
    near: list[Operand],
    stated: list[Operand],
    evidence: Evidence,
) -> Iterator[Result]:
    """Yield what follows from two figures that the answer states. One must be in the claim's field or
    row, unless the claim has three digits and is told of no row that is known."""
    yield from _from_pairs(claim, low, high, near, [*stated, *_factors(claim)])
    if claim.significant >= _FAIRLY_CLEAR and not told_rows(claim, evidence):
        yield from _from_pairs(claim, low, high, stated, stated)


def _from_lines(
    claim: Claim, low: float, high: float, near: list[Operand], evidence: Evidence
) -> Iterator[Result]:
    """Yield what follows from a figure of the field and one that stands on its line or in a row of the
    same name, and its shares in the sum of its column."""
    for one in near[:_MOST_LINES]:
        if one.read is None:
            continue
        output, mention = one.read
        figures = [(output, each) for each in output.beside(mention)]
        for name in sorted(output.row_names(mention)) if mention.grid >= 0 else ():
            figures += [each for each in evidence.figures_named(name) if each[1] is not mention]
        beside = [_implicit(*each) for each in figures[:_MOST_ON_LINE]]
        yield from _from_pairs(claim, low, high, [one], beside)
        yield from _from_pairs(claim, low, high, beside, [one])
        yield from _from_pairs(claim, low, high, [one], _totals(output, mention))
    if claim.significant >= _CLEAR:
        totals = [_total(*each) for each in evidence.totals]
        yield from _from_pairs(claim, low, high, near, totals)


def _totals(output: IndexedOutput, mention: Mention) -> list[Operand]:
    """Return the sums of the column that a figure is in."""
    return [_total(output, each) for each in output.totals if each.is_column_of(mention)]


def _total(output: IndexedOutput, total: Aggregate) -> Operand:
    first = total.operands[0]
    return Operand(total.value, first.unit, "", lambda: place_of(output, first), is_total=True)


def _from_pairs(
    claim: Claim, low: float, high: float, firsts: Sequence[Operand], others: Sequence[Operand]
) -> Iterator[Result]:
    unit = claim.unit
    is_percent = unit is not None and unit.is_percent
    by_base, by_value = _Sorted(others, base=True), _Sorted(others, base=False)
    for step in PERCENTAGES if is_percent else AMOUNTS:
        # What is measured in milliseconds and seconds is compared in seconds; products are taken of
        # the figures as they are written.
        base = not step.mixes and unit is not None
        scale = unit.in_base if unit and base and not is_percent else 1.0
        for one in firsts:
            a = abs(one.base if base else one.value)
            if not a or not step.takes_first(one.kind):
                continue
            needed = step.needed(a, low * scale, high * scale)
            for other in (by_base if base else by_value).between(*needed) if needed else ():
                units = [one.unit, other.unit]
                fits = step.takes(one.kind, other.kind) and _may_be(claim, units, exact=not base)
                if fits and not _is_idle(step, one, other) and _is_plain(claim, step):
                    yield _result(claim, step, one, other, base, scale)


def _may_be(claim: Claim, units: Sequence[Unit | None], *, exact: bool = True) -> bool:
    """Whether something computed from figures with these units may have the claim's unit: one of them
    has it, none has any, or it is a currency and none has one. Unless `exact`, it may be in milliseconds or seconds."""
    unit = claim.unit
    if unit is None or unit.is_percent or not any(units):
        return True
    alike = [each for each in units if each and unit.is_like(each)]
    return (unit.is_currency and not alike) or any(
        each == unit if exact else each.kind == unit.kind for each in alike
    )


def _is_idle(step: Step, one: Operand, other: Operand) -> bool:
    """Whether a step leaves a figure as it is, or has the same figure twice: 61,200 + 0.7 or × 1."""
    if one is other or (one.read and other.read and one.read[1] is other.read[1]):
        return True
    less, more = sorted((abs(one.base), abs(other.base)))
    is_sum = step.operation in (Operation.SUM, Operation.DIFFERENCE) and step.kinds == "same"
    return (is_sum and less < more * _LEAST_PART) or (step.mixes and less == 1)


def _is_plain(claim: Claim, step: Step) -> bool:
    """Whether a step may give such a figure. A bare number of two digits is only a sum or difference:
    some product of other figures nearly always fits."""
    is_coarse = claim.unit is None and claim.significant < _FAIRLY_CLEAR and claim.is_whole
    return not is_coarse or step.operation in (Operation.SUM, Operation.DIFFERENCE)


def _result(
    claim: Claim, step: Step, one: Operand, other: Operand, base: bool, scale: float
) -> Result:
    a, b = (abs(each.base if base else each.value) for each in (one, other))
    value = step.value(a, b) / scale
    if step.operation is Operation.DIFFERENCE and _is_told_as_less(claim):
        value, a, b = -value, b, a  # which is taken from which is not told
    written = step.written.format(a=shown(a / scale), b=shown(b / scale))
    operands = [one, other] if step.written.startswith("{a}") else [other, one]
    ending = " %" if claim.unit and claim.unit.is_percent else ""
    stated = [each for each in operands if not each.is_total]
    return Result(value, step.operation, f"{written} = {shown(value)}{ending}", stated)


def _is_told_as_less(claim: Claim) -> bool:
    """Whether the claim has a minus that its words, or the column of the answer's table, explain."""
    is_cell = claim.part.kind is FieldKind.CELL
    is_list = len(claim.part.text) <= len(claim.text) + _MOST_BEFORE
    return claim.has_sign("-") and (is_cell or is_list or tells_decline(claim))


def _from_three(claim: Claim, low: float, high: float, near: list[Operand]) -> Iterator[Result]:
    """Yield what follows from three figures of the field: people × nights × a price, or what is left
    of a budget after two costs."""
    amounts = [each for each in near if each.kind != PERCENT][:_MOST_ON_LINE]
    if claim.significant < _FAIRLY_CLEAR or (claim.unit and claim.unit.is_percent):
        return
    for three in combinations(amounts, 3):
        a, b, c = sorted((abs(each.value) for each in three), reverse=True)
        for value, sign, how in (
            (a * b * c, "×", Operation.PRODUCT),
            (a - b - c, "−", Operation.DIFFERENCE),
        ):
            if low <= value <= high:
                written = f"{shown(a)} {sign} {shown(b)} {sign} {shown(c)}"
                yield Result(value, how, f"{written} = {shown(value)}", three)


def _from_moments(
    claim: Claim, low: float, high: float, claims: Sequence[Claim]
) -> Iterator[Result]:
    """Yield the time between two dates, or two times of day, that the field states."""
    if claim.unit is None or claim.unit.kind != "time":
        return
    moments = [each for each in claims if each.group == claim.group and each.is_traced]
    for one, other in combinations(moments[:_MOST_ON_LINE], 2):
        seconds = _seconds_between(one, other)
        value = seconds / claim.unit.size
        if seconds and low <= value <= high:
            formula = f"{one.text} to {other.text} = {shown(value)}"
            operands = [Operand(0, None, "", partial(_place, each)) for each in (one, other)]
            yield Result(value, Operation.DIFFERENCE, formula, operands)


def _seconds_between(one: Claim, other: Claim) -> float:
    """Return the time between two dates or two times of day, 0 for anything else."""
    if not one.token or not other.token:
        return 0
    if one.token.kind is other.token.kind is Kind.CLOCK and one.token.clock and other.token.clock:
        (hours, minutes), (later, more) = one.token.clock, other.token.clock
        return ((later - hours) * 60 + more - minutes) % (24 * 60) * 60.0
    days = [each.token.days[0].full for each in (one, other) if each.token and each.token.days]
    if len(days) == 2 and days[0] and days[1]:
        return abs((days[1] - days[0]).total_seconds())
    return 0


_Run = list[tuple[Claim, Operand]]


def _runs(claims: Sequence[Claim]) -> list[_Run]:
    """Return the figures of the answer that may be summed: of each column, and of the prose."""
    found: dict[str, _Run] = {}
    for each in claims:
        column = each.part.path.rpartition(".")[2] if each.part.kind is FieldKind.CELL else ""
        if operand := _operand(each):
            found.setdefault(column, []).append((each, operand))
    return list(found.values())


def _from_runs(claim: Claim, low: float, high: float, runs: list[_Run]) -> Iterator[Result]:
    """Yield sums and means of three figures or more that follow each other."""
    is_percent = claim.unit is not None and claim.unit.is_percent
    for run in runs:
        operands = [
            operand
            for each, operand in run
            if each is not claim and (operand.kind == PERCENT) == is_percent
        ][:_MOST_OPERANDS]
        needs_all = claim.significant < _FAIRLY_CLEAR
        for start in range(1 if needs_all else len(operands)):
            total = 0.0
            for end, operand in enumerate(operands[start:], 1):
                total += operand.value
                if end < 3 or (needs_all and end < len(operands)):
                    continue
                used = operands[start : start + end]
                if low <= abs(total) <= high:
                    yield _sum_of(used, total, Operation.SUM)
                if low <= abs(total / end) <= high and not claim.is_whole:
                    yield _sum_of(used, total / end, Operation.MEAN)


def _sum_of(operands: Sequence[Operand], value: float, operation: Operation) -> Result:
    formula = shown_list([each.value for each in operands], operation)
    return Result(value, operation, f"{formula} = {shown(value)}", operands)


def _from_named_rows(
    claim: Claim,
    low: float,
    high: float,
    near: list[Operand],
    stated: list[Operand],
    evidence: Evidence,
) -> Iterator[Result]:
    """Yield what follows from the figures of the rows that the sentence names, with each other and with
    those of the field; and the sums of a column over these rows."""
    names = sorted(claim.names_in(evidence.names))
    if len(names) > _MOST_ON_LINE:
        return
    columns: dict[tuple[int, int, int], list[Operand]] = {}
    for name in names:
        figures = evidence.figures_named(name)[: 2 * _MOST_ON_LINE]
        operands = [_implicit(*each) for each in figures]
        others = stated if claim.significant >= _FAIRLY_CLEAR else near
        yield from _from_pairs(claim, low, high, operands, [*operands, *others])
        for (output, mention), operand in zip(figures, operands, strict=True):
            if mention.grid >= 0:
                column = (id(output), mention.grid, mention.column)
                columns.setdefault(column, []).append(operand)
                yield from _from_pairs(claim, low, high, [operand], _totals(output, mention))
    for operands in columns.values():
        total = sum(each.value for each in operands)
        if len(operands) > 1 and low <= abs(total) <= high:
            yield _sum_of(operands, total, Operation.SUM)


def _counted_words(claim: Claim, low: float, high: float, evidence: Evidence) -> Iterator[Result]:
    """Yield how often a word of the sentence occurs in an output: "21 warnings"."""
    if claim.unit or not claim.token or not claim.token.is_bare:
        return
    stems = {word[:5] for word in re.findall(r"[^\W\d_]{4,}", claim.sentence)}
    stems |= {each[:4] for each in stems}
    for output in evidence.newest_first:
        text = output.folded.text[:_MOST_COUNTED]
        for stem in sorted(stems):
            count = text.count(stem)
            if count > 1 and low <= count <= high:
                yield Result(count, Operation.COUNT, f"“{stem}…” occurs {count} times", ())
