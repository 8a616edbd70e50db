"""Figures: looks one up in what was read, and doubts those of another unit, sign or row."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice

from bot.core.findings import Operation, Reason, Verdict
from bot.evidence.characters import folded
from bot.evidence.claims import Claim
from bot.evidence.dates import Day, is_year
from bot.evidence.entries import EntryKind
from bot.evidence.evidence import Evidence
from bot.evidence.fields import FieldKind
from bot.evidence.indexing import IndexedOutput
from bot.evidence.mentions import Mention
from bot.evidence.places import place_of
from bot.evidence.tokens import Kind, Token, tokens
from bot.evidence.units import Unit

_MOST_PLACES = 3
_BEST_FIRST = (Reason.OTHER_ROW, Reason.OTHER_SIGN, Reason.OTHER_UNIT)
_TOTALS = {"total", "sum", "summe", "gesamt", "somme", "suma", "soma", "合計", "all", "alle"}
_DECLINES = re.compile(
    r"\b(?:fell|fall|down|drop|declin|decreas|less|lower|below|miss|loss|lost|minus|short|reduc|shr[aiu]nk"
    r"|discount|refund|gesunken|sank|gefallen|weniger|verlust|fehl|unter|rückgang|baiss|recul|moins|perte"
    r"|manque|écart|menos|baj[óa]|cay|pérdida|queda|caiu|perda|diff|change|delta|abweichung|veränderung"
    r"|variaci[óo]n|variação|gap)(?!\w* (?:than|als|de|que|d['’]))",
    re.IGNORECASE,
)
_NEAR = 40  # characters
_Read = tuple[IndexedOutput, Mention]


def trace_figure(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in a figure that was read."""
    if token.is_bare and is_year(token.digits) and (place := evidence.day(Day(int(token.digits)))):
        claim.found(Verdict.READ, place)
        return
    found = [
        (output, mention)
        for output in evidence.newest_first
        for low, high in claim.windows()
        for mention in _of_size(output, claim.unit, low, high)
    ]
    found = found or list(_written_alike(claim.text, evidence))
    told = told_rows(claim, evidence)
    doubts = [_doubt(claim, token, evidence, told, each) for each in found]
    fitting = [each for each, doubt in zip(found, doubts, strict=True) if doubt is None]
    if unit := token.unit:
        # A bare 90 elsewhere is no reason to take 90 weeks for the 90 days that were read.
        alike = [each for each in found if each[1].unit and unit.is_like(each[1].unit)]
        fitting = [each for each in fitting if not alike or each in alike]
    if not fitting:
        if found:
            claim.reason = min(
                (each for each in doubts if each), key=_BEST_FIRST.index, default=Reason.OTHER_UNIT
            )
        elif claim.is_small:
            claim.value = token.readings[0].value
        return
    fitting.sort(key=lambda each: -_closeness(claim, *each))
    claim.found(Verdict.READ, *(place_of(*each) for each in fitting[:_MOST_PLACES]))
    claim.source = fitting[0]
    _take_value(claim, token, fitting[0][1])


def _written_alike(text: str, evidence: Evidence) -> Iterator[_Read]:
    """Yield the figures that are written as in the claim: 13.000 is copied, whatever it means there."""
    if "." not in text and "," not in text:
        return
    for output in evidence.newest_first:
        if text in output.entry.text:
            for mention in output.mentions:
                if output.entry.text[mention.start : mention.end] == text:
                    yield output, mention


def _take_value(claim: Claim, token: Token, read: Mention) -> None:
    """Take the exact value, in the unit of the claim."""
    claim.value, unit = read.signed, token.unit
    if unit and read.unit and _converts(token, read):
        claim.value *= read.unit.size / unit.size
        claim.verdict, claim.operation = Verdict.WORKED_OUT, Operation.CONVERSION
        claim.formula = f"{claim.places[0].text} = {claim.text}"
    elif unit and _is_fraction(unit, read) and not _is_near(token, read.value):
        claim.value *= 100


def _of_size(
    output: IndexedOutput, unit: Unit | None, low: float, high: float
) -> Iterator[Mention]:
    """Yield the figures in a range, and those that are so much in another unit."""
    yield from output.between(low, high)
    if unit is None or unit.is_currency:
        return
    if unit.is_percent:
        yield from (
            each for each in output.between(low / 100, high / 100) if _is_fraction(unit, each)
        )
        return
    for each in output.quantities_between(unit.kind, low * unit.size, high * unit.size):
        if each.unit != unit:
            yield each


