"""Numbers and dates are read as people of twelve languages write them."""

from __future__ import annotations

import time
from datetime import date
from decimal import Decimal

import pytest
from babel.dates import format_date, format_time
from babel.numbers import (
    format_compact_currency,
    format_compact_decimal,
    format_currency,
    format_decimal,
    format_percent,
    format_scientific,
)
from hypothesis import example, given
from hypothesis import strategies as st

from bot.library.tracing.dates import DateParts, Day, clocks_in, dates_in, is_same_date
from bot.library.tracing.numerals import Number, decimal_mark_of, is_same, numbers_in

LANGUAGES = ["en", "zh", "hi", "es", "fr", "ar", "bn", "pt", "ru", "id", "de", "ja"]
LOCALES = [*LANGUAGES, "de_CH", "en_IN", "pt_PT", "es_MX", "ar_EG"]
NATIVE = [("ar", "arab"), ("hi", "deva"), ("bn", "beng"), ("ja", "fullwide")]
CURRENCIES = ["EUR", "USD", "GBP", "JPY", "CNY", "INR", "RUB", "IDR", "BRL", "CHF", "BDT", "MXN"]

locales = st.sampled_from(LOCALES)
amounts = st.decimals(-(10**12), 10**12, places=2)
positive = st.decimals(1, 10**12, places=2)
days = st.dates(date(1950, 1, 1), date(2090, 12, 31))


def grouped(amount: Decimal, locale: str) -> str:
    if locale == "de_CH":  # Babel drops its apostrophes
        return format_decimal(amount, locale="en").replace(",", "’")
    return format_decimal(amount, locale=locale)


def only(text: str, **options: str) -> Number:
    numbers = numbers_in(text, **options)
    assert len(numbers) == 1, (text, numbers)
    return numbers[0]


def values(text: str) -> list[str]:
    """The likeliest values of the numbers of a text, as plain decimals."""
    return [f"{number.value.normalize():f}" for number in numbers_in(text)]


def readings(number: Number) -> list[Decimal]:
    return [reading.value for reading in number.readings]


@given(amounts, locales)
@example(Decimal("-1234.5"), "de")
@example(Decimal("1234567.89"), "hi")
def test_grouped_numbers_round_trip(amount, locale):
    """A number in the format of a language is that number."""
    number = only(grouped(amount, locale))
    assert amount in readings(number)
    assert number.sign == ("-" if amount < 0 else "")


@given(amounts, st.sampled_from(NATIVE))
def test_native_digits_round_trip(amount, native):
    """Digits of a language's own script are read like 0 to 9."""
    locale, system = native
    text = format_decimal(amount, locale=locale, numbering_system=system)
    assert amount in readings(only(text))


@given(amounts, locales)
def test_a_text_around_a_number_changes_nothing(amount, locale):
    """A number is found in a sentence, at its place."""
    written = grouped(amount, locale)
    text = f"**Total:** {written}; (x)"
    number = only(text)
    assert amount in readings(number)
    assert text[number.start : number.end] == number.text


@given(st.decimals(-(10**6), 10**6, places=4), locales)
def test_percentages_round_trip(share, locale):
    """A percentage in the format of a language is the number before its sign."""
    number = only(format_percent(share, locale=locale, decimal_quantization=False))
    assert number.is_percent
    assert share * 100 in readings(number)


@example(Decimal("-1.5"), "ja", "CNY")
@given(amounts, locales.filter(lambda locale: locale != "de_CH"), st.sampled_from(CURRENCIES))
def test_money_round_trips(amount, locale, currency):
    """An amount in the format of a language has its value, its sign and its currency."""
    number = only(format_currency(amount, currency, locale=locale, currency_digits=False))
    assert round(amount, 2) in readings(number)
    assert currency in number.currencies


@given(positive, locales, st.sampled_from(["short", "long"]))
def test_compact_numbers_round_trip(amount, locale, length):
    """A number with a scale word is the number within the digits that are written."""
    text = format_compact_decimal(amount, format_type=length, locale=locale, fraction_digits=2)
    if locale == "bn" and amount >= 10**10:
        return  # CLDR writes 10¹¹ like 10⁷ there
    number = only(text)
    assert any(abs(reading.value - amount) * 2 <= reading.step for reading in number.readings), (
        text,
        number,
    )


@given(positive, locales)
def test_compact_money_round_trips(amount, locale):
    """An amount with a scale word and a currency has both."""
    text = format_compact_currency(amount, "EUR", locale=locale, fraction_digits=2)
    if (locale == "bn" and amount >= 10**10) or ("EUR" not in text and "€" not in text):
        return  # below some size, CLDR writes no currency
    number = only(text)
    assert any(abs(reading.value - amount) * 2 <= reading.step for reading in number.readings)
    assert number.unit == "EUR"


