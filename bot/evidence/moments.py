"""Moments: looks up dates and times of an answer, and what follows from the day of the question."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import date, timedelta

from bot.core.findings import Operation, Reason, Verdict
from bot.evidence.claims import Claim
from bot.evidence.dates import Day, numeric, weekdays
from bot.evidence.evidence import Evidence
from bot.evidence.fields import FieldKind
from bot.evidence.figures import told_rows, trace_figure
from bot.evidence.indexing import IndexedOutput
from bot.evidence.places import place_at
from bot.evidence.tokens import Token, tokens

_MOST_AHEAD = timedelta(days=14)
_SMALL = 12
_NEXT_DAY = re.compile(
    r"\b(?:tomorrow|yesterday|morgen|gestern|demain|hier|mañana|ayer|amanhã|ontem)\b|明日|昨日"
)
_TIMESTAMP = re.compile(r"\[(\d{4}-\d\d-\d\d)")


def trace_date(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in a date that was read, is today, or is the weekday that somebody named."""
    found = [evidence.day(each) for each in token.days]
    is_range = any(map(str.isalpha, token.text))
    if all(found) if is_range else any(found):
        claim.found(Verdict.READ, *(each for each in found if each))
        if _is_of_other_row(claim, token, evidence):
            claim.verdict, claim.reason = Verdict.UNTRACED, Reason.OTHER_ROW
    elif any(
        _is_told_by_today(each, evidence) or _is_named_weekday(each, evidence)
        for each in token.days
    ):
        claim.found(Verdict.WORKED_OUT)
        claim.operation = Operation.DATE
    elif token.readings:
        trace_figure(claim, token, evidence)
    elif "/" in token.text and not any(each.year for each in token.days):
        parts = [float(each) for each in re.findall(r"\d+", token.text)]
        claim.is_small = max(parts) <= _SMALL or all(evidence.has_between(n, n) for n in parts)


def _is_of_other_row(claim: Claim, token: Token, evidence: Evidence) -> bool:
    """Return whether the rows of a cell's name have dates in what was read, but not this one."""
    if claim.part.kind is not FieldKind.CELL:
        return False
    cells = {cell for name in told_rows(claim, evidence) for cell in evidence.cells_named(name)}
    days = {key for cell in cells for each in tokens(cell) for day in each.days for key in day.keys}
    return bool(days) and not days & set(token.days)


def trace_clock(claim: Claim, token: Token, evidence: Evidence) -> None:
    """Fill in a time of day that was read."""
    for output in evidence.newest_first:
        if token.clock and (found := output.clocks.get(token.clock)):
            claim.found(Verdict.READ, place_at(output, found.start, found.end))
            return


def _is_told_by_today(day: Day, evidence: Evidence) -> bool:
    """Return whether a date is today, or the day before or after where somebody says so."""
    if not day.is_near(evidence.today):
        return False
    is_today = day.is_near(evidence.today, days=0)
    return is_today or any(_NEXT_DAY.search(each.folded.text) for each in evidence.outputs)


def _is_named_weekday(day: Day, evidence: Evidence) -> bool:
    """Return whether a date is within two weeks after somebody named its weekday: "by Friday"."""
    today = evidence.today
    full = day.full or (Day(today.year, day.month, day.day).full if today else None)
    if full is None:
        return False
    number = full.weekday()
    if number not in evidence.weekdays:
        evidence.weekdays[number] = set(_days_naming(number, evidence))
    return any(said < full <= said + _MOST_AHEAD for said in evidence.weekdays[number])


def _days_naming(weekday: int, evidence: Evidence) -> Iterator[date]:
    """Yield the days on which somebody named a weekday."""
    names = [name for name, number in weekdays().items() if number == weekday]
    pattern = re.compile(rf"(?<!\w)(?:{'|'.join(map(re.escape, names))})(?!\w)")
    for output in evidence.outputs:
        for found in pattern.finditer(output.folded.text):
            line = output.folded.line_at(found.start())
            if said := _day_of_line(output, line) or evidence.today:
                yield said


def _day_of_line(output: IndexedOutput, line: int) -> date | None:
    """Return the date at the beginning of a message's line."""
    found = _TIMESTAMP.match(output.entry.text, output.starts[line])
    days = numeric(found[1]) if found else []
    return days[0].full if days else None