def _doubt(
    claim: Claim, token: Token, evidence: Evidence, told: set[str], read: _Read
) -> Reason | None:
    """Return why a figure of this size is not the one that the claim means. `told` are the names of
    the claim's row."""
    output, mention = read
    if _has_other_unit(token, evidence, output, mention):
        return Reason.OTHER_UNIT
    if token.sign == "+" and mention.sign == "-":
        return Reason.OTHER_SIGN
    if token.sign == "-" and mention.sign != "-" and not _declines(claim, output, mention):
        return Reason.OTHER_SIGN
    is_of_other = told and mention.grid >= 0 and not told & output.row_names(mention)
    return Reason.OTHER_ROW if is_of_other else None


def _has_other_unit(
    token: Token, evidence: Evidence, output: IndexedOutput, mention: Mention
) -> bool:
    """Return whether the units contradict. Only where both are told, except that a text which tells
    currencies has no others, and "46 people" are no 46 %."""
    unit, other = token.unit, mention.unit
    if unit is None:
        return False
    if other is not None:
        are_percent = unit.is_percent and other.is_percent
        return unit != other and not are_percent and not _converts(token, mention)
    if unit.is_currency:
        is_calculated = output.entry.kind is EntryKind.CALCULATED
        told = evidence.currencies if is_calculated else output.currencies
        return mention.counts or bool(told and unit.kind not in told)
    return unit.is_percent and mention.counts


def tells_decline(claim: Claim) -> bool:
    """Return whether words around a claim say that it is less, which explains a minus."""
    text, end = claim.part.text, claim.start + len(claim.text)
    near = text[max(0, claim.start - _NEAR) : end + _NEAR // 2]
    return any(map(_DECLINES.search, [near, claim.part.column, claim.part.row]))


def _declines(claim: Claim, output: IndexedOutput, mention: Mention) -> bool:
    """Return whether words around the claim or the figure tell that it is less."""
    if mention.grid >= 0:
        near = output.grids[mention.grid].columns[mention.column]
    else:
        start = output.starts[output.line_of(mention.start)]
        near = output.entry.text[max(start, mention.start - _NEAR) : mention.start]
    return tells_decline(claim) or bool(_DECLINES.search(near))


def told_rows(claim: Claim, evidence: Evidence) -> set[str]:
    """Return the names of the row that a claim is about.

    That is the row of a cell, or the only name in a sentence with one figure.
    """
    if claim.part.kind is not FieldKind.CELL:
        figures = (each for each in tokens(claim.sentence) if each.kind is Kind.FIGURE)
        is_alone = len([*islice(figures, 2)]) == 1  # a long list is not read to its end
        named = claim.names_in(evidence.names) if is_alone else set()
        return named if len(named) == 1 else set()
    name = folded(claim.part.row)
    if not name or name in _TOTALS or claim.part.text == claim.part.row:
        return set()
    days = [day for each in tokens(claim.part.row) for day in each.days]
    written = {f"{each.year}-{each.month:02}" for each in days}
    written |= {f"{each.year}-{each.month:02}-{each.day:02}" for each in days}
    return ({name} & (evidence.names | evidence.columns)) or (written & evidence.names)


def _closeness(claim: Claim, output: IndexedOutput, mention: Mention) -> int:
    """Return how well a place fits the words of a claim; tools come before people."""
    names = output.row_names(mention)
    told = sum(len(name) > 1 and name in claim.sentence for name in names)
    if claim.part.kind is FieldKind.CELL:
        told += (
            (mention.grid >= 0)
            + 2 * (folded(claim.part.row) in names)
            + (folded(claim.part.column) in names)
        )
    has_same_unit = claim.unit is not None and mention.unit == claim.unit
    return 4 * told + 2 * has_same_unit + (output.entry.kind is EntryKind.READ)


def _is_fraction(unit: Unit, mention: Mention) -> bool:
    """Return whether a figure of a table may be a percentage as a fraction: 0.0132 is 1.32 %."""
    return unit.is_percent and mention.unit is None and mention.grid >= 0 and mention.value <= 10


def _is_near(token: Token, value: float) -> bool:
    return any(abs(each.value - value) <= each.step for each in token.readings)


def _converts(token: Token, mention: Mention) -> bool:
    """Return whether a figure is the same quantity in another unit: 0.66 s is 655.1 ms."""
    unit, other = token.unit, mention.unit
    if unit is None or other is None or unit == other or unit.kind != other.kind or unit.is_percent:
        return False
    return _is_near(token, mention.value * other.size / unit.size)