@given(amounts, locales.filter(lambda locale: locale != "hi"))  # "-[1E3]" there
def test_exponents_round_trip(amount, locale):
    """1.5E3 is 1500."""
    number = only(format_scientific(amount, locale=locale, decimal_quantization=False))
    assert amount in readings(number)


@given(days, locales, st.sampled_from(["full", "long", "medium", "short"]))
def test_dates_round_trip(day, locale, width):
    """A date in the format of a language is that day, and its digits are no numbers."""
    text = format_date(day, width, locale=locale)
    found = dates_in(text)
    assert len(found) == 1, text
    written = [
        (parts.month, parts.day, (parts.year or day.year) % 100) for parts in found[0].readings
    ]
    assert (day.month, day.day, day.year % 100) in written
    assert numbers_in(text) == []


PIECES = st.one_of(
    st.text(
        st.sampled_from(
            "0123456789.,'’+-–−%€$ \xa0\u202f\u200f:/()年月日時分億万lakh٣۵५৫５eE×⁵_#@İß"
        ),
        max_size=8,
    ),
    st.sampled_from(
        ["May", "Q3", "h", "min", "million", "mil", "Mio.", "2026", "US$", "23.", "pm", "de "]
    ),
    st.characters(),
)


@given(st.lists(PIECES, max_size=12).map("".join))
@example("9" * 400 + "e999")
@example("1e999")
@example("1 h 9999 999")
@example("٣²")
def test_any_text_is_read(text):
    """Whatever a text holds, reading it does not fail, and what is found stands where it says."""
    end = 0
    for number in numbers_in(text):
        assert number.start >= end
        end = number.end
        assert text[number.start : number.end] == number.text
        assert number.readings
        assert is_same(number, number)
    assert all(text[day.start : day.end] == day.text for day in dates_in(text))
    assert all(text[clock.start : clock.end] == clock.text for clock in clocks_in(text))


@given(st.times(), st.sampled_from(LANGUAGES))
def test_times_round_trip(moment, locale):
    """A time in the format of a language is no number."""
    text = format_time(moment, "short", locale=locale)
    if locale == "id":
        return  # 14.05 is a number
    assert len(clocks_in(text)) == 1, text
    assert numbers_in(text) == []


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1,2 mil millones", "1200000000"),
        ("2 mil milhões de euros", "2000000000"),
        ("3億4500万円", "345000000"),
        ("1億2,345万6,789円", "123456789"),
        ("5百万", "5000000"),
        ("2.1 million", "2100000"),
        ("1,2 Mrd. €", "1200000000"),
        ("12 lakh", "1200000"),
        ("₹1.5 crore", "15000000"),
        ("1.5 lakh crore", "1500000000000"),
        ("1,2 млн", "1200000"),
        ("1.2 juta", "1200000"),
        ("8 h 30", "510"),
        ("8h30", "510"),
        ("8 h 30 min", "510"),
        ("8 Std. 30 Min.", "510"),
        ("8時間30分", "510"),
        ("2.59e-05", "0.0000259"),
        ("2.59 × 10⁻⁵", "0.0000259"),
        ("1E6", "1000000"),
        ("1'234'567.5", "1234567.5"),
        ("12,34,567", "1234567"),
        ("p < 0.0001", "0.0001"),
        (".05", "0.05"),
        ("−5 %", "-5"),
        ("–5 %", "-5"),
        ("-$5", "-5"),
        ("CHF-1'234.50", "-1234.5"),
        ("($4)", "4"),
        ("-5,3", "-5.3"),
        ("約500人", "500"),
        ("EUR640", "640"),
        ("a 30-day window", "30"),
        ("5GB", "5"),
        ("CHF 1’234’567.50", "1234567.5"),
        ("10M rows", "10000000"),
        ("5 L", "5"),
        ("15 °C", "15"),
        ("_5_", "5"),
        ("2,5 p.p.", "2.5"),
        ("$1.2m", "1200000"),
        ("5 bn", "5000000000"),
        ("US$ 5 bn", "5000000000"),
        ("2019", "2019"),
    ],
)
def test_numbers_as_people_write_them(text, value):
    """Scale words, durations, exponents and signs give the value that people mean."""
    assert values(text) == [value]


