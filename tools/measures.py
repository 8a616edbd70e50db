"""Tools that convert units, draw lots and count words."""

from __future__ import annotations

import random
import re
from typing import Annotated

from pydantic import Field

from bot.toolkit import Interpreters, Provided, Reads, ToolError, tool

_WORDS_A_MINUTE = 238
"""Silent reading of English, Brysbaert 2019 (a meta-analysis of 190 studies)."""


_PEOPLE_MEAN = {
    "bbl": "oil_barrel",
    "barrel": "oil_barrel",
    "barrels": "oil_barrel",
    "mpg": "mile/gallon",
    "l/100km": "liter_per_100_km",
    "l/100 km": "liter_per_100_km",
    "sqm": "m^2",
    "sqkm": "km^2",
    "sqft": "ft^2",
    "sq ft": "ft^2",
    "sq m": "m^2",
    "sq km": "km^2",
    "sq mi": "mile^2",
    "square feet": "ft^2",
    "fl oz": "fluid_ounce",
    "fl. oz.": "fluid_ounce",
    "kb": "kbit",
    "Kb": "kbit",
    "Mb": "Mbit",
    "Gb": "Gbit",
    "Tb": "Tbit",
    "KB": "kB",
    "mb": "MB",
    "gb": "GB",
    "tb": "TB",
    "C": "degC",
    "F": "degF",
    "°": "degree",
    '"': "inch",
    "'": "foot",
    "PS": "metric_horsepower",
}
"""Common meanings of names that the library lacks or reads as a rare unit (a beer barrel, a
kilobarn, a coulomb). They have precedence over the library's reading. Keys of more than two
characters are in lower case."""

_READINGS = {
    "barrel": "42 US gallons of oil",
    "oil_barrel": "42 US gallons of oil",
    "ton": "the US short ton of 2,000 lb; otherwise write tonne or long_ton",
    "gallon": "the US gallon of 3.785 l; otherwise write imperial_gallon",
    "quart": "the US liquid quart; otherwise write imperial_quart",
    "pint": "the US liquid pint; otherwise write imperial_pint",
    "cup": "the US cup of 236.6 ml; otherwise write imperial_cup",
    "fluid_ounce": "the US fluid ounce of 29.57 ml; otherwise write imperial_fluid_ounce",
    "bushel": "the US bushel; otherwise write imperial_bushel",
    "hundredweight": "the US one of 100 lb; otherwise write long_hundredweight",
    "horsepower": "the mechanical one of 745.7 W; otherwise write metric_horsepower",
    "calorie": "the small calorie of 4.184 J; food is labelled in kcal",
    "month": "an average one of 30.4375 days",
    "year": "365.25 days",
    "kilobit": "1,000 bits; a kB is 8 times as much",
    "megabit": "10^6 bits; a MB is 8 times as much",
    "gigabit": "10^9 bits; a GB is 8 times as much",
    "kilobyte": "1,000 bytes; 1,024 are a KiB",
    "megabyte": "1,000,000 bytes; 1,048,576 are a MiB",
    "gigabyte": "10^9 bytes; 2^30 are a GiB",
    "terabyte": "10^12 bytes; 2^40 are a TiB",
}
"""The meaning that is used for an ambiguous unit, by the library's name of the unit."""


@tool(
    group="math",
    summary="Convert units: length, mass, speed, data, energy …",
    safety=Reads(calculates=True),
    title="Convert {value} {unit} to {to}",
)
async def convert_units(
    value: Annotated[float, Field(description="How many of unit.")],
    unit: Annotated[str, Field(max_length=60, description='As "mile", "km/h", "GiB", "°F".')],
    to: Annotated[str, Field(max_length=60, description='As "km", "m/s", "MB", "°C".')],
    interpreters: Provided[Interpreters],
) -> str:
    """Convert exactly between units of the same kind. Not for money."""
    try:
        result, names = await interpreters.convert(value, _readings(unit), _readings(to))
    except ToolError:
        if money := next(filter(_is_money, (unit, to)), None):
            raise ToolError(
                f"{money} is money: currencies have no fixed rate, and none is known here. Convert at a "
                "rate that a person or a source gives for the day, with calculate, and name it."
            ) from None
        raise
    lines = [f"{value:,.12g} {unit} = {result:,.12g} {to}"]
    notes = [f"note: {name} is {_READINGS[name]}." for name in names if name in _READINGS]
    return "\n".join(lines + notes)


