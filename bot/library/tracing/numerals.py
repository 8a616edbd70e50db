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

from bot.library.tracing.cldr import Words, folded, plain, words_for
from bot.library.tracing.dates import clocks_in, dates_in

_LONGEST = 40  # characters of a number in digits; more are an id
_RUN = re.compile(r"\d++(?:[.,'٫\xa0]\d++| \d{3}(?!\d))*+|(?<![\d.])\.\d++(?![\d.])")
_GROUPED = re.compile(
    r"\d{1,3}(?P<mark>[,.' \xa0])\d{3}(?:(?P=mark)\d{3})*+(?:(?!(?P=mark))[.,٫](?P<decimals>\d+))?"
)
_INDIAN = re.compile(r"\d{1,2}(?P<mark>,)\d\d(?:,\d\d)*,\d{3}(?:\.(?P<decimals>\d+))?")
_SIMPLE = re.compile(r"\d*(?:(?P<mark>[.,٫])(?P<decimals>\d+))?")
_EXPONENT = re.compile(
    r"[eE]([+-]?\d{1,3})(?![\w])"
    r"|[ \xa0]?[×x·*⋅][ \xa0]?10(?:(?:\^|\*\*)\(?([+-]?\d{1,3})\)?|([⁺⁻]?[⁰¹²³⁴⁵⁶⁷⁸⁹]{1,3}))"
)
_RAISED = str.maketrans("⁺⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "+-0123456789")
_WORD = re.compile(r"[ \xa0]?([^\W\d_][^\s\d!-/:-@\[-`{-~،。、，（）「」€£¥₹₽%・；：]{0,30})")
_OF = re.compile(r"\.?[ \xa0]?(?:de |d['’]|of )?")
_PART = re.compile(r"[ \xa0]?(\d{1,4}(?:,\d{3})?)(?!\d|[.,]\d)")
_WHOLE = re.compile(r"(?<![\d.,'٫])\d{1,4}$")
_NEXT_PART = re.compile(r"\.?[ \xa0]?(?:(?:and|und|et|y|e|и) )?(\d{1,4})(?!\d|[.,]\d)")
_NO_NUMBER = re.compile(
    r"https?://[^\s<>\"'`|）」»”]+|www\.[^\s<>\"'|]+"
    r"|(?<![\w.+-])[\w.+-]{1,64}+@[\w-]{1,63}(?:\.[\w-]{1,63})+"
    r"|(?<![\d/])24/7(?![\d/])|第\d{1,3}(?![\d,.])"
    r"|^[ \t>#*|-]{0,8}(?:\d{1,3}[.)]|\(\d{1,3}\))(?=[ \xa0\t])"
    r"|\d{1,3}\.(?=[ \xa0](?:[a-zß-ÿ]{2}|Quartal))"
    r"|\+\d{1,3}(?!(?:[ \xa0]\d{3})++(?![ \xa0]?\d))(?:[ \xa0]\(?\d{1,9}\)?){2,6}(?!\d)"
    r"|(?<!\d)\d{1,9}-\d{1,9}(?:-\d{1,9})+(?!\d)",
    re.MULTILINE,
)
_ID_TAIL = re.compile(r"\w*+(?:[-./:]\w++)*+")
_ORDINAL = re.compile(r"-(?:й|я|е|го|му|ая|ый|ой)\b|(?:ম|য়|র্থ|ষ্ঠ|ই|তম|वां|वीं|वें)(?!\w)|[ºª]")
_DECADE = re.compile(r"[12]\d\d0s")
_UNIT_WORDS = (
    "x h d s m g t l K W V A L F C ms µs min km cm mm nm kg mg ml dl hl kb mb gb tb pb kib mib gib tib"
    " kw mw gw wh kwh mwh gwh mv ma hz khz mhz ghz px pt bp bps rpm mbit gbit mbps gbps m² m³ km² cm²"
    " ha °c °f qm ko mo go to кг км м см т л г шт"
)
_UNITS = frozenset(_UNIT_WORDS.split())
_ABOUT_WORDS = (
    " about| around| roughly| approximately| approx.| almost| nearly| over| more than| some| up to"
    "| under| less than| at least| rund| etwa| ca.| circa| ungefähr| knapp| gut| fast| über| mehr als"
    "| environ| près de| presque| quelque| plus de| cerca de| unos| unas| casi| alrededor de| más de"
    "| aproximadamente| quase| mais de| около| примерно| почти| более| sekitar| hampir| lebih dari"
    "| लगभग| करीब| حوالي| نحو| تقريبا| প্রায়|約|约|大约|大約|およそ|ほぼ|近|超|~|≈|∼|≃|〜"
)
_ABOUT = tuple(_ABOUT_WORDS.split("|"))
_ABOUT_AFTER = (
    "ほど",
    "程度",
    "くらい",
    "ぐらい",
    "左右",
    "多",
    "余",
    "以上",
    "超",
    "強",
    "弱",
    " or so",
)


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
    """What follows digits: powers of ten to choose from, more parts, and a unit."""

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
    written = [digits for run in _RUN.finditer(clear) for digits in _split(run[0], run.start())]
    marks = {digits.mark for digits in written} - {""}
    mark = marks.pop() if len(marks) == 1 else decimal_mark
    scan = _Scan(text, clear, offsets, words_for(clear))
    numbers, at = [], 0
    for digits in written:
        if digits.start >= at:
            number, at = scan.number(digits, mark, at)
            numbers += [number] if number else []
    return numbers


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
    spans += [(day.start, day.end) for day in dates_in(text) if not day.may_be_number]
    spans += [(clock.start, clock.end) for clock in clocks_in(text) if not clock.may_be_number]
    pieces, at = [], 0
    for start, end in sorted(spans):
        if end > at:
            pieces += [text[at:start], "\x1f" * (end - max(at, start))]
            at = end
    return "".join([*pieces, text[at:]])


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
    end = start + len(run)
    whole = re.sub(r"\D", "", run)
    value = Decimal(whole)
    exact = Reading(value.scaleb(-len(decimals)), Decimal(1).scaleb(-len(decimals)))
    if match.re is _SIMPLE:
        return _Digits(start, end, (("", exact),), mark if decimals and mark in ".," else "")
    other = {",": ".", ".": ","}.get(mark, "")
    if decimals:
        decimal = run[-len(decimals) - 1]
        return _Digits(start, end, (("", exact),), decimal if decimal in ".," else "")
    if not other or len(whole) > 6 or match.re is _INDIAN:
        return _Digits(start, end, (("", exact),), other)
    as_decimal = Reading(value.scaleb(-3), Decimal("0.001"))
    if run[0] == "0":
        return _Digits(start, end, (("", as_decimal),), mark)
    both = ((other, exact), (mark, as_decimal))
    is_decimal_likelier = mark == "." and not run.endswith("00")
    return _Digits(start, end, both[::-1] if is_decimal_likelier else both)


class _Scan:
    """Reads what stands beside digits in one text."""

    def __init__(self, text: str, clear: str, offsets: list[int] | None, words: Words) -> None:
        self.original, self.offsets, self.text, self.words = text, offsets, clear, words
        lower = clear.lower()
        self.lower = lower if len(lower) == len(clear) else clear

    def number(self, digits: _Digits, mark: str, floor: int) -> tuple[Number | None, int]:
        """Return the number with these digits, None if they are part of an id, and its end.

        The number before it ends at `floor`.
        """
        start, end, text = digits.start, digits.end, self.text
        first, sign, currencies = self._before(start, floor)
        if first == start and self._is_in_id(start):
            return None, _end(_ID_TAIL, text, end)
        suffix = self._after(end, bool(currencies))
        if suffix.end == end and (tail := _ORDINAL.match(text, end)):
            return None, tail.end()
        after = text[suffix.end : suffix.end + 2]
        is_glued = bool(after) and (_is_letter(after[0]) or after[0].isdecimal())
        is_file = after[:1] == "." and after[1:].isascii() and after[1:].islower()
        if (is_glued and suffix.unit != "%") or is_file or _DECADE.match(text, start):
            return None, _end(_ID_TAIL, text, suffix.end)
        fitting = [reading for assumed, reading in digits.readings if assumed in ("", mark)]
        written = fitting or [reading for _, reading in digits.readings]
        negative = -1 if sign == "-" else 1
        readings = suffix.durations or tuple(
            _scaled(reading, exponent, suffix.more, negative)
            for reading in written
            for exponent in suffix.exponents
        )
        currencies = currencies or suffix.currencies
        around = f" {self.lower[max(0, first - 20) : first]}".rstrip(" \xa0(*_")
        is_about = around.endswith(_ABOUT) or self.lower.startswith(_ABOUT_AFTER, suffix.end)
        last = suffix.end
        if self.offsets:
            first, last = self.offsets[first], self.offsets[last - 1] + 1
        number = Number(
            first,
            last,
            self.original[first:last],
            readings,
            sign,
            suffix.unit or (currencies[0] if currencies else ""),
            currencies,
            is_percent=suffix.unit == "%",
            is_about=is_about,
            is_bare=last - first == end - start and text[start:end].isdecimal(),
            digits=sum(map(str.isdecimal, text[start:end].lstrip("0.,٫"))),
        )
        return number, suffix.end

    def _before(self, start: int, floor: int) -> tuple[int, str, tuple[str, ...]]:
        """Return where the sign and the currency before digits begin, and what they are."""
        text, first, sign = self.text, start, ""
        if text[start - 1 : start] in ("+", "-", "–") and start:
            first, sign = start - 1, text[start - 1]
        at = first - (text[first - 1 : first] in (" ", "\xa0") if first and not sign else 0)
        begin, currencies = self._currency_before(at, floor, is_spaced=at < first)
        if currencies:
            first = begin
            if not sign and begin and text[begin - 1] in "+-–":
                first, sign = begin - 1, text[begin - 1]
        if sign and (not currencies or text[first] == sign):
            left = text[max(0, first - 3) : first]
            near = left.rstrip(" \xa0") if sign == "–" else left
            if near and (_is_letter(near[-1]) or near[-1].isdecimal() or near[-1] in ")]%€$£/"):
                return (begin, "", currencies) if currencies else (start, "", ())
        return first, sign.replace("–", "-"), currencies

    def _currency_before(
        self, end: int, floor: int, *, is_spaced: bool
    ) -> tuple[int, tuple[str, ...]]:
        for length in range(min(5, end - floor), 0, -1):
            begin = end - length
            codes = self.words.currencies.get(self.lower[begin:end].rstrip("."))
            if not codes or (
                _is_letter(self.text[begin]) and _is_letter(self.text[begin - 1 : begin])
            ):
                continue
            left = self.text[max(0, begin - 2) : begin]
            is_of_other = left[-1:].isdecimal() or (is_spaced and left.strip()[-1:].isdecimal())
            return (end, ()) if is_of_other else (begin, codes)
        return end, ()

    def _is_in_id(self, start: int) -> bool:
        before = self.text[max(0, start - 2) : start]
        if before[-1:] in ("-", ".", "/") and len(before) == 2:
            before = before[:1]
        return bool(before) and (_is_letter(before[-1]) or before[-1] in "#@")

    def _after(self, end: int, has_currency: bool) -> _Suffix:
        if not self.text[end : end + 2].strip(',;:|)]}\n\t"') or self.text[end : end + 1] in (
            "\n",
            "\t",
        ):
            return _Suffix(end)
        exponents: tuple[int, ...]
        more: Reading | None
        if raised := _EXPONENT.match(self.text, end):
            exponent = (raised[1] or raised[2] or raised[3]).translate(_RAISED)
            at, exponents, more = raised.end(), (int(exponent),), None
        elif duration := self._duration(end):
            return duration
        else:
            at, exponents, more = self._scale(end)
        gap = at + (self.text[at : at + 1] in (" ", "\xa0"))
        if self.lower.startswith(self.words.percents, gap):
            phrase = max(
                (form for form in self.words.percents if self.lower.startswith(form, gap)), key=len
            )
            return _Suffix(gap + len(phrase), exponents, more, "%")
        after_of = _end(_OF, self.text, at) if at > end else gap
        stop, currencies = self._currency_after(after_of)
        if currencies and not has_currency:
            return _Suffix(stop, exponents, more, "", currencies)
        if at > end:
            return _Suffix(at, self._with_none(end, at, exponents, has_currency), more)
        return self._unit(end)

    def _with_none(
        self, end: int, at: int, exponents: tuple[int, ...], has_currency: bool
    ) -> tuple[int, ...]:
        """Return the powers of a short word, with 0 where it may be a unit: 5 M, 12 t."""
        word = self.text[end:at].strip(" \xa0")
        if has_currency or len(word) > 2 or not (word.isascii() and word.isalpha()):
            return exponents
        is_scale = word == "k" or (word.isupper() and self.text[end].isalpha())
        return (*exponents, 0) if is_scale else (0, *exponents)

    def _scale(self, end: int) -> tuple[int, tuple[int, ...], Reading | None]:
        """Return the end of the scale words after digits, their powers of ten, and lower parts."""
        exponents: tuple[int, ...] = (0,)
        at = end
        for _ in range(3):
            stop, factors = self._factor(at)
            if not factors:
                break
            exponents = tuple(one + other for one in exponents for other in factors)
            at = stop
        more, lowest = None, exponents[0]
        while at > end and (part := _PART.match(self.text, at)):
            stop, factors = self._factor(part.end())
            is_last = not factors and self.text[at - 1] > "\u3000" and part.start(1) == at
            exponent = factors[0] if factors else 0
            amount = Decimal(part[1].replace(",", ""))
            is_close = part.start(1) == at or {lowest, exponent} <= {3, 5, 7}  # of India
            is_lower = amount.scaleb(exponent) < Decimal(1).scaleb(lowest)
            if not is_lower or not (is_last or (factors and is_close)):
                break
            step = Decimal(1).scaleb(exponent)
            more = Reading((more.value if more else 0) + amount * step, step)
            at, lowest, exponents = (stop if factors else part.end()), exponent, exponents[:1]
        return at, exponents, more

    def _factor(self, at: int) -> tuple[int, tuple[int, ...]]:
        dot = at + (self.text[at : at + 1] == "." and self.text[at - 1 : at].isalpha())
        word = _WORD.match(self.text, dot)
        if not word:
            return at, ()
        if word[1] > "\u3000":
            for length in (2, 1):
                if factors := self.words.scales.get(word[1][:length]):
                    return word.start(1) + len(word[1][:length]), factors
            return at, ()
        factors = self.words.scales.get(folded(word[1]), ())
        return (word.end(), factors) if factors else (at, ())

    def _currency_after(self, at: int) -> tuple[int, tuple[str, ...]]:
        for length in range(min(10, len(self.text) - at), 0, -1):
            stop = at + length
            codes = self.words.currencies.get(self.lower[at:stop])
            following = self.text[stop : stop + 1]
            is_part_of_word = _is_letter(following) and _is_letter(self.text[stop - 1])
            if codes and not following.isdecimal() and not is_part_of_word:
                return stop, codes
        return at, ()

    def _unit(self, end: int) -> _Suffix:
        word = _WORD.match(self.text, end)
        if not word or self.text[word.end() : word.end() + 1] in ("'", "’"):
            return _Suffix(end)
        unit = folded(word[1])
        if unit == "pp":
            return _Suffix(word.end(), unit="%")
        if unit in self.words.durations or word[1] in _UNITS or (len(unit) > 1 and unit in _UNITS):
            return _Suffix(word.end(), unit=word[1])
        return _Suffix(end)

    def _duration(self, end: int) -> _Suffix | None:
        """Return the rest of a duration of two parts: "8 h 30", "8 Std. 30 Min.", "8時間30分"."""
        word, whole = _WORD.match(self.text, end), _WHOLE.search(self.text, max(0, end - 5), end)
        seconds = self.words.durations.get(folded(word[1])) if word and whole else None
        part = _NEXT_PART.match(self.text, word.end()) if word and seconds else None
        if not (word and whole and seconds and part):
            return None
        after = _WORD.match(self.text, part.end())
        base = self.words.durations.get(folded(after[1])) if after else None
        if base is None or base >= seconds:
            if seconds != 3_600 or len(part[1]) != 2 or int(part[1]) >= 60:
                return None
            after, base = None, 60
        total = Decimal(int(whole[0]) * seconds + int(part[1]) * base)
        readings = (
            Reading(total / base, Decimal(1)),
            Reading(total / seconds, Decimal(base) / seconds),
        )
        unit, stop = (after[1], after.end()) if after else ("min", part.end())
        return _Suffix(stop, unit=unit, durations=readings)


def _scaled(reading: Reading, exponent: int, more: Reading | None, sign: int) -> Reading:
    value, step = reading.value.scaleb(exponent), reading.step.scaleb(exponent)
    if more:
        value, step = value + more.value, more.step
    return Reading(value * sign, step)


def _is_letter(char: str) -> bool:
    """Return whether a character is a letter of an alphabet in which ids are written."""
    return char == "_" or (char.isalpha() and char < "\u0530")


def _end(pattern: re.Pattern[str], text: str, at: int) -> int:
    match = pattern.match(text, at)
    return match.end() if match else at