@pytest.mark.parametrize(
    "text",
    [
        "INV-2044", "A4", "v4.12.3", "4.12.3", "GPT-4.1", "file_2024.csv", "2024.csv", "#123", "H100",
        "https://example.com/12?x=3", "a12@example.com", "1st", "22nd", "2e", "5-й", "২য়", "第3",
        "24/7", "1990s", "1. First", "  2) Second", "the 3. quarter", "+49 30 1234567", "978-3-16-148410",
        "23.11.2026", "11/23/2026", "2026-11-23", "2026-11-23T14:05:00Z", "23 de noviembre de 2026",
        "2026年11月23日", "23 ноября", "November 23", "Nov. 2026", "Q3 2026", "3. Quartal 2026", "14:05",
        "2:05 pm", "2 pm", "9" * 41, "10.0.0.1", "3f2a9c", "",
    ],
)  # fmt: skip
def test_what_is_no_number(text):
    """Ids, addresses, ordinals, list markers, dates and times are no numbers."""
    assert values(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("10–20", ["10", "20"]),
        ("10-20 %", ["10", "20"]),
        ("5–6 million", ["5000000", "6000000"]),
        ("3〜4億円", ["300000000", "400000000"]),
        ("2019-2024", ["2019", "2024"]),
        ("- 5 items\n-6 more", ["5", "-6"]),
        ("12,5,300", ["12", "5", "300"]),
        ("1,234.50 and 1,234", ["1234.5", "1234"]),
        ("1.234,50 and 1.234", ["1234.5", "1234"]),
        ("0,5 and 1.234", ["0.5", "1234"]),
        ("1 234 567,5 und 12,5", ["1234567.5", "12.5"]),
        ("3 of 12, 3 out of 5", ["3", "12", "3", "5"]),
        ("10 des 12 clients", ["10", "12"]),
        ("5 € 6 €", ["5", "6"]),
        ("3/10 grew by 4.5.", ["3", "10", "4.5"]),
        ("| 1 | 2 |", ["1", "2"]),
    ],
)
def test_numbers_side_by_side(text, expected):
    """Ranges, lists and cells are several numbers; the others tell how one is written."""
    assert values(text) == expected


def test_two_readings_where_nothing_tells():
    """1,234 and 1.234 alone are both; the caller may know the decimal mark."""
    assert readings(only("1,234")) == [Decimal(1234), Decimal("1.234")]
    assert readings(only("1.234")) == [Decimal("1.234"), Decimal(1234)]
    assert readings(only("1.234", decimal_mark=",")) == [Decimal(1234)]
    assert readings(only("0.123")) == [Decimal("0.123")]


def test_the_decimal_mark_of_a_text():
    """The numbers of a whole answer tell how each of its fields is written."""
    assert decimal_mark_of("1.234 Kunden, 12,5 %") == ","
    assert decimal_mark_of("1.234 and 1,234") == ""
    assert decimal_mark_of("12,345,678 on 23.11.2026") == "."


def test_what_a_number_tells():
    """A number has its unit, its digits, and whether it is bare or rounded."""
    money, bare = only("about US$ 1,200.50"), only("042")
    assert (money.unit, money.digits, money.is_about, money.is_bare) == ("USD", 6, True, False)
    assert (bare.unit, bare.digits, bare.is_about, bare.is_bare) == ("", 2, False, True)
    assert [number.unit for number in numbers_in("10–20 %")] == ["%", "%"]
    assert only("12 km").unit == "km"
    assert only("2.1 million").readings[0].step == 100_000
    assert only("8 h 30").readings == (
        (Decimal(510), Decimal(1)),
        (Decimal("8.5"), Decimal(60) / 3600),
    )