def _readings(text: str) -> list[str]:
    """Return what a unit's text may mean, the likeliest first, as the library writes units. Raises
    ToolError for what is no unit."""
    name = " ".join(text.split())
    meant = _PEOPLE_MEAN.get(name if len(name) <= 2 else name.lower())
    readings = [meant] if meant else []
    if _UNIT.fullmatch(text):
        squared = re.sub(r"\b([a-zA-Zµ]+)([23²³])(?!\w)", _power, text)
        readings.append(squared.replace("°", "deg"))
    if not readings:
        raise ToolError(f"{text!r} is not a unit. Write units as km/h, kWh, GiB, m^2, degC.")
    return readings


def _is_money(unit: str) -> bool:
    """Return whether a text that is no unit here names a currency, also one per something."""
    from babel.numbers import list_currencies

    codes = list_currencies()
    return any(
        part.upper() in codes or part.lower().removesuffix("s") in _MONEY or part in _MONEY_SIGNS
        for part in re.findall(r"[^\W\d_]+|[^\w\s]", unit)
    )


_MONEY = frozenset(
    [
        "baht",
        "bitcoin",
        "buck",
        "cent",
        "dinar",
        "dirham",
        "dollar",
        "ether",
        "euro",
        "franc",
        "forint",
        "hryvnia",
        "koruna",
        "krona",
        "krone",
        "kroner",
        "kronor",
        "kr",
        "lira",
        "lire",
        "naira",
        "penny",
        "pence",
        "peso",
        "pound",
        "quid",
        "rand",
        "reais",
        "real",
        "renminbi",
        "ringgit",
        "riyal",
        "rmb",
        "rouble",
        "ruble",
        "rupee",
        "rupiah",
        "shekel",
        "shilling",
        "sterling",
        "taka",
        "won",
        "yen",
        "yuan",
        "zloty",
        "btc",
        "eth",
    ]
)
_MONEY_SIGNS = frozenset("$¢£¤¥₩₪₫€₱₴₹₺₽₿")


def _power(match: re.Match[str]) -> str:
    """Return the power in "m2" as the library writes it: "m^2"."""
    return f"{match[1]}^{'2' if match[2] in '2²' else '3'}"


_UNIT = re.compile(r"[\w°µ%/*^ .()-]+")


@tool(
    group="math",
    summary="Draw lots: pick, shuffle or group people or things",
    safety=Reads(calculates=True, repeatable=False),
    title="Draw lots",
)
def draw_lots(
    options: Annotated[
        list[str], Field(min_length=1, max_length=1_000, description="Names to draw from.")
    ],
    count: Annotated[int | None, Field(ge=1, description="How many; leave out for all.")] = None,
    group_size: Annotated[int | None, Field(ge=2, description="Make groups of this size.")] = None,
) -> str:
    """Pick at random, each option once at most, in random order. Use it whenever chance is to decide:
    you cannot draw by yourself."""
    if count and count > len(options):
        raise ToolError(f"{count} cannot be drawn from {len(options)}.")
    drawn = random.SystemRandom().sample(options, count or len(options))
    if group_size is None:
        return "\n".join(f"{place}. {item}" for place, item in enumerate(drawn, 1))
    groups = max(1, len(drawn) // group_size)
    return "\n".join(f"group {n + 1}: {', '.join(drawn[n::groups])}" for n in range(groups))


@tool(
    group="text",
    summary="Count words, characters and sentences of a text",
    safety=Reads(calculates=True),
    title="Count the words",
)
def count_words(
    text: Annotated[str, Field(min_length=1, max_length=200_000, description="The text.")],
) -> str:
    """Count exactly, for limits on length; you cannot count by yourself."""
    words = re.findall(r"\w+(?:['’\-]\w+)*", text)
    sentences = [
        sentence for sentence in re.split(r"[.!?…]+(?:\s|$)", text) if re.search(r"\w", sentence)
    ]
    minutes, solid = len(words) / _WORDS_A_MINUTE, re.sub(r"\s", "", text)
    return (
        f"words: {len(words):,} · characters: {len(text):,} · without spaces: "
        f"{len(solid):,} · sentences: {len(sentences):,} · lines: "
        f"{len(text.splitlines()):,} · reading time: {minutes:.1f} min"
    )
