"""Tracing: where the claims of an answer come from. Claims first, then a search of the raw outputs."""

from __future__ import annotations

import re
import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property

from bot.library.tracing.claims import Statement, statements_of
from bot.library.tracing.cldr import plain
from bot.library.tracing.derive import Column, Operand, derive
from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.findings import Claim, Finding, Operation, Place, Reason, Verdict
from bot.library.tracing.names import misattributed_row
from bot.library.tracing.outputs import Counts, Output, ShownRow, ShownTable
from bot.library.tracing.quotes import folded
from bot.library.tracing.references import Filled
from bot.library.tracing.search import Hit, Searched, Wanted, holding
from bot.library.tracing.writing import PERCENT, value_of

_SECONDS = 0.020
"""CPU that one answer may cost; what was not looked for until then is unknown (spec: evidence 4)."""
_MOST_CHARACTERS = 2_000_000  # of outputs, the newest first
_MOST_PLACES = 3
_FEWEST_DIGITS = 3
_MOST_ROWS = 500  # of a table whose columns are summed
_COMMON = 100  # numbers up to this are in any calculation
_MOST_LITERALS = 50
_DEEPEST = 50  # of calculations that follow from each other
_FREE = {Decimal(number) for number in (360, 365, 1000, 1024, 3600, 1_000_000)}
_STANDARD = re.compile(r"(?:\b[A-Z]{2,6}[ -]?|\d/)\Z")
_SERIES = re.compile(r"([A-Za-z]{2,8}[-_/#])(\d{2,})")
_YEARS = range(1000, 2200)


@dataclass(frozen=True, slots=True)
class FilledIn:
    """A reference that was filled in: the path of its field, and what stands there."""

    path: str
    filled: Filled


@dataclass(frozen=True, slots=True)
class Traced:
    """What tracing found, in the answer's order. `is_cut`: not everything was searched, so that a
    claim that was not found is unknown."""

    items: tuple[Finding, ...] = ()
    is_cut: bool = False


def trace(
    fields: Sequence[AnswerField],
    outputs: Sequence[Output],
    filled: Sequence[FilledIn] = (),
    *,
    is_readable: bool = True,
    has_read: bool = True,
    has_material: bool = False,
    has_own_words: bool = False,
) -> Traced:
    """Trace the claims of an answer to the outputs, which are in the order of the run.

    `is_readable` is False if something was read that is no text: then a claim that is not found is
    unknown. `has_read`: the run itself has read something; `has_material`: there is something to
    read; `has_own_words`: the answer was to propose words, so that not all in quotation marks are
    quotes. Takes at most about 20 ms. Raises nothing.
    """
    spans = [(one.path, one.filled.start, one.filled.end) for one in filled]
    stated = statements_of(fields, spans)
    search = _Search.of(outputs, is_readable)
    own = [finding for one in filled if (finding := search.filled(one, fields))]
    if not stated and not own:
        return Traced()
    typed = [
        _Typed(statement, Wanted(statement.number) if statement.number else None)
        for statement in stated
    ]
    search.look_for(typed)
    search.derive(typed, own)
    is_ignored = has_material and not has_read
    for claim in typed:
        if has_own_words and claim.statement.field.kind is not FieldKind.QUOTE:
            claim.statement.is_sure &= claim.statement.kind is not Claim.QUOTE
    findings = [claim.finding(search, is_ignored=is_ignored) for claim in typed]
    order = {part.path: number for number, part in enumerate(fields)}
    items = sorted((*own, *findings), key=lambda item: (order.get(item.field, 0), item.start))
    return Traced(tuple(items), search.is_cut)


@dataclass(slots=True)
class _Typed:
    """A claim that the model typed, and what was found of it. `wanted` is its figure."""

    statement: Statement
    wanted: Wanted | None
    verdict: Verdict = Verdict.UNTRACED
    reason: Reason | None = Reason.NOT_FOUND
    places: tuple[Place, ...] = ()
    value: Decimal | None = None
    formula: str = ""
    operation: Operation | None = None
    other_row: str = ""

    def settle(self, verdict: Verdict, *places: Place) -> None:
        """Take what was found."""
        self.verdict, self.reason, self.places = verdict, None, places

    def finding(self, search: _Search, *, is_ignored: bool) -> Finding:
        """Return the finding; `is_ignored` if there was something to read and nothing was."""
        statement = self.statement
        verdict, reason, warned = self.verdict, self.reason, False
        if self.other_row and not search.is_cut:
            reason, warned = Reason.OTHER_ROW, True
        elif verdict is not Verdict.UNTRACED:
            pass
        elif search.is_cut or not search.is_readable:
            verdict = Verdict.UNKNOWN
        elif statement.kind in (Claim.QUOTE, Claim.ID):
            warned = statement.is_sure and search.has_outputs
        elif statement.kind is Claim.ADDRESS:
            warned = True
        elif is_ignored:
            reason, warned = Reason.NOTHING_READ, _is_figure_of_size(statement)
        return Finding(
            field=statement.field.path,
            text=statement.text[:300],
            start=statement.start,
            kind=statement.kind,
            verdict=verdict,
            places=self.places[:_MOST_PLACES],
            formula=self.formula,
            operation=self.operation,
            reason=reason,
            warned=warned,
        )