@pytest.mark.parametrize(
    ("claimed", "read", "same"),
    [
        ("1,234", "1234.4", True), ("1,234", "1234.6", True), ("1,234", "1235.1", False),
        ("12", "12.4", True), ("12", "12.6", False), ("2.1 million", "2,134,567", True),
        ("2.1 million", "2,164,567", False), ("1,2 Mrd. €", "1.234.567.890", True),
        ("1,200", "1234", False), ("about 1,200", "1234", True), ("rund 500", "523", True),
        ("約500", "560", False), ("12.3 %", "0.123", True), ("12.3 %", "12.3", True),
        ("12.3 %", "0.1234", True), ("0.123", "12.3 %", True), ("100 %", "1", False),
        ("$5", "5 €", False), ("$5", "MX$5", True), ("$5", "5", True), ("5 %", "5 km", True),
        ("-5", "5", True), ("-5", "+5", False), ("5", "-5", True), ("3億", "300000000", True),
        ("8 h 30", "8.5", True), ("8 h 30", "510", True), ("1.234", "1234", True),
        ("2.59e-05", "0.0000259", True), ("0.00003", "2.59e-05", True), ("1234567", "1.2M", False),
    ],
)  # fmt: skip
def test_the_same_number_in_another_notation(claimed, read, same):
    """A claim may be rounded, cut off, or written in another notation; not with another sign."""
    assert is_same(only(claimed), only(read)) is same


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("11/12/2026", [(2026, 11, 12, None), (2026, 12, 11, None)]),
        ("23.11.26", [(2026, 11, 23, None)]),
        ("23. Nov. 2026", [(2026, 11, 23, None)]),
        ("le 1er mars 2026", [(2026, 3, 1, None)]),
        ("2026-11", [(2026, 11, None, None)]),
        ("noviembre de 2026", [(2026, 11, None, None)]),
        ("Q3", [(None, None, None, 3)]),
        ("2026-Q3", [(2026, None, None, 3)]),
        ("T3 2026", [(2026, None, None, 3)]),
        ("3-й квартал 2026", [(2026, None, None, 3)]),
        ("2026年第3四半期", [(2026, None, None, 3)]),
        ("5.6.2026", [(2026, 6, 5, None)]),
        ("2026-11-23/2026-11-24", [(2026, 11, 23, None), (2026, 11, 24, None)]),
        ("会議は2026年12月4日14時", [(2026, 12, 4, None)]),
        ("November 23rd, 2026", [(2026, 11, 23, None)]),
    ],
)
def test_dates_as_people_write_them(text, expected):
    """A date has each meaning that its order of day and month can have."""
    assert [tuple(parts) for day in dates_in(text) for parts in day.readings] == expected


def test_a_range_is_two_dates():
    """18–21 May 2027 names two days."""
    for text in ("18–21 May 2027", "18. bis 21. Mai 2027", "May 18–21, 2027"):
        assert [day.readings for day in dates_in(text)] == [
            (DateParts(2027, 5, 18),),
            (DateParts(2027, 5, 21),),
        ]


@pytest.mark.parametrize(
    "text", ["31.02.2026", "13/13/2026", "T4 GPU", "in May", "2026", "3 out of 5"]
)
def test_what_is_no_date(text):
    """Days that do not exist, bare months and bare years are no dates."""
    assert dates_in(text) == []


def test_a_longer_date_says_the_shorter_one():
    """A claim of a month or quarter is told by a day in it, and not the other way round."""

    def day(text: str) -> Day:
        return dates_in(text)[0]

    assert is_same_date(day("Q4 2026"), day("2026-11-23"))
    assert is_same_date(day("November 2026"), day("23.11.2026"))
    assert is_same_date(day("23 Nov"), day("11/23/2026"))
    assert not is_same_date(day("23 November 2026"), day("November 2026"))
    assert not is_same_date(day("Q3 2026"), day("2026-11-23"))


def test_times_of_day():
    """Clock times in several languages have their hour and minute."""
    told = {"14:05": (14, 5), "2:05 pm": (14, 5), "12 am": (0, 0), "14 h 05": (14, 5), "14h": (14, 0),
            "14 Uhr": (14, 0), "14時05分": (14, 5)}  # fmt: skip
    for text, clock in told.items():
        assert [(found.hour, found.minute) for found in clocks_in(text)] == [clock], text


HOSTILE = {
    "digits": "9", "commas": ",", "commas and digits": "1,", "groups": "123,", "ones": "1 ",
    "triples": "123 ", "scales": "million ", "scaled": "1 million ", "lakh crore": "1 lakh crore ",
    "points": "1.", "minus": "-1", "dashes": "1–", "letters": "a", "ids": "a1-", "at": "a@b.", "h": "1h3",
    "months": "May ", "dates": "1.1.", "slashes": "1/1/", "spaces": " ", "percent": "1%", "cjk": "3億", "nbsp": "1\xa0",
    "about": "about ", "devanagari": "१ लाख ", "bidi": "\u200e1", "dots": "१.", "quarters": "Q3 ", "e": "1e1",
}  # fmt: skip


@pytest.mark.parametrize("pattern", HOSTILE.values(), ids=HOSTILE.keys())
def test_no_text_takes_more_than_linear_time(pattern):
    """Four times the text takes about four times the time, whatever it holds."""

    def seconds(length: int) -> float:
        text = (pattern * length)[:length]
        start = time.process_time()
        numbers_in(text)
        return time.process_time() - start

    seconds(1_000)
    short, long = seconds(4_000), seconds(16_000)
    assert long < 10 * short + 0.05, (short, long)
