"""Claims: the figures, dates, ids, addresses and quotes that an answer states, in their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice

from bot.library.tracing.dates import Clock, Day, clocks_in, dates_in
from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.findings import Claim
from bot.library.tracing.numerals import Number, decimal_mark_of, numbers_in
from bot.library.tracing.quotes import is_long_enough, is_sure, proposes, quotes_in

MOST_CLAIMS = 200
_MOST_CHARACTERS = 10_000  # of an answer
_MOST_RUNS = 600  # of digits
_SMALL = 12
_LONGEST_ID = 80
_INTRODUCTION = 60  # characters before a quote that say whose words it is
_LEFT_OUT = re.compile(
    r"```.*?(?:```|\Z)|^[ \t]*~~~.*?(?:^[ \t]*~~~[~ \t]*$|\Z)|`[^`\n]*`|<[@#!][^>\n]{1,80}>",
    re.DOTALL | re.MULTILINE,
)
_PLACEHOLDER = re.compile(r"\[[^\]\n]{1,80}\](?!\()")
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>|)\]\"“”]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
)
_PHONE = re.compile(r"(?<![\w.,+])(?:\+|00|0(?=\d{2})|\(0)\d[\d\s()/-]{5,20}\d(?![\w,.]\d)")
_FEWEST_PHONE_DIGITS = 8
_ID = re.compile(
    r"(?<![A-Za-z0-9_/.#-])(?:#\d{2,}"
    r"|(?=[A-Za-z0-9_/.-]*\d)(?=[A-Za-z0-9_/.-]*[A-Za-z])[A-Za-z0-9_]+(?:[-_/.][A-Za-z0-9_]+)*)(?![A-Za-z0-9_])"
)
_MEASURE = re.compile(
    r"[\d.,]+[^\W\d_]{1,4}\d{0,2}[²³]?|v?\d+(?:\.\d+){2,}\w*|\d{4}-\d\d-\d\dT.*|[a-zµ]{1,3}/\d+",
    re.IGNORECASE,
)
_PERIOD = re.compile(
    r"(?:\d{4}[-/_]?)?(?:[qthskw]|fy|cy|kw|cw)[-/_ ]?\d{1,4}(?:[-/_]\d{2,4})?", re.IGNORECASE
)
_HANDLE = re.compile(r"[a-z]{3,5}_[0-9a-z]{6,16}")
_SURE_ID = re.compile(
    r"#\d{3,}|[A-Za-z]{1,8}[-_/]?\d{3,}(?:[-_/.]\w+)*|(?=(?:[\w-]*\d){3})(?=(?:[\w-]*[A-Z]){2})[\w-]{6,}"
    r"|(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}|(?:\w+-){1,4}\w*\d{3}\w*"
)
_STANDARDS = re.compile(
    r"(?:iso|iec|din|en|rfc|utf|sha|md|aes|rsa|covid|gpt|http|ieee|wltp|tls|ean|ascii|a4|int|float)[-_/]?\d.*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Statement:
    """A claim as an answer states it: `text`, which begins at `start` of its field. `number` is what a
    figure was read as, `moment` a date or time. `is_sure`: if nothing gave it, it is wrong."""

    field: AnswerField
    kind: Claim
    start: int
    text: str
    number: Number | None = None
    moment: Day | Clock | None = None
    is_sure: bool = False


def statements_of(
    fields: Sequence[AnswerField], filled: Sequence[tuple[str, int, int]] = ()
) -> list[Statement]:
    """Return the claims of an answer, the first 200 in 10,000 characters. What code has filled in, by
    path, start and end, is none."""
    stated, room = list[Statement](), _MOST_CHARACTERS
    text = "\n".join(field.text for field in fields)[:_MOST_CHARACTERS]
    mark = decimal_mark_of(text[: _end_of_runs(text)])
    for field in fields:
        room -= len(field.text)
        if room < 0:
            break
        spans = [(start, end) for path, start, end in filled if path == field.path]
        for statement in _statements(field, spans, mark):
            if len(stated) == MOST_CLAIMS:
                return stated
            stated.append(statement)
    return stated


def _statements(
    field: AnswerField, filled: Sequence[tuple[int, int]], mark: str
) -> Iterator[Statement]:
    match field.kind:
        case FieldKind.ADDRESS:
            yield Statement(field, Claim.ADDRESS, 0, field.text.strip(), is_sure=True)
        case FieldKind.QUOTE if is_long_enough(field.text):
            words = field.text.strip(' "“”„«»')
            yield Statement(field, Claim.QUOTE, 0, words, is_sure=True)
        case FieldKind.QUOTE:
            return
        case _:
            yield from _Reader(field, filled, mark).statements()


class _Reader:
    """Reads the claims of a text, kind by kind: what one has taken is blank for the next."""

    def __init__(self, field: AnswerField, filled: Sequence[tuple[int, int]], mark: str) -> None:
        self._field, self._filled, self._mark = field, filled, mark
        self._is_draft = field.path.startswith("draft")
        self._left = _LEFT_OUT.sub(_blank, field.text)
        if self._is_draft:
            self._left = _PLACEHOLDER.sub(_blank, self._left)

    def statements(self) -> Iterator[Statement]:
        yield from self._quotes()
        self._left = self._left[: _end_of_runs(self._left)]
        for start, end in self._filled:
            self._take(start, end)
        yield from self._addresses()
        yield from self._phones()
        yield from self._ids()
        yield from self._moments()
        for number in numbers_in(self._left, decimal_mark=self._mark):
            if not _is_small(number):
                yield self._statement(Claim.FIGURE, number.start, number.text, number=number)

    def _quotes(self) -> Iterator[Statement]:
        for quote in quotes_in(self._left):
            before = self._field.text[max(0, quote.start - _INTRODUCTION) : quote.start]
            is_own = self._is_draft or proposes(before.rpartition("\n")[2])
            sure = is_sure(quote.text) and not is_own
            yield self._statement(Claim.QUOTE, quote.start, quote.text, is_sure=sure)
            self._take(quote.start, quote.end)

    def _addresses(self) -> Iterator[Statement]:
        for match in _ADDRESS.finditer(self._left):
            address = match[0].rstrip(".,;:!?'*_")
            yield self._statement(Claim.ADDRESS, match.start(), address, is_sure=True)
        self._left = _ADDRESS.sub(_blank, self._left)

    def _phones(self) -> Iterator[Statement]:
        for match in _PHONE.finditer(self._left):
            if sum(map(str.isdigit, match[0])) >= _FEWEST_PHONE_DIGITS:
                yield self._statement(Claim.ID, match.start(), match[0], is_sure=True)
                self._take(*match.span())

    def _ids(self) -> Iterator[Statement]:
        for match in _ID.finditer(self._left):
            word = match[0]
            if len(word) > _LONGEST_ID or _MEASURE.fullmatch(word):
                continue  # a number or a date, which is read as such
            self._take(*match.span())
            is_id = not _HANDLE.fullmatch(word) and not _PERIOD.fullmatch(word)
            if is_id and sum(map(str.isdigit, word)) > 1:
                sure = _SURE_ID.fullmatch(word) and not _STANDARDS.fullmatch(word)
                yield self._statement(Claim.ID, match.start(), word, is_sure=bool(sure))

    def _moments(self) -> Iterator[Statement]:
        for day in dates_in(self._left):
            if not day.may_be_number:
                yield self._statement(Claim.DATE, day.start, day.text, moment=day)
                self._take(day.start, day.end)
        for clock in clocks_in(self._left):
            if not clock.may_be_number:
                yield self._statement(Claim.DATE, clock.start, clock.text, moment=clock)
                self._take(clock.start, clock.end)

    def _take(self, start: int, end: int) -> None:
        self._left = self._left[:start] + " " * (end - start) + self._left[end:]

    def _statement(
        self,
        kind: Claim,
        start: int,
        words: str,
        *,
        number: Number | None = None,
        moment: Day | Clock | None = None,
        is_sure: bool = False,
    ) -> Statement:
        return Statement(self._field, kind, start, words, number, moment, is_sure)


def _is_small(number: Number) -> bool:
    return number.is_bare and number.value <= _SMALL


def _end_of_runs(text: str) -> int:
    """Return where so many numbers have been written that no more are read."""
    last = next(islice(re.finditer(r"\d+", text), _MOST_RUNS, None), None)
    return last.start() if last else len(text)


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])