def _is_figure_of_size(statement: Statement) -> bool:
    """Return whether it is a figure of three digits or more, and no year."""
    number = statement.number
    if number is None or number.digits < _FEWEST_DIGITS:
        return False
    before = statement.field.text[: statement.start]
    if _STANDARD.search(before):  # RFC 4180, 2016/679
        return False
    return not (number.is_bare and number.readings[0].value in _YEARS)


@dataclass
class _Search:
    """The search through the outputs that count, the newest first."""

    outputs: list[Searched]
    has_outputs: bool
    is_readable: bool
    is_cut: bool
    _end: float = field(default_factory=lambda: time.thread_time() + _SECONDS)
    _trusted: dict[int, bool] = field(default_factory=dict)
    _depth: int = 0

    @classmethod
    def of(cls, outputs: Sequence[Output], is_readable: bool) -> _Search:
        made_up, counting = set[str](), list[Searched]()  # handles of what is made of no evidence
        makers = dict[str, Searched]()
        for output in outputs:
            is_change = output.counts is Counts.NONE
            is_made_up = is_change or not made_up.isdisjoint(output.used)
            if is_made_up:
                made_up.update(output.made)
            behind = [makers[handle] for handle in output.used if handle in makers]
            searched = Searched(output, behind)
            for handle in output.made:
                makers.setdefault(handle, searched)
            if not is_made_up or (is_change and output.text):
                counting.append(searched)
        newest, room = list[Searched](), _MOST_CHARACTERS
        for searched in reversed(counting):
            room -= len(searched.output.text)
            if room < 0:
                break
            newest.append(searched)
        read = (Counts.READ, Counts.CALCULATED)
        has_outputs = any(searched.output.counts in read for searched in newest)
        return cls(newest, has_outputs, is_readable, len(newest) < len(counting))

    def _in_time(self, some: Iterable[Searched] | None = None) -> Iterable[Searched]:
        for searched in self.outputs if some is None else some:
            if time.thread_time() > self._end:
                self.is_cut = True
                return
            yield searched

    def look_for(self, claims: Sequence[_Typed]) -> None:
        with_figures = self._with_figures([claim.wanted for claim in claims if claim.wanted])
        for claim in claims:
            match claim.statement.kind:
                case Claim.QUOTE:
                    self._quote(claim)
                case Claim.ADDRESS:
                    self._address(claim)
                case Claim.ID:
                    self._id(claim)
                case Claim.DATE:
                    self._date(claim)
                case Claim.FIGURE:
                    self._figure(claim, with_figures)

    def _with_figures(self, figures: Sequence[Wanted]) -> list[Searched]:
        """Return the outputs in which one of some figures is spelled as an answer or a tool does."""
        if not figures:
            return []
        holds = holding(spelling for wanted in figures for spelling in wanted.spellings)
        return [searched for searched in self._in_time() if holds(searched.plain)]

    def _figure(self, claim: _Typed, with_figures: Sequence[Searched]) -> None:
        statement, wanted, hits = claim.statement, claim.wanted, list[Hit]()
        assert wanted  # noqa: S101 - that is what makes it a figure
        for is_spelled, outputs in ((True, with_figures), (False, self.outputs)):
            for searched in self._in_time(outputs):
                if statement.text not in searched.output.untraced and self._trusts(searched):
                    hits += searched.numbers(wanted, is_spelled=is_spelled)
            if hits:
                break
        if not hits:
            return
        named = [
            hit
            for hit in hits
            if hit.cell and hit.cell.key and hit.cell.key in statement.field.text
        ]
        cells = [hit for hit in hits if hit.cell]
        best = (named or cells or hits)[0]
        claim.value = best.value
        if best.searched.output.counts is Counts.CALCULATED:
            claim.settle(Verdict.WORKED_OUT, best.place)
            claim.formula = best.searched.formula
            return
        claim.settle(Verdict.READ, *_places([best, *hits]))
        if _misattributed_row(statement, hits):
            # Sure only if it stands in no other row either, in another notation or rounded.
            for searched in self._in_time():
                hits += searched.numbers(wanted, is_spelled=False)
            claim.other_row = _misattributed_row(statement, hits)

    def _trusts(self, searched: Searched) -> bool:
        """Return whether an output counts: the numbers of a calculation, and of what the output was
        made of, were read or are common."""
        known = self._trusted.get(id(searched))
        if known is None:
            if self._depth >= _DEEPEST:
                return False
            self._depth += 1
            self._trusted[id(searched)] = False  # it proves nothing of itself
            makers = [
                self._makers[handle] for handle in searched.output.used if handle in self._makers
            ]
            known = all(map(self._trusts, makers)) and self._is_of_read(searched)
            self._depth -= 1
            self._trusted[id(searched)] = known
        return known

    def _is_of_read(self, searched: Searched) -> bool:
        if searched.output.counts is not Counts.CALCULATED:
            return True
        earlier = self.outputs[self.outputs.index(searched) + 1 :]
        numbers = [n for n in searched.literals if n > _COMMON and n not in _FREE]
        return all(
            any(other.has(number) for other in earlier if self._trusts(other))
            for number in numbers[:_MOST_LITERALS]
        )

    @cached_property
    def _makers(self) -> dict[str, Searched]:
        """The calculations that made a handle, by it."""
        return {
            handle: searched
            for searched in self.outputs
            if searched.output.counts is Counts.CALCULATED
            for handle in searched.output.made
        }

    def _date(self, claim: _Typed) -> None:
        statement = claim.statement
        moment = statement.moment
        for searched in self._in_time():
            place = searched.moment(moment) if moment else None
            if place:
                claim.settle(Verdict.READ, place)
                return

    def _id(self, claim: _Typed) -> None:
        text = claim.statement.text
        digits = re.sub(r"\D", "", text).lstrip("0")
        is_phone = not re.search(r"[A-Za-z#]", text)
        for searched in self._in_time():
            place = searched.phone(digits) if is_phone else searched.words(text)
            if place:
                claim.settle(Verdict.READ, place)
                return
        if series := _SERIES.fullmatch(text):
            claim.statement.is_sure |= any(
                searched.has_series(series[1], len(series[2])) for searched in self._in_time()
            )

    def _address(self, claim: _Typed) -> None:
        wanted = _bare(claim.statement.text)
        for searched in self._in_time():
            output = searched.output
            addresses = [output.link, *(source.url for source in output.sources)]
            at = searched.plain.casefold().find(wanted)
            if at >= 0 or wanted in map(_bare, addresses):
                start, length = max(at, 0), len(wanted) * (at >= 0)
                claim.settle(Verdict.READ, searched.place(start, start + length))
                return

    def _quote(self, claim: _Typed) -> None:
        """Find a quote word for word or nearly. That of a known source must be in it."""
        quote = claim.statement.text
        title, words = folded(claim.statement.field.source), folded(quote)
        everywhere = [s for s in self._in_time() if words not in s.arguments]
        titled = [
            searched
            for searched in everywhere
            if title and title in {folded(source.title) for source in searched.output.sources}
        ]
        searchable = titled or everywhere
        for searched in searchable:
            if (line := searched.folded.find(quote)) is not None:
                claim.settle(Verdict.READ, searched.place_on_line(line, quote))
                return
        for searched in searchable:
            if (line := searched.folded.near(quote)) is not None:
                claim.settle(Verdict.NEAR_QUOTE, searched.place_on_line(line, quote))
                return
        for searched in everywhere if titled else ():
            if (line := searched.folded.find(quote)) is not None:
                claim.reason = Reason.OTHER_SOURCE
                claim.places = (searched.place_on_line(line, quote),)
                return

    def filled(self, reference: FilledIn, fields: Sequence[AnswerField]) -> Finding | None:
        """Return the finding of a reference: its cell, unless that is a literal of its own call."""
        cell = reference.filled.cell
        answer_field = next((one for one in fields if one.path == reference.path), None)
        if answer_field is None or cell.output.counts is Counts.NONE:
            return None
        text = answer_field.text[reference.filled.start : reference.filled.end]
        searched = next((one for one in self.outputs if one.output is cell.output), None)
        if searched is None or not any(map(str.isdecimal, text)):
            return None
        value = value_of(cell.text)
        if value is not None and abs(value) in searched.constants:
            return None
        if not self._trusts(searched):
            return None
        place = searched.cell_place(cell)
        other = ""
        if row := searched.row(cell):
            at = reference.filled.start, reference.filled.end
            other = misattributed_row(answer_field, *at, *row, is_exact=True, is_reference=True)
        return Finding(
            field=reference.path,
            text=text[:300],
            start=reference.filled.start,
            kind=Claim.FIGURE,
            verdict=Verdict.READ,
            places=(place,),
            reference=reference.filled.reference,
            reason=Reason.OTHER_ROW if other else None,
            warned=bool(other),
        )

    @cached_property
    def columns(self) -> list[Column]:
        """The columns of the tables that were shown, the newest first."""
        return [column for searched in self.outputs for column in _columns(searched)]

    def derive(self, typed: Sequence[_Typed], own: Sequence[Finding]) -> None:
        """Find by which arithmetic the figures that were not read follow from those that were."""
        missing = [
            claim for claim in typed if claim.statement.number and claim.verdict is Verdict.UNTRACED
        ]
        if not missing or time.thread_time() > self._end:
            return
        operands = [
            Operand(
                float(claim.value), number.is_percent, claim.statement.field.path, claim.places[0]
            )
            for claim in typed
            if claim.value is not None and (number := claim.statement.number)
        ]
        operands += [
            Operand(float(value), "%" in finding.text, finding.field, finding.places[0])
            for finding in own
            if (value := value_of(finding.places[0].text)) is not None
        ]
        for claim in missing:
            assert claim.statement.number  # noqa: S101 - see above
            path = claim.statement.field.path
            if derived := derive(claim.statement.number, path, operands, lambda: self.columns):
                claim.settle(Verdict.WORKED_OUT, *derived.places)
                claim.formula, claim.operation = derived.formula, derived.operation


