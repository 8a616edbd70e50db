"""Derivations: figures that follow from others by arithmetic that code repeats.

The operands are figures that the answer states and that were read, with their exact values; figures
of the same line or row; and the sums of whole columns. Few may be combined, because of many figures
some fit nearly every percentage.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

from bot.core.findings import Operation, Reason, Verdict
from bot.evidence.arithmetic import shown, shown_list
from bot.evidence.claims import Claim
from bot.evidence.evidence import Evidence
from bot.evidence.fields import FieldKind
from bot.evidence.figures import told_rows
from bot.evidence.operands import (
    FAIRLY_CLEAR,
    Operand,
    Result,
    Target,
    Term,
    factors,
    from_pairs,
    may_be,
    place_of_claim,
    read_operand,
    stated_operand,
    sum_of,
    total_operand,
    totals_of_column,
)
from bot.evidence.tokens import Kind
from bot.evidence.units import PERCENT

_ROUNDS = 3
_MOST_OPERANDS = 30
_MOST_PLACES = 8
_MOST_ON_LINE = 8
_MOST_LINES = 6
_MOST_COUNTED = 200_000  # characters in which words are counted
_CLEAR = 4  # significant digits that tell a figure from chance among hundreds of sums

_Run = list[tuple[Claim, Operand]]


def derive(claims: Sequence[Claim], evidence: Evidence) -> dict[int, Result]:
    """Fill in the figures that follow from others, in rounds: a share of a total comes after it.

    Return how each follows, by the number of its claim.
    """
    results: dict[int, Result] = {}
    for _ in range(_ROUNDS):
        search = _Search.of(claims, evidence)
        found = {
            number: result
            for number, each in enumerate(claims)
            if not each.is_traced
            and not each.is_small
            and each.token
            and each.token.kind is Kind.FIGURE
            and (result := search.derive(each))
        }
        if not found:
            break
        results |= found
    return results


def _fill(claim: Claim, result: Result) -> bool:
    if (claim.has_sign("-") and result.value > 0) or (claim.has_sign("+") and result.value < 0):
        claim.reason = Reason.OTHER_SIGN
        return False
    claim.found(Verdict.WORKED_OUT, *(each.place() for each in result.operands[:_MOST_PLACES]))
    claim.value, claim.operation = result.value, result.operation
    claim.formula = result.formula
    return True


@dataclass(frozen=True, slots=True)
class _Search:
    """A search for what the figures of an answer follow from.

    `stated` are the figures of the answer, `runs` those that follow each other and may be summed.
    """

    claims: Sequence[Claim]
    stated: list[Operand]
    runs: list[_Run]
    evidence: Evidence

    @classmethod
    def of(cls, claims: Sequence[Claim], evidence: Evidence) -> _Search:
        """Take the figures traced so far; those of each column, and of the prose, are runs."""
        runs: dict[str, _Run] = {}
        for each in claims:
            column = each.part.path.rpartition(".")[2] if each.part.kind is FieldKind.CELL else ""
            if operand := stated_operand(each):
                runs.setdefault(column, []).append((each, operand))
        stated = [found for each in claims if (found := stated_operand(each))]
        return cls(claims, stated[:_MOST_OPERANDS], list(runs.values()), evidence)

    def derive(self, claim: Claim) -> Result | None:
        """Try what a figure may follow from, the likeliest first. Return what fits."""
        near = [each for each in self.stated if each.group == claim.group]
        for low, high in claim.windows(exact=True):
            target = Target(claim, low, high)
            ways = (
                self._aggregates(target),
                self._stated_pairs(target, near),
                self._lines(target, near),
                self._sums_of_runs(target),
                self._named_rows(target, near),
                _from_three(target, near),
                _from_moments(target, self.claims),
                self._counted_words(target),
            )
            for results in ways:
                if found := next(results, None):
                    return found if _fill(claim, found) else None
        return None

    def _aggregates(self, target: Target) -> Iterator[Result]:
        """Yield the sums, means and counts of columns and rows that a figure may be."""
        claim = target.claim
        has_sign_or_unit = claim.unit is not None or claim.has_sign("-") or claim.has_sign("+")
        for output in self.evidence.newest_first:
            for each in output.aggregates_between(target.low, target.high):
                is_count = each.operation is Operation.COUNT
                if (each.is_weak and claim.significant < _CLEAR) or (is_count and has_sign_or_unit):
                    continue
                if (
                    each.operation is Operation.MEAN
                    and claim.is_whole
                    and claim.significant < _CLEAR
                ):
                    continue
                if each.operands and not may_be(claim, [each.operands[0].unit]):
                    continue
                value = -each.value if each.is_negative else each.value
                operands = [read_operand(output, mention) for mention in each.operands]
                values = [mention.signed for mention in each.operands]
                formula = f"rows with {each.of}" if is_count else shown_list(values, each.operation)
                written = f"{formula} = {shown(value)}"
                if each.is_whole:
                    terms = [Term(value, operands[0], is_column=True)]
                else:
                    terms = [
                        Term(mention.signed, o)
                        for mention, o in zip(each.operands, operands, strict=True)
                    ]
                yield Result(value, each.operation, written, operands, terms)

    def _stated_pairs(self, target: Target, near: list[Operand]) -> Iterator[Result]:
        """Yield what follows from two figures that the answer states.

        One must be in the claim's field or row, unless the claim has three digits and is told of no
        row that is known.
        """
        claim = target.claim
        yield from from_pairs(target, near, [*self.stated, *factors(claim)])
        if claim.significant >= FAIRLY_CLEAR and not told_rows(claim, self.evidence):
            yield from from_pairs(target, self.stated, self.stated)

    def _lines(self, target: Target, near: list[Operand]) -> Iterator[Result]:
        """Yield what follows from a figure of the field and others near the place it was read at.

        These are on its line, or in rows of the same name. Its shares in the sum of its column come
        too.
        """
        for one in near[:_MOST_LINES]:
            if one.read is None:
                continue
            output, mention = one.read
            figures = [(output, each) for each in output.beside(mention)]
            for name in sorted(output.row_names(mention)) if mention.grid >= 0 else ():
                figures += [
                    each for each in self.evidence.figures_named(name) if each[1] is not mention
                ]
            beside = [read_operand(*each) for each in figures[:_MOST_ON_LINE]]
            yield from from_pairs(target, [one], beside)
            yield from from_pairs(target, beside, [one])
            yield from from_pairs(target, [one], totals_of_column(output, mention))
        if target.claim.significant >= _CLEAR:
            totals = [total_operand(*each) for each in self.evidence.totals]
            yield from from_pairs(target, near, totals)

    def _sums_of_runs(self, target: Target) -> Iterator[Result]:
        """Yield sums and means of three figures or more that follow each other."""
        claim = target.claim
        for run in self.runs:
            operands = [
                operand
                for each, operand in run
                if each is not claim and (operand.kind == PERCENT) == target.is_percent
            ][:_MOST_OPERANDS]
            needs_all = claim.significant < FAIRLY_CLEAR
            for start in range(1 if needs_all else len(operands)):
                total = 0.0
                for end, operand in enumerate(operands[start:], 1):
                    total += operand.value
                    if end < 3 or (needs_all and end < len(operands)):
                        continue
                    used = operands[start : start + end]
                    if target.holds(total):
                        yield sum_of(used, total, Operation.SUM)
                    if target.holds(total / end) and not claim.is_whole:
                        yield sum_of(used, total / end, Operation.MEAN)

    def _named_rows(self, target: Target, near: list[Operand]) -> Iterator[Result]:
        """Yield what follows from the figures of the rows that the sentence names.

        They are combined with each other and with those of the field, and summed by column.
        """
        names = sorted(target.claim.names_in(self.evidence.names))
        if len(names) > _MOST_ON_LINE:
            return
        columns: dict[tuple[int, int, int], list[Operand]] = {}
        for name in names:
            figures = self.evidence.figures_named(name)[: 2 * _MOST_ON_LINE]
            operands = [read_operand(*each) for each in figures]
            others = self.stated if target.claim.significant >= FAIRLY_CLEAR else near
            yield from from_pairs(target, operands, [*operands, *others])
            for (output, mention), operand in zip(figures, operands, strict=True):
                if mention.grid >= 0:
                    column = (id(output), mention.grid, mention.column)
                    columns.setdefault(column, []).append(operand)
                    yield from from_pairs(target, [operand], totals_of_column(output, mention))
        for operands in columns.values():
            total = sum(each.value for each in operands)
            if len(operands) > 1 and target.holds(total):
                yield sum_of(operands, total, Operation.SUM)

    def _counted_words(self, target: Target) -> Iterator[Result]:
        """Yield how often a word of the sentence occurs in an output: "21 warnings"."""
        claim = target.claim
        if claim.unit or not claim.token or not claim.token.is_bare:
            return
        stems = {word[:5] for word in re.findall(r"[^\W\d_]{4,}", claim.sentence)}
        stems |= {each[:4] for each in stems}
        for output in self.evidence.newest_first:
            text = output.folded.text[:_MOST_COUNTED]
            for stem in sorted(stems):
                count = text.count(stem)
                if count > 1 and target.holds(count):
                    yield Result(count, Operation.COUNT, f"“{stem}…” occurs {count} times", ())


def _from_three(target: Target, near: list[Operand]) -> Iterator[Result]:
    """Yield what follows from three figures of the field.

    That is people × nights × a price, or what is left of a budget after two costs.
    """
    amounts = [each for each in near if each.kind != PERCENT][:_MOST_ON_LINE]
    if target.claim.significant < FAIRLY_CLEAR or target.is_percent:
        return
    for three in combinations(amounts, 3):
        ordered = sorted(three, key=lambda each: -abs(each.value))
        terms = [Term(abs(each.value), each) for each in ordered]
        a, b, c = (each.value for each in terms)
        for value, sign, how in (
            (a * b * c, "×", Operation.PRODUCT),
            (a - b - c, "−", Operation.DIFFERENCE),
        ):
            if target.holds(value):
                written = f"{shown(a)} {sign} {shown(b)} {sign} {shown(c)}"
                yield Result(value, how, f"{written} = {shown(value)}", three, terms)


def _from_moments(target: Target, claims: Sequence[Claim]) -> Iterator[Result]:
    """Yield the time between two dates, or two times of day, that the field states."""
    claim = target.claim
    if claim.unit is None or claim.unit.kind != "time":
        return
    moments = [each for each in claims if each.group == claim.group and each.is_traced]
    for one, other in combinations(moments[:_MOST_ON_LINE], 2):
        seconds = _seconds_between(one, other)
        value = seconds / claim.unit.size
        if seconds and target.holds(value):
            formula = f"{one.text} to {other.text} = {shown(value)}"
            operands = [
                Operand(0, None, "", partial(place_of_claim, each)) for each in (one, other)
            ]
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
