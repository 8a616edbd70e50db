"""Tokens: the whole figures, dates, times, phone numbers, ids and addresses of a text.

The whole token is taken first: 4.12.3 is a version and holds no 4.12, and the digits of a link are
none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum, auto

from bot.evidence import dates
from bot.evidence.characters import plain
from bot.evidence.dates import Day
from bot.evidence.notations import DIGITS, Mark, Reading, chosen, readings
from bot.evidence.units import Unit, suffix, unit_before


class Kind(Enum):
    """The kind of a token."""

    FIGURE = auto()
    DATE = auto()
    CLOCK = auto()
    PHONE = auto()
    ID = auto()
    ADDRESS = auto()


@dataclass(slots=True)
class Token:
    """A token of a text, from `start` to `end`.

    A figure (and a date that may be one) has its `digits` as written, its `readings` in its scale
    and without its sign, `sign` ("+", "-" or ""), its `unit`, and `spaced` where spaces may only
    separate several numbers. A date has `days`, of which any may be meant; a time has `clock`. Of a
    phone number, `digits` are all digits.
    """

    kind: Kind
    start: int
    end: int
    text: str
    digits: str = ""
    readings: tuple[Reading, ...] = ()
    sign: str = ""
    unit: Unit | None = None
    days: tuple[Day, ...] = ()
    clock: tuple[int, int] | None = None

    @property
    def is_bare(self) -> bool:
        """Whether it is a whole number without sign and unit."""
        return self.digits.isdecimal() and not self.sign and self.unit is None


PIECE = 4_000
"""Characters that one pattern sees at once, so that no search holds the interpreter for long."""

_LONGEST = 24  # digits of a figure; more are an id
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|）」»”]+|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63})+"
)
_WORD = r"[A-Za-z0-9_]"
_TOKEN = re.compile(
    rf"(?<!{_WORD})(?:"
    rf"(?P<moment>\d{{4}}-\d\d-\d\d[T ](?P<time>\d\d:\d\d(?::\d\d(?:\.\d+)?)?)(?:Z|[+-]\d\d:?\d\d)?)"
    rf"|(?P<id>[A-Za-z][A-Za-z_]{{0,40}}+(?:-[A-Za-z_]{{1,40}}+){{0,4}}[-_#]?\d{_WORD}*(?:[-./:]{_WORD}+)*"
    rf"|(?!\d{{1,2}}h[0-5]\d(?!{_WORD}))\d+[A-Za-z]+\d{_WORD}*(?:-{_WORD}+)*|\d+-[A-Za-z]+\d{_WORD}*"
    r"|\d{2}\.\d{3}\.\d{3}/\d{4}-\d{2}|\d{4}/\d{2}(?!\d))"
    rf"|(?P<date>{dates.NUMERIC})"
    rf"|(?P<clock>{dates.CLOCK})"
    r"|(?P<version>\d+(?:\.\d+){2,}(?!\d|,\d))"
    r"|(?P<phone>\(?0\d{1,4}\)?[ /\xa0-]\d{2,}(?:[ \xa0-]?\d{2,})*)"
    r"|(?P<serial>\d{4,}(?:-\d{1,9}){1,4}|\d{1,9}(?:-\d{1,9}){0,3}-\d{4,})"
    rf"|(?P<number>{DIGITS}))"
    r"|(?P<plus>\+\d[\d\xa0 ()/.-]{6,24}\d)",
    re.IGNORECASE,
)
_SIGNS = re.compile(
    r"(?<![A-Za-z0-9)\]])([+-])(?:us\$|r\$|[$€£¥₹]|[a-z]{3})?[ \xa0]?$", re.IGNORECASE
)
_MAN = re.compile(r"(\d[\d,]*)万(\d[\d,]*)(?=円|人|$|[^\d])")
_PHONE_DIGITS = 7
_SKIPPED = re.compile(r"(?:st|nd|rd|th|º|ª)\b|s\b|/7\b", re.IGNORECASE)
_BREAK = re.compile(r"\s(?=\S*$)")


def tokens(text: str, *, mark: Mark = Mark.UNKNOWN) -> Iterator[Token]:
    """Yield the tokens of a text in order.

    With a decimal `mark`, figures have the readings that fit.

    Takes linear time, and looks at 4,000 characters at once.
    """
    start = 0
    text = plain(text)
    while start < len(text):
        piece = text[start : start + PIECE]
        if start + len(piece) < len(text) and (found := _BREAK.search(piece, PIECE - 200)):
            piece = piece[: found.end()]
        for each in _piece(piece, mark):
            each.start += start
            each.end += start
            yield each
        start += len(piece)


def _piece(text: str, mark: Mark) -> Iterator[Token]:
    if "://" in text or "@" in text:
        for found in _ADDRESS.finditer(text):
            address = found[0].rstrip(".,;:!?*_)]")
            end = found.start() + len(address)
            yield Token(Kind.ADDRESS, found.start(), end, address)
        text = _ADDRESS.sub(lambda found: " " * len(found[0]), text)
    at = 0
    for found in _TOKEN.finditer(text):
        if found.start() >= at and (token := _token(text, found, mark)):
            at = token.end
            yield token


def _token(text: str, found: re.Match[str], mark: Mark) -> Token | None:
    (start, end), said, kind = found.span(), found[0], found.lastgroup
    if kind in ("id", "serial"):
        return _id(text, found, mark)
    token = None
    if (
        kind in ("moment", "date")
        and not said.endswith("/7")
        and (days := dates.numeric(said[:10] if kind == "moment" else said))
    ):
        at = dates.clock(said[11:16], "") if kind == "moment" else None
        token = Token(Kind.DATE, start, end, said, days=tuple(days), clock=at)
        if said.count(".") == 2 and said.endswith("."):  # "4.5." is 4 May, or ends a sentence
            token.digits, token.readings = said[:-1], tuple(chosen(said[:-1], mark))
    elif kind == "clock":
        at = dates.clock(said, text[end : end + 5])
        token = Token(Kind.CLOCK, start, end, said, clock=at)
    elif kind == "version" and not _THOUSANDS.fullmatch(said):
        token = Token(Kind.ID, start, end, said)
    elif kind in ("phone", "plus"):
        digits = "".join(filter(str.isdigit, said))
        if len(digits) >= _PHONE_DIGITS:
            token = Token(Kind.PHONE, start, end, said, digits=digits)
    return token or _figure(text, start, mark)


def _id(text: str, found: re.Match[str], mark: Mark) -> Token | None:
    """Return an id; or the figure in "EUR640" and in a range of years or amounts."""
    start, said = found.start(), found[0]
    if found.lastgroup == "serial":
        first, _, last = said.partition("-")
        if last.isdecimal() and len(first) == len(last) and int(first) < int(last):
            return _figure(text, start, mark)
    elif said[:3].isalpha() and said[3].isdecimal() and unit_before(text, start + 3)[0]:
        return _figure(text, start + 3, mark)
    return Token(Kind.ID, start, found.end(), said)


_THOUSANDS = re.compile(r"\d{1,3}(?:\.\d{3})+")
_NUMBER = re.compile(DIGITS)


def _figure(text: str, start: int, mark: Mark) -> Token | None:
    """Return the number at `start`, or the date that it begins or ends."""
    found = _NUMBER.match(text, start)
    if found is None:  # the parenthesis of what is no phone number
        return None
    digits, end = found[0], found.end()
    if len(digits) > _LONGEST and digits.isdecimal():
        return Token(Kind.ID, start, end, digits)
    before, after = text[max(0, start - 2) : start], text[end : end + 2]
    is_alone = after[:1] in _PLAIN_ENDS and before[-1:] in _PLAIN_ENDS
    if is_alone or (digits.isdecimal() and not _has_words(before, after)):
        return Token(
            Kind.FIGURE, start, end, digits, digits=digits, readings=tuple(chosen(digits, mark))
        )
    if digits.isdecimal() and (worded := dates.worded(text, start, end)):
        days, first, end = worded
        return Token(Kind.DATE, first, end, text[first:end], days=tuple(days))
    if _SKIPPED.match(text, end):  # 1st, 1990s, 24/7
        return None
    if man := _MAN.match(text, start):
        high, low = (readings(each)[0].value for each in man.groups())
        meant: list[Reading] = [Reading(high * 1e4 + low, 1.0)]
        end = man.end()
    else:
        meant = chosen(digits, mark)
    unit, first = unit_before(text, start)
    more = suffix(text, end, has_currency=unit is not None)
    sign = _SIGNS.search(text, max(0, first - 8), start)
    if more.scale != 1:
        meant = [Reading(each.value * more.scale, each.step * more.scale) for each in meant]
    first = min(first, sign.start(1)) if sign else first
    return Token(
        Kind.FIGURE,
        first,
        more.end,
        text[first : more.end].strip(),
        digits=digits,
        readings=tuple(meant),
        sign=sign[1] if sign else "",
        unit=unit or more.unit,
    )


def _has_words(before: str, after: str) -> bool:
    """Return whether a sign, a unit or the name of a month may stand beside a number."""
    return not (before + after).isascii() or any(map(_BESIDE, before + after))


_PLAIN_ENDS = frozenset(["", ",", ";", "\t", "|", "\n", "]", "}"])
_BESIDE = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ%$+-./").__contains__
