"""Claims: the figures, dates, ids, addresses and quotes that an answer states, in their sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from bot.library.tracing.fields import AnswerField, FieldKind
from bot.library.tracing.findings import Claim
from bot.library.tracing.dates import Clock, Day, clocks_in, dates_in
from bot.library.tracing.numerals import Number, numbers_in
from bot.library.tracing.quotes import Quote, is_long_enough, is_sure, quotes_in

MOST_CLAIMS = 200
_MOST_CHARACTERS = 20_000  # of an answer
_SMALL = 12
_LEFT_OUT = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`|<[@#!][^>\n]{1,80}>", re.DOTALL)
_PLACEHOLDER = re.compile(r"\[[^\]\n]{1,80}\](?!\()")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=\S)|[。！？\n]+|;\s")
_ADDRESS = re.compile(
    r"(?:https?://|www\.)[^\s<>)\]\"“”]+|(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+"
)
_PHONE = re.compile(r"(?<![\w.,+])(?:\+|00|0(?=\d{2})|\(0)\d[\d\s()/-]{5,20}\d(?![\w,.]\d)")
_FEWEST_PHONE_DIGITS = 8
_ID = re.compile(
    r"(?<![\w/.#-])(?:#\d{2,}|(?=[\w/.-]*\d)(?=[\w/.-]*[A-Za-z])[A-Za-z0-9_]+(?:[-_/.][A-Za-z0-9_]+)*)(?![A-Za-z0-9_])"
)
_MEASURE = re.compile(
    r"[\d.,]+[^\W\d_]{1,4}\d{0,2}[²³]?|v?\d+(?:\.\d+){2,}\w*|\d{4}-\d\d-\d\dT.*", re.IGNORECASE
)
_PERIOD = re.compile(r"(?:\d{4}[-/_]?)?(?:[qthskw]|fy|cy|kw|cw)[-/_ ]?\d{1,4}(?:[-/_]\d{2,4})?", re.IGNORECASE)
_HANDLE = re.compile(r"[a-z]{3,5}_[0-9a-z]{6,16}")
_SURE_ID = re.compile(r"#\d{3,}|[A-Za-z]{1,8}[-_/]?\d{3,}(?:[-_/.]\w+)*|(?=(?:\w*\d){3})\w*[A-Z]\w{5,}|(?=\d*[a-f])(?=[a-f]*\d)[0-9a-f]{7,40}|(?:\w+-){1,4}\w*\d{3}\w*")
_STANDARDS = re.compile(
    r"(?:iso|iec|din|en|rfc|utf|sha|md|aes|rsa|covid|gpt|http|ieee|wltp|tls|ean|ascii|a4|int|float)[-_/]?\d.*",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Statement:
    """A claim as an answer states it. `number`, `day`, `clock` or `quote` is what it was read as;
    an id or an address has none of these. `sentence` is where it stands, `before` what of the
    sentence is before it. `is_sure`: if nothing gave it, it is wrong."""

    field: AnswerField
    kind: Claim
    start: int
    text: str
    sentence: str = ""
    before: str = ""
    number: Number | None = None
    day: Day | None = None
    clock: Clock | None = None
    quote: Quote | None = None
    is_sure: bool = False


def statements_of(
    fields: Sequence[AnswerField], filled: Sequence[tuple[str, int, int]] = ()
) -> list[Statement]:
    """Return the claims of an answer, the first 200 in 20,000 characters. What code has filled in, by
    path, start and end, is none."""
    stated, room = list[Statement](), _MOST_CHARACTERS
    for field in fields:
        room -= len(field.text)
        if room < 0:
            break
        spans = [(start, end) for path, start, end in filled if path == field.path]
        for statement in _statements(field, spans):
            if len(stated) == MOST_CLAIMS:
                return stated
            stated.append(statement)
    return stated


def _statements(field: AnswerField, filled: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    match field.kind:
        case FieldKind.ADDRESS:
            yield Statement(field, Claim.ADDRESS, 0, field.text.strip(), is_sure=True)
        case FieldKind.QUOTE if is_long_enough(field.text):
            quote = Quote(0, len(field.text), field.text.strip(' "“”„«»'))
            yield Statement(field, Claim.QUOTE, 0, quote.text, quote=quote, is_sure=True)
        case FieldKind.QUOTE:
            return
        case _:
            yield from _in_text(field, filled)


def _in_text(field: AnswerField, filled: Sequence[tuple[int, int]]) -> Iterator[Statement]:
    text = _LEFT_OUT.sub(_blank, field.text)
    if is_draft := field.path.startswith("draft"):
        text = _PLACEHOLDER.sub(_blank, text)
    ends = [0, *(match.end() for match in _SENTENCE.finditer(text)), len(text)]

    def statement(kind: Claim, start: int, words: str, **read: object) -> Statement:
        first = max(end for end in ends if end <= start)
        last = min((end for end in ends if end > start), default=len(text))
        sentence, before = field.text[first:last], field.text[first:start]
        return Statement(field, kind, start, words, sentence, before, **read)  # type: ignore[arg-type]

    for quote in quotes_in(text):
        sure = is_sure(quote.text) and not is_draft
        yield statement(Claim.QUOTE, quote.start, quote.text, quote=quote, is_sure=sure)
        text = _without(text, quote.start, quote.end)
    for start, end in filled:
        text = _without(text, start, end)
    for match in _ADDRESS.finditer(text):
        address = match[0].rstrip(".,;:!?'*_")
        yield statement(Claim.ADDRESS, match.start(), address, is_sure=True)
    text = _ADDRESS.sub(_blank, text)
    for match in _PHONE.finditer(text):
        if sum(map(str.isdigit, match[0])) >= _FEWEST_PHONE_DIGITS:
            yield statement(Claim.ID, match.start(), match[0], is_sure=True)
            text = _without(text, *match.span())
    for match in _ID.finditer(text):
        if _MEASURE.fullmatch(match[0]):
            continue  # a number or a date, which is read as such
        if not _HANDLE.fullmatch(match[0]) and not _PERIOD.fullmatch(match[0]):
            sure = bool(_SURE_ID.fullmatch(match[0])) and not _STANDARDS.fullmatch(match[0])
            if sum(map(str.isdigit, match[0])) > 1:
                yield statement(Claim.ID, match.start(), match[0], is_sure=sure)
        text = _without(text, *match.span())
    for day in dates_in(text):
        if not day.may_be_number:
            yield statement(Claim.DATE, day.start, day.text, day=day)
            text = _without(text, day.start, day.end)
    for clock in clocks_in(text):
        if not clock.may_be_number:
            yield statement(Claim.DATE, clock.start, clock.text, clock=clock)
            text = _without(text, clock.start, clock.end)
    for number in numbers_in(text):
        if not _is_small(number):
            yield statement(Claim.FIGURE, number.start, number.text, number=number)


def _is_small(number: Number) -> bool:
    return number.is_bare and number.value <= _SMALL


def _blank(match: re.Match[str]) -> str:
    return " " * len(match[0])


def _without(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]