def _misattributed_row(statement: Statement, hits: Sequence[Hit]) -> str:
    """Return the name of the row that a figure is told of if in each table it stands in one row, and
    in none in that one; else "". What stands outside of tables may be of anything."""
    rows = dict[tuple[str, str], dict[int, tuple[ShownTable, ShownRow]]]()
    with_tables = {id(hit.searched) for hit in hits if hit.table}
    for hit in hits:
        if hit.table and hit.row:
            key = hit.searched.output.call_id, hit.table.handle
            rows.setdefault(key, {})[hit.row.number] = (hit.table, hit.row)
        elif id(hit.searched) not in with_tables:  # else it is in the profile of the table
            return ""
    end = statement.start + len(statement.text)
    if statement.number is None or statement.number.digits < _FEWEST_DIGITS:
        return ""  # such a figure may come from anywhere
    is_percent = statement.number.is_percent
    columns = [hit.cell.column for hit in hits if hit.cell is not None]
    if is_percent and not all(map(PERCENT.search, columns)):
        return ""  # 9.3 minutes are no 9.3 %
    cells = {(hit.row.cells, hit.cell.column) for hit in hits if hit.row and hit.cell}
    is_exact = len(cells) == 1
    told = set[str]()
    for in_table in rows.values():
        names = {
            misattributed_row(statement.field, statement.start, end, table, row, is_exact=is_exact)
            for table, row in in_table.values()
        }
        if len(in_table) > 1 and "" in names:
            return ""
        told |= names
    return "" if "" in told else next(iter(told), "")


def _columns(searched: Searched) -> Iterator[Column]:
    """Yield the columns of figures of the tables that an output shows."""
    for table in searched.output.tables if searched.output.counts is Counts.READ else ():
        rows = table.rows[: _MOST_ROWS + 1]
        if not 1 < len(rows) <= _MOST_ROWS:
            continue
        for number, cells in enumerate(zip(*(row.cells for row in rows), strict=True)):
            values = [float(value) for cell in cells if (value := value_of(cell)) is not None]
            if len(values) == len(cells):
                yield Column(tuple(values), searched.cell_place(table.cell(rows[0], number)))


def _places(hits: Sequence[Hit]) -> list[Place]:
    unique = dict[tuple[str, int, str], Place]()
    for hit in hits[: 2 * _MOST_PLACES]:
        place = hit.place
        unique.setdefault((place.call_id, place.line, place.column), place)
    return list(unique.values())


def _bare(address: str) -> str:
    bare = plain(address)[0].casefold().partition("#:~:")[0].removeprefix("mailto:")
    return bare.rstrip("/.,)")
