"""Number and date words of the twelve most spoken languages, from CLDR through Babel.

A text loads only the languages that its scripts can be: an English text never loads Hindi.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property, lru_cache
from typing import NamedTuple

from babel import Locale
from babel.units import format_unit

_LATIN: tuple[str, ...] = ("en", "de", "fr", "es", "pt", "id", "en_IN", "pt_PT", "es_MX")
_SCRIPTS = (
    (re.compile(r"[\u0400-\u052f]"), ("ru",)),
    (re.compile(r"[\u0600-\u06ff]"), ("ar",)),
    (re.compile(r"[\u0900-\u097f]"), ("hi",)),
    (re.compile(r"[\u0980-\u09ff]"), ("bn",)),
    (re.compile(r"[\u3040-\u9fff]"), ("ja", "zh")),
)
_ZEROS = (0x660, 0x6F0, 0x966, 0x9E6, 0xA66, 0xAE6, 0xBE6, 0xC66, 0xE50, 0x1040, 0x17E0)
_PLAIN = {
    **{zero + digit: str(digit) for zero in _ZEROS for digit in range(10)},
    **{code: chr(code - 0xFEE0) for code in range(0xFF01, 0xFF5F)},
    **dict.fromkeys(map(ord, "\u2007\u2008\u2009\u202f"), "\xa0"),
    **dict.fromkeys(map(ord, "\u2010\u2011\u2212\ufe63"), "-"),
    **dict.fromkeys(map(ord, "’ʼ‘＇٬"), "'"),
    ord("٪"): "%",
    ord("￥"): "¥",
    0x3000: " ",
}
_INVISIBLE = re.compile("[\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]")

# What people write and CLDR lacks.
_INFORMAL_SCALES = {
    "k": 3, "tsd": 3, "thousands": 3, "m": 6, "mn": 6, "mm": 6, "mln": 6, "millions": 6, "millón": 6,
    "b": 9, "bn": 9, "billions": 9, "mld": 9, "tn": 12, "trillions": 12, "lac": 5, "lacs": 5,
    "lakhs": 5, "crores": 7, "cr": 7, "十": 1, "百": 2, "千": 3, "শত": 2, "萬": 4,
}  # fmt: skip
_CURRENCY_WORDS = {
    "EUR": "euro euros евро यूरो ইউরো يورو ユーロ 欧元",
    "USD": "dollar dollars dólares dólar dolares доллар доллара долларов डॉलर ডলার دولار ドル 美元 dolar",
    "GBP": "uk£ pound pounds pfund livres libras фунтов ポンド 英镑",
    "JPY": "yen 円 日元 иен",
    "CNY": "yuan rmb 元 人民币 юаней",
    "INR": "rupee rupees rupien roupies rs rs. रुपये रुपए रु. रु",
    "BRL": "reais real",
    "RUB": "₽ рубль рубля рублей руб руб. rublos",
    "IDR": "rupiah",
    "BDT": "taka টাকা",
    "CHF": "franken sfr fr. francs",
}
_SHARED_SIGNS = {
    "$": "USD AUD CAD HKD MXN NZD SGD TWD ARS CLP COP",
    "¥": "JPY CNY",
    "元": "CNY TWD",
    "rs": "INR PKR LKR NPR",
}
_NO_CURRENCY = {"ALL", "TOP", "CUP", "MOP", "SOS", "PEN", "XXX", "¤", "F", "FB", "UM"}  # also words
_PERCENTS = ("per cent", "pct", "percentage point", "points de pourcentage", "p.p.", "п.п.", "%")
_SECONDS = {"day": 86_400, "hour": 3_600, "minute": 60, "second": 1}
_HOURS_AND_MINUTES = {"h": 3_600, "hrs": 3_600, "std": 3_600, "m": 60, "mn": 60, "mins": 60}
_UNITS = (
    "x g t l K W V A L F C ms µs km cm mm nm mi kg mg ml dl hl kb mb gb tb pb kib mib gib tib kw mw gw"
    " wh kwh mwh gwh mv ma hz khz mhz ghz px pt bp bps rpm mbit gbit mbps gbps m² m³ km² cm² ha °c °f qm"
    " ko Ko Mo Go To кг км м см т л г шт"
)
_AMOUNT = re.compile(r"\d[\d.,٫]*")


class Meaning(NamedTuple):
    """What a word or sign beside a number may mean.

    - `exponents`: powers of ten ("billion" has two).
    - `currencies`: ISO codes, the likeliest first.
    - `seconds`: the length of a unit of time. `is_unit`: it is a unit of anything.
    """

    exponents: tuple[int, ...] = ()
    currencies: tuple[str, ...] = ()
    seconds: int = 0
    is_unit: bool = False


NOTHING = Meaning()


@dataclass(frozen=True, eq=False)
class Words:
    """Words of some languages: keys as `folded`; `percent` matches what follows a percentage."""

    languages: tuple[str, ...]
    beside: dict[str, Meaning]
    percent: re.Pattern[str]
    months: dict[str, int]
    quarters: dict[str, int]

    @cached_property
    def territories(self) -> dict[str, tuple[str, ...]]:
        """The names of countries and continents, by each of them in lower case."""
        names = defaultdict[str, dict[str, None]](dict)
        for language in self.languages:
            for code, name in Locale.parse(language).territories.items():
                names[code][name] = None
        return {name.casefold(): tuple(same) for same in names.values() for name in same}


def plain(text: str) -> tuple[str, list[int] | None]:
    """Return `text` with ASCII digits, signs and spaces, without invisible characters.

    The list has the offset in `text` of each character; it is None where offsets are the same.
    """
    if text.isascii():
        return text, None
    offsets = None
    if _INVISIBLE.search(text):
        offsets = [at for at, char in enumerate(text) if not _INVISIBLE.match(char)]
        offsets.append(len(text))
        text = _INVISIBLE.sub("", text)
    return text.translate(_PLAIN), offsets


def words_for(text: str) -> Words:
    """Return the words of the languages whose scripts occur in a text."""
    names = _LATIN
    if not text.isascii() and max(text) >= "\u0400":
        names += tuple(name for script, more in _SCRIPTS if script.search(text) for name in more)
    return _words(names)


def folded(word: str) -> str:
    """Return the form in which a word is looked up."""
    return word.rstrip(".॰").casefold() if len(word) > 1 else word


@lru_cache(maxsize=32)
def _words(names: tuple[str, ...]) -> Words:
    exponents = {word: [exponent] for word, exponent in _INFORMAL_SCALES.items()}
    currencies = {sign: codes.split() for sign, codes in _SHARED_SIGNS.items()}
    seconds, percents = dict(_HOURS_AND_MINUTES), list(_PERCENTS)
    months, quarters = {"sept": 9}, dict[str, int]()
    for name in names:
        locale = Locale.parse(name)
        for word, exponent in _scales(locale).items():
            exponents.setdefault(word, []).append(exponent)
        for code, sign in locale.currency_symbols.items():
            if not _NO_CURRENCY & {code, sign}:
                currencies.setdefault(folded(sign.strip("\u200f")), []).append(code)
        percents += _forms(name, "concentr-percent")
        for unit, length in _SECONDS.items():
            for form in _forms(name, f"duration-{unit}"):
                seconds.setdefault(folded(form), length)
        months |= _names(locale.months)
        quarters |= _names(locale.quarters)
    for code, signs in _CURRENCY_WORDS.items():
        for sign in signs.split():
            currencies.setdefault(sign, []).append(code)
    units = {*_UNITS.split(), *seconds}
    beside = {
        word: Meaning(
            tuple(dict.fromkeys(exponents.get(word, ()))),
            tuple(dict.fromkeys(currencies.get(word, ()))),
            seconds.get(word, 0),
            word in units,
        )
        for word in {*exponents, *currencies, *units}
    }
    phrases = "|".join(sorted({re.escape(form) for form in percents if form}, reverse=True))
    percent = re.compile(rf"[ \xa0]?(?:pp\b|{phrases})", re.IGNORECASE)
    return Words(names, beside, percent, months, quarters)


def _names(contexts: Mapping[str, Mapping[str, Mapping[int, str]]]) -> dict[str, int]:
    """Return the numbers of months or quarters by name."""
    return {
        folded(name.translate(_PLAIN)): number
        for context in ("format", "stand-alone")
        for width in ("wide", "abbreviated")
        for number, name in contexts[context][width].items()
    }


@lru_cache(maxsize=32)
def _scales(locale: Locale) -> dict[str, int]:
    """Return the powers of ten of the words in compact formats, as most formats have them.

    A scale of several words ("mil millones") is the product of its words.
    """
    votes: defaultdict[str, Counter[int]] = defaultdict(Counter)
    for length in ("short", "long"):
        for plural in locale.compact_decimal_formats[length].values():
            for size, pattern in plural.items():
                word = folded(pattern.pattern.replace("'", "").strip("0 \xa0\u202f"))
                if word and len(word.split()) == 1 and len(size) > 1:
                    votes[word][len(size) - max(1, pattern.pattern.count("0"))] += 1
    return {word: counts.most_common(1)[0][0] for word, counts in votes.items()}


@lru_cache(maxsize=256)
def _forms(name: str, unit: str) -> tuple[str, ...]:
    """Return the words of a unit in each width and plural form of a language."""
    forms = [
        format_unit(amount, unit, width, locale=name)
        for amount in (1, 2, 5, Decimal("1.5"))
        for width in ("long", "short", "narrow")
    ]
    return tuple({_AMOUNT.sub("", form, count=1).strip() for form in forms})
