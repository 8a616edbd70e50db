"""Numbers as people write them in the twelve most spoken languages.

A number is read with all that belongs to it (sign, currency, scale word, percent sign, unit) and in
each meaning that its notation can have: 1.234 is 1234 or 1.234. Words come from CLDR (`cldr`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from typing import NamedTuple

from bot.library.tracing.cldr import NOTHING, Meaning, folded, plain, words_for
from bot.library.tracing.dates import clocks_in, dates_in

_LONGEST = 40  # characters of a number in digits; more are an id
# Python 3.11.2 takes too much with a possessive quantifier of a group, as in (?:…)*+.
_RUN = re.compile(r"\d++(?:[.,'٫\xa0]\d++| \d{3}(?!\d))*|(?<![\d.])\.\d++(?![\d.])")
_GROUPED = re.compile(
    r"\d{1,3}(?P<mark>[,.' \xa0])\d{3}(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,٫](?P<decimals>\d+))?"
)
_INDIAN = re.compile(r"\d{1,2}(?P<mark>,)\d\d(?:,\d\d)*,\d{3}(?:\.(?P<decimals>\d+))?")
_SIMPLE = re.compile(r"\d*(?:(?P<mark>[.,٫])(?P<decimals>\d+))?")
_EXPONENT = re.compile(
    r"[eE]([+-]?\d{1,3})(?![\w])"
    r"|[ \xa0]?[×x·*⋅][ \xa0]?10(?:(?:\^|\*\*)\(?([+-]?\d{1,3})\)?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_SIGNS = "€$£¥₹₽৳₩₪₺₴₫₱฿"
_ALPHABETS = r"A-Za-z\u00c0-\u052f"  # in which ids are written
_BEFORE = re.compile(
    rf"(?<![{_ALPHABETS}])([-+–]?)([A-Za-z\u0900-\u09ff]{{0,4}}\.?[{_SIGNS}元]?)([ \xa0]?)([-+–]?)$"
)
_GAP = r"(?:(?<=[^\W\d_])\.)?[ \xa0]?(?:de |d['’]|of )?"
_BESIDE = re.compile(rf"{_GAP}([A-Za-z]{{0,3}}[{_SIGNS}](?:[A-Z]{{2}})?)(?!\d)")
_WORD = re.compile(rf"{_GAP}(°?[^\W\d_][^\s\d!-/:-@\[-`{{-~،。、，（）「」・；：{_SIGNS}]{{0,30}})")
_NO_SIGN_AFTER = re.compile(rf"[{_ALPHABETS}\d)\]%/{_SIGNS}]")
_RANGE = re.compile(r"[ \xa0]?[–〜～~-][ \xa0]?(?=\d)")
_PART = re.compile(r"[ \xa0]?(\d{1,4}(?:,\d{3})?)(?!\d|[.,]\d)")
_WHOLE = re.compile(r"(?<![\d.,'٫])\d{1,4}$")
_NEXT_PART = re.compile(r"\.?[ \xa0]?(?:(?:and|und|et|y|e|и) )?(\d{1,4})(?!\d|[.,]\d)")
_ADDRESS = re.compile(
    r"https?://[^\s<>\"'`|）」»”]+|www\.[^\s<>\"'|]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63})+"
)
_NO_NUMBER = re.compile(
    r"(?<![\d/])24/7(?![\d/])|第\d{1,3}(?![\d,.])"
    r"|^[ \t>#*|-]{0,8}(?:\d{1,3}[.)]|\(\d{1,3}\))(?=[ \xa0\t])"
    r"|\d{1,3}\.(?=[ \xa0](?:[a-zß-ÿ]{2}|Quartal))"
    r"|\+\d{1,3}(?!(?:[ \xa0]\d{3})+(?![ \xa0]?\d))(?:[ \xa0]\(?\d{1,9}\)?){2,6}(?!\d)"
    r"|(?<!\d)\d{1,9}-\d{1,9}(?:-\d{1,9})+(?!\d)",
    re.MULTILINE,
)
_ID_TAIL = re.compile(r"\w*+(?:[-./:]\w++)*")
_IN_ID = re.compile(rf"[{_ALPHABETS}#@]$|[{_ALPHABETS}][-./]$|[{_ALPHABETS}\d]_$")
_GOES_ON = re.compile(rf"(?<!%)(?:[{_ALPHABETS}\d]|_\w)|\.[a-z]")
_ENDS = ("", ",", ";", ":", "|", ")", "]", "}", "\n", "\t", '"')
_ORDINAL = re.compile(r"-(?:й|я|е|го|му|ая|ый|ой)\b|(?:ম|য়|র্থ|ষ্ঠ|ই|তম|वां|वीं|वें)(?!\w)|[ºª]")
_DECADE = re.compile(r"[12]\d\d0s")
_ABOUT_WORDS = (
    " about| around| roughly| approximately| approx.| almost| nearly| over| more than| some| up to"
    "| under| less than| at least| rund| etwa| ca.| circa| ungefähr| knapp| gut| fast| über| mehr als"
    "| environ| près de| presque| quelque| plus de| cerca de| unos| unas| casi| alrededor de| más de"
    "| aproximadamente| quase| mais de| около| примерно| почти| более| sekitar| hampir| lebih dari"
    "| लगभग| करीब| حوالي| نحو| تقريبا| প্রায়|約|约|大约|大約|およそ|ほぼ|近|超|~|≈|∼|≃|〜"
)
_ABOUT = tuple(_ABOUT_WORDS.split("|"))
_ABOUT_AFTER_WORDS = "ほど|程度|くらい|ぐらい|左右|多|余|以上|超|強|弱| or so"
_ABOUT_AFTER = tuple(_ABOUT_AFTER_WORDS.split("|"))


class Reading(NamedTuple):
    """One meaning of a written number. `step` is the value of its last written digit."""

    value: Decimal
    step: Decimal


@dataclass(frozen=True, slots=True)
class Number:
    """A number in a text, from `start` to `end` with all that belongs to it.

    - `readings`: its meanings, the likeliest first: signed and scaled; a percentage as written.
    - `sign`: "+", "-" or "".
    - `currencies`: the ISO codes that its currency may be, the likeliest first ("$" is several).
    - `unit`: the likeliest currency, "%", or a unit as written ("h", "km"); "" for none. A duration
      of two parts ("8 h 30") is first in the smaller unit (510), then in the larger one (8.5).
    - `digits`: how many digits are written, without leading zeros.
    - `is_bare`: a whole number in plain digits without sign, scale and unit.
    - `is_about`: the text says that it is rounded: "about", "rund", "約".
    """

    start: int
    end: int
    text: str
    readings: tuple[Reading, ...]
    sign: str = ""
    unit: str = ""
    currencies: tuple[str, ...] = ()
    is_percent: bool = False
    is_about: bool = False
    is_bare: bool = False
    digits: int = 0

    @property
    def value(self) -> Decimal:
        """The likeliest meaning."""
        return self.readings[0].value


class _Digits(NamedTuple):
    """Digits with their separators. `readings` go with the decimal mark that they assume."""

    start: int
    end: int
    readings: tuple[tuple[str, Reading], ...]
    mark: str = ""  # the decimal mark, where the notation tells it


class _Suffix(NamedTuple):
    """What follows digits: powers of ten to choose from, a lower part, and a unit."""

    end: int
    exponents: tuple[int, ...] = (0,)
    more: Reading | None = None
    unit: str = ""
    currencies: tuple[str, ...] = ()
    durations: tuple[Reading, ...] = ()


def numbers_in(text: str, *, decimal_mark: str = "") -> list[Number]:
    """Return the numbers of a text in order. Dates, times, ids and list markers are none.

    `decimal_mark` ("." or ",") decides 1.234 where the other numbers of the text do not.
    """
    if not any(map(str.isdecimal, text)):
        return []
    clear, offsets = plain(text)
    clear = _without_others(clear)
    written = _written(clear)
    mark = _common_mark(written) or decimal_mark
    scan = _Scan(text, clear, offsets)
    numbers, at = [], 0
    for digits in written:
        if digits.start >= at:
            number, at = scan.number(digits, mark, at)
            numbers += [number] if number else []
    return numbers


def decimal_mark_of(text: str) -> str:
    """Return the decimal mark that the numbers of a text tell: ".", "," or "" for neither."""
    return _common_mark(_written(_without_others(plain(text)[0])))


def is_same(claimed: Number, read: Number) -> bool:
    """Return whether a number that was read is the claimed one, perhaps in another notation.

    The claim may be rounded to its last written digit (after "about" to its last digit that is not
    zero) or, with three digits or more, cut off. 12.3 % is 0.123, and 12.3 in a column of
    percentages. Signs must agree unless one number has none; currencies unless one has none.
    """
    if {claimed.sign, read.sign} == {"+", "-"}:
        return False
    if claimed.currencies and read.currencies and not {*claimed.currencies} & {*read.currencies}:
        return False
    for said in claimed.readings:
        for there in read.readings:
            values = [there.value]
            if claimed.is_percent and not read.is_percent and there.step < 1:
                values.append(there.value * 100)
            if read.is_percent and not claimed.is_percent and said.step < 1:
                values.append(there.value / 100)
            if any(_rounds_to(abs(value), claimed, said) for value in values):
                return True
    return False


def _rounds_to(exact: Decimal, claimed: Number, said: Reading) -> bool:
    value, step = abs(said.value), said.step
    if claimed.is_about and value:
        step = max(step, Decimal(1).scaleb(int(value.normalize().as_tuple().exponent)))
    is_cut_off = claimed.digits >= 3 and 0 <= exact - value < said.step
    return is_cut_off or abs(exact - value) * 2 <= step


def _without_others(text: str) -> str:
    """Return `text` with blanks for dates, times, addresses, list markers, phone numbers."""
    spans = [match.span() for match in _NO_NUMBER.finditer(text)]
    if "@" in text or "www." in text or "://" in text:
        spans += [match.span() for match in _ADDRESS.finditer(text)]
    spans += [(day.start, day.end) for day in dates_in(text) if not day.may_be_number]
    spans += [(clock.start, clock.end) for clock in clocks_in(text) if not clock.may_be_number]
    pieces, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at:start], "\x1f" * (end - max(at, start))]
            at = end
    return "".join([*pieces, text[at:]])


def _written(text: str) -> list[_Digits]:
    return [digits for run in _RUN.finditer(text) for digits in _split(run[0], run.start())]


def _common_mark(written: list[_Digits]) -> str:
    marks = {digits.mark for digits in written} - {""}
    return marks.pop() if len(marks) == 1 else ""


def _split(run: str, start: int) -> Iterator[_Digits]:
    """Yield the numbers in digits with separators: "1,234" is one, "12,5,300" are three."""
    if len(run) <= _LONGEST:
        for pattern in (_GROUPED, _INDIAN, _SIMPLE):
            if match := pattern.fullmatch(run):
                yield _digits(match, start)
                return
    mark = next((mark for mark in " \xa0',.٫" if mark in run), ".")
    if mark != ".":  # 4.12.3 is a version
        for piece in run.split(mark):
            yield from _split(piece, start) if piece else ()
            start += len(piece) + 1


def _digits(match: re.Match[str], start: int) -> _Digits:
    run, mark, decimals = match[0], match["mark"] or "", match["decimals"] or ""
    whole, end = re.sub(r"\D", "", run), start + len(run)
    if decimals:
        mark = run[-len(decimals) - 1]
        reading = (("", _decimal(whole, len(decimals))),)
        return _Digits(start, end, reading, mark if mark in ".," else "")
    other = {",": ".", ".": ","}.get(mark, "")
    if not other or len(whole) > 6 or match.re is _INDIAN:
        return _Digits(start, end, (("", _decimal(whole, 0)),), other)
    if run[0] == "0":
        return _Digits(start, end, (("", _decimal(whole, 3)),), mark)
    both = ((other, _decimal(whole, 0)), (mark, _decimal(whole, 3)))
    is_decimal_likelier = mark == "." and not run.endswith("00")
    return _Digits(start, end, both[::-1] if is_decimal_likelier else both)


def _decimal(digits: str, decimals: int) -> Reading:
    return Reading(Decimal(digits).scaleb(-decimals), Decimal(1).scaleb(-decimals))


class _Scan:
    """Reads what stands beside digits in one text."""

    def __init__(self, text: str, clear: str, offsets: list[int] | None) -> None:
        self.original, self.text, self.offsets = text, clear, offsets
        self.words, lower = words_for(clear), clear.lower()
        self.lower = lower if len(lower) == len(clear) else clear

    def number(self, digits: _Digits, mark: str, floor: int) -> tuple[Number | None, int]:
        """Return the number with these digits, None if they are part of an id, and its end.

        The number before it ends at `floor`.
        """
        start, end, text = digits.start, digits.end, self.text
        first, sign, currencies = self._before(start, floor)
        if first == start and _IN_ID.search(text, max(0, start - 2), start):
            return None, _end(_ID_TAIL, text, end)
        suffix = self._after(end, bool(currencies))
        if suffix.end == end and (tail := _ORDINAL.match(text, end)):
            return None, tail.end()
        if _GOES_ON.match(text, suffix.end) or _DECADE.match(text, start):
            return None, _end(_ID_TAIL, text, suffix.end)
        if suffix == _Suffix(end) and (dash := _RANGE.match(text, end)):  # "5–6 million"
            after = self._after(_end(_RUN, text, dash.end()), bool(currencies))
            suffix = after._replace(end=end, more=None, durations=())
        fitting = [reading for assumed, reading in digits.readings if assumed in ("", mark)]
        readings = suffix.durations or tuple(
            _scaled(reading, exponent, suffix.more, -1 if sign == "-" else 1)
            for reading in fitting or [reading for _, reading in digits.readings]
            for exponent in suffix.exponents
        )
        currencies = currencies or suffix.currencies
        around = f" {self.lower[max(0, first - 20) : first]}".rstrip(" \xa0(*_")
        last = suffix.end
        if self.offsets:
            first, last = self.offsets[first], self.offsets[last - 1] + 1
        number = Number(
            first,
            last,
            self.original[first:last],
            readings,
            sign,
            currencies[0] if currencies else suffix.unit,
            currencies,
            is_percent=suffix.unit == "%",
            is_about=around.endswith(_ABOUT) or self.lower.startswith(_ABOUT_AFTER, suffix.end),
            is_bare=not sign and suffix == _Suffix(end) and text[start:end].isdecimal(),
            digits=sum(map(str.isdecimal, text[start:end].lstrip("0.,٫"))),
        )
        return number, suffix.end

    def _before(self, start: int, floor: int) -> tuple[int, str, tuple[str, ...]]:
        """Return where the sign and the currency before digits begin, and what they are."""
        match = _BEFORE.search(self.text, max(floor, start - 8), start)
        if not match or match.start() == start:
            return start, "", ()
        outer, name, space, sign = match.groups()
        first, codes = start - len(sign), self.words.beside.get(folded(name), NOTHING).currencies
        left = self.text[max(0, match.start(2) - 2) : match.start(2)]
        if codes and not (left.strip() if space else left)[-1:].isdecimal():
            first, sign = match.start(2), sign or outer
            first -= bool(outer)
        elif codes or name or space or not outer:
            codes = ()
        else:
            first, sign = match.start(), outer
        left = self.text[max(0, first - 3) : first]
        near = left.rstrip(" \xa0") if sign == "–" else left
        if sign and self.text[first] == sign and _NO_SIGN_AFTER.match(near[-1:]):
            first, sign = first + 1, ""
        return first, "-" if sign == "–" else sign, codes

    def _after(self, end: int, has_currency: bool) -> _Suffix:
        if self.text[end : end + 1] in _ENDS:
            return _Suffix(end)
        stop, word, meaning = self._word(end)
        if meaning.seconds and (duration := self._duration(end, stop, meaning.seconds)):
            return duration
        at, exponents, more = self._scale(end)
        if percent := self.words.percent.match(self.text, at):
            return _Suffix(percent.end(), exponents, more, "%")
        if at > end:
            after, _, following = self._word(at)
            codes = () if has_currency else following.currencies
            if not codes and not has_currency and (len(word) == 1 or meaning.is_unit):
                exponents = self._or_unscaled(end, word, exponents)
            return _Suffix(after if codes else at, exponents, more, currencies=codes)
        if meaning.currencies and not has_currency:
            return _Suffix(stop, currencies=meaning.currencies)
        is_unit = meaning.is_unit and self.text[stop : stop + 1] not in ("'", "’")
        return _Suffix(stop, unit=word) if is_unit else _Suffix(end)

    def _or_unscaled(self, end: int, word: str, exponents: tuple[int, ...]) -> tuple[int, ...]:
        """Add 0 to the powers of a word that may be a unit, too: 5 M, 12 t, 5m."""
        if word not in "kKMB":
            return exponents if word > "\u3000" else (0, *exponents)
        return exponents if self.text[end] == word else (*exponents, 0)

    def _word(self, at: int) -> tuple[int, str, Meaning]:
        """Return the end of a known word or sign after `at`, the word, and what it means."""
        for pattern in (_BESIDE, _WORD):
            match = pattern.match(self.text, at)
            if not match:
                continue
            word, start = match[1], match.start(1)
            lengths = (len(word),) if word < "\u3000" else range(min(4, len(word)), 0, -1)
            for length in lengths:
                part = word[:length]
                meaning = self.words.beside.get(part) or self.words.beside.get(folded(part))
                if meaning:
                    return start + length, part, meaning
        return at, "", NOTHING

    def _scale(self, end: int) -> tuple[int, tuple[int, ...], Reading | None]:
        """Return the end of the scale words after digits, their powers of ten, and lower parts."""
        if raised := _EXPONENT.match(self.text, end):
            exponent = (raised[1] or raised[2] or raised[3]).translate(_RAISED)
            return raised.end(), (int(exponent),), None
        at, exponents, more = end, tuple[int, ...]((0,)), None
        for _ in range(3):
            stop, _, meaning = self._word(at)
            if not meaning.exponents:
                break
            at = stop
            exponents = tuple(one + more for one in exponents for more in meaning.exponents)
        lowest = exponents[0]
        while at > end and (part := _PART.match(self.text, at)):
            stop, _, meaning = self._word(part.end())
            exponent = meaning.exponents[0] if meaning.exponents else 0
            amount = Decimal(part[1].replace(",", "")).scaleb(exponent)
            is_glued = part.start(1) == at and self.text[at - 1] > "\u3000"  # 3億4500万
            is_indian = exponent > 0 and {lowest, exponent} <= {3, 5, 7}  # 5 crore 20 lakh
            if not (is_glued or is_indian) or amount >= Decimal(1).scaleb(lowest):
                break
            more = Reading((more.value if more else 0) + amount, Decimal(1).scaleb(exponent))
            at, lowest, exponents = stop if exponent else part.end(), exponent, exponents[:1]
        return at, exponents, more

    def _duration(self, end: int, stop: int, seconds: int) -> _Suffix | None:
        """Return the rest of a duration of two parts: "8 h 30", "8 Std. 30 Min.", "8時間30分".

        A unit of so many `seconds` ends at `stop`.
        """
        part = _NEXT_PART.match(self.text, stop)
        whole = _WHOLE.search(self.text, max(0, end - 5), end)
        if not part or not whole:
            return None
        after, unit, smaller = self._word(part.end())
        base = smaller.seconds
        if not 0 < base < seconds:
            if seconds != 3_600 or len(part[1]) != 2 or int(part[1]) >= 60:
                return None
            after, unit, base = part.end(), "min", 60
        total = Decimal(int(whole[0]) * seconds + int(part[1]) * base)
        readings = (
            Reading(total / base, Decimal(1)),
            Reading(total / seconds, Decimal(base) / seconds),
        )
        return _Suffix(after, unit=unit, durations=readings)


def _scaled(reading: Reading, exponent: int, more: Reading | None, sign: int) -> Reading:
    value, step = reading.value.scaleb(exponent), reading.step.scaleb(exponent)
    if more:
        value, step = value + more.value, more.step
    return Reading(value * sign, step)


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
