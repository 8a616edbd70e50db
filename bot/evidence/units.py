"""Units of figures: currencies, percent, time, data, mass, length, energy; and words for scales."""

from __future__ import annotations

import re
from dataclasses import dataclass

PERCENT, POINTS = "percent", "points"


@dataclass(frozen=True, slots=True)
class Unit:
    """A unit: `size` in the base unit of its `kind`. The kind of a currency is its code."""

    kind: str
    size: float = 1.0
    is_currency: bool = False

    @property
    def is_percent(self) -> bool:
        return self.kind in (PERCENT, POINTS)

    @property
    def in_base(self) -> float:
        """How many base units it is; 1 for a currency."""
        return 1.0 if self.is_currency else self.size

    def is_like(self, other: Unit) -> bool:
        """Return whether both measure the same thing: two currencies, or days and months."""
        kinds = {self.kind, other.kind}
        return (
            len(kinds) == 1
            or kinds == {"time", "months"}
            or self.is_currency is other.is_currency is True
        )


_CURRENCIES = """
EUR € euro euros
USD $ us$ dollar dollars dólares dolares dólar dollari ドル
GBP £ pound pounds pfund
CHF fr. sfr franken francs
INR ₹ rs rs. rupee rupees rupien
JPY ¥ yen 円
BRL r$ reais real
CNY yuan 元
SEK NOK DKK PLN CZK HUF CAD AUD NZD SGD ZAR MXN TRY KRW AED ILS THB
"""
_SIZES = """
percent 1 % percent pct prozent pourcent procent パーセント
points 1 pp prozentpunkte prozentpunkten
time 0.001 ms millisecond milliseconds millisekunden millisecondes milisegundos ミリ秒
time 1 s sec secs second seconds sekunde sekunden secondes segundos secondi 秒
time 60 min mins minute minutes minuten minuto minutos minuti 分 分間
time 3600 h hr hrs std hour hours stunde stunden heure heures hora horas uur 時間
time 86400 day days tag tage tagen jour jours día días dias giorni dagen 日 日間
time 604800 wk week weeks woche wochen semaine semaines semana semanas settimane weken 週間 週
months 1 month months monat monate monaten mois meses mês mesi maanden か月 ヶ月 カ月
months 12 yr yrs year years jahr jahre jahren ans années año años anos anni jaar 年間
data 1e3 kb
data 1e6 mb
data 1e9 gb
data 1e12 tb
data 1024 kib
data 1048576 mib
data 1073741824 gib
mass 1 g gram grams gramm grammes gramos
mass 1e3 kg kilo kilos kilogramm キロ
mass 1e6 t tonne tonnes tons tonnen toneladas tonelada トン
length 0.001 mm
length 0.01 cm
length 1 m metre metres meter meters mètres metros
length 1e3 km kilometre kilometres kilometer kilometers kilomètres kilómetros
length 1609.344 mi mile miles meilen
area 1 m² m2 sqm quadratmeter
volume 0.001 ml
volume 1 l litre litres liter liters litro litros
volume 1000 m³ m3 kubikmeter
energy 1 wh
energy 1e3 kwh
energy 1e6 mwh
energy 1e9 gwh
power 1 w
power 1e3 kw
temperature 1 °c
"""
_FRENCH_DATA = {"ko": 1e3, "Ko": 1e3, "Mo": 1e6, "Go": 1e9, "To": 1e12}
_PHRASES = {
    "per cent": PERCENT,
    "pour cent": PERCENT,
    "por ciento": PERCENT,
    "por cento": PERCENT,
    "per cento": PERCENT,
    "percentage point": POINTS,
    "percentage points": POINTS,
    "points de": POINTS,
    "puntos porcentuales": POINTS,
    "pontos percentuais": POINTS,
    **dict.fromkeys(["cubic metre", "cubic metres", "cubic meters", "metros cúbicos"], "volume"),
    **dict.fromkeys(["mètres cubes", "mètre cube", "metro cúbico"], "volume"),
    **dict.fromkeys(["square metres", "square meters", "metros cuadrados"], "area"),
}
SCALES = {
    **dict.fromkeys(["k", "tsd", "thousand", "mil", "mille", "tausend", "千"], 1e3),
    **dict.fromkeys(["lakh", "lakhs", "lac"], 1e5),
    **dict.fromkeys(["万"], 1e4),
    **dict.fromkeys(["m", "mn", "mio", "mill", "million", "millions", "millionen"], 1e6),
    **dict.fromkeys(["millón", "millones", "milhão", "milhões", "milioni", "百万"], 1e6),
    **dict.fromkeys(["crore", "crores", "cr"], 1e7),
    **dict.fromkeys(["億"], 1e8),
    **dict.fromkeys(["bn", "b", "mrd", "billion", "billions", "milliarde", "milliarden"], 1e9),
    **dict.fromkeys(["milliard", "milliards", "mld", "miliardi", "bilhão", "bilhões"], 1e9),
}
"""Words that multiply a figure. "m" and "b" do only beside a currency."""


def _units() -> dict[str, Unit]:
    found: dict[str, Unit] = {}
    for line in _CURRENCIES.split("\n"):
        code, *words = line.split() or [""]
        plain = [each for each in words if each.isupper() and len(each) == len("EUR")]
        for currency in filter(None, [code, *plain]):
            found[currency.casefold()] = Unit(currency, is_currency=True)
        found |= {each: Unit(code, is_currency=True) for each in words if each not in plain}
    for line in _SIZES.strip().split("\n"):
        kind, size, *words = line.split()
        found |= {each: Unit(kind, float(size)) for each in words}
    return found


UNITS = _units()
_PREFIX = re.compile(
    r"(us\$|r\$|(?<![\dkmKM])[$€£¥₹]|\b(?:[a-z]{3}|rs\.?|fr\.))[\xa0 ]?$", re.IGNORECASE
)
_AFTER = re.compile(
    r"[\xa0 ]?(?P<word>%|°c|(?:r\$|us\$|[$€£¥₹])(?!\d)|(?![\d_])\w[\w²³]*)"
    r"(?:[\xa0 ](?P<next>[^\W\d_]+))?",
    re.IGNORECASE,
)
_AFTER_SCALE = re.compile(r"\.?[\xa0 ]?(?:de |d'|of )?", re.IGNORECASE)
_JAPANESE = re.compile(
    r"(百万|億|万|千)?(パーセント|ミリ秒|時間|分間|日間|週間|年間|[かヶカ]月|トン|ドル|キロ|円|元|秒|分|週|日(?!本))?"
)


@dataclass(frozen=True, slots=True)
class Suffix:
    """What follows a number: the factor of its scale word, its unit, and where both end."""

    scale: float
    unit: Unit | None
    end: int


def unit_before(text: str, start: int) -> tuple[Unit | None, int]:
    """Return the currency that ends at `start`, and where it begins."""
    found = _PREFIX.search(text, max(0, start - 5), start)
    unit = UNITS.get(found[1].casefold()) if found else None
    return (unit, found.start()) if found and unit and unit.is_currency else (None, start)


def suffix(text: str, at: int, *, has_currency: bool) -> Suffix:
    """Return the scale word and the unit after a number that ends at `at`. A number whose currency
    stands before it has none behind it."""
    if at < len(text) and text[at] > "\u2e80":
        found = _JAPANESE.match(text, at)
        scale_word, unit_word = found.groups() if found else (None, None)
        end = found.end() if found else at
        return Suffix(SCALES.get(scale_word or "", 1), UNITS.get(unit_word or ""), end)
    scale, found = 1.0, _AFTER.match(text, at)
    word = found["word"] if found else ""
    is_glued = text[at : at + 1] == word[:1]
    if found and (factor := SCALES.get(word.casefold())):
        is_money = has_currency or _is_money(found["next"]) or text[found.end() :][:1] in ("€", "$")
        is_short = len(word) == 1 and word.isascii()
        if not is_short or (is_glued and (word in "kKM" or is_money)) or (is_money and word != "K"):
            scale, at = factor, found.end("word")
            skipped = _AFTER_SCALE.match(text, at)
            found = _AFTER.match(text, skipped.end() if skipped else at)
    unit = _unit_of(found) if found else None
    if found is None or unit is None or (has_currency and unit.is_currency):
        return Suffix(scale, None, at)
    return Suffix(scale, unit, found.end("word"))


def _is_money(word: str | None) -> bool:
    unit = UNITS.get((word or "").casefold())
    return unit is not None and unit.is_currency


def _unit_of(found: re.Match[str]) -> Unit | None:
    word = found["word"]
    if found["next"] and (kind := _PHRASES.get(f"{word} {found['next']}".casefold())):
        return Unit(kind, 1000 if kind == "volume" else 1)
    if word in _FRENCH_DATA:
        return Unit("data", _FRENCH_DATA[word])
    return UNITS.get(word.casefold())


def unit_of_name(name: str) -> tuple[Unit | None, float]:
    """Return the unit and the scale in the name of a column or key: "p95_ms", "Preis (€)"."""
    unit, scale = None, 1.0
    for word in re.findall(r"[^\W_]+|[%€$£¥₹]", name.casefold())[-4:]:
        scale = SCALES.get(word, scale) if len(word) > 1 else scale
        unit = UNITS.get(word, unit) if len(word) > 1 or not word.isalpha() else unit
    return unit, scale
