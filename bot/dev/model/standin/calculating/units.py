"""Units: how much one is in another. Money is none: its rates change."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import failed
from ..phrasing import phrase
from ..view import View

NAMES = {
    "mile": "miles?|mi", "km": "km|kilomet(?:er|re)s?", "m": "m|met(?:er|re)s?", "cm": "cm|centimet(?:er|re)s?",
    "foot": "feet|foot|ft", "inch": "inch(?:es)?", "yard": "yards?|yd", "kg": "kgs?|kilos?|kilograms?",
    "g": "g|grams?", "pound": "pounds?|lbs?", "ounce": "ounces?|oz", "tonne": "tonnes?|tons?",
    "liter": "lit(?:er|re)s?", "gallon": "gallons?", "cup": "cups?",
    "degC": "°?c|celsius|degrees celsius", "degF": "°?f|fahrenheit|degrees fahrenheit", "km/h": "km/?h|kmh",
    "mph": "mph", "MB": "mb|megabytes?", "GB": "gb|gigabytes?", "TB": "tb|terabytes?",
    "second": "seconds?|secs?", "minute": "minutes?|mins?", "hour": "hours?|hrs?", "day": "days?", "week": "weeks?",
    "kWh": "kwh", "acre": "acres?", "hectare": "hectares?|ha",
}  # fmt: skip
"""Units as convert_units takes them, by what people write."""
_UNIT = "|".join(NAMES.values())
_VALUE = r"(?P<value>-?\d[\d,]*+(?:\.\d++)?)"
CONVERT = (
    phrase(
        rf"(?:(?:what(?:['’]?s| is)|how much is|convert) )?{_VALUE} ?(?:degrees )?(?P<unit>{_UNIT}) (?:to|in|into|as) (?:degrees )?(?P<to>{_UNIT})"
    ),
    phrase(
        rf"how (?:many|much) (?P<to>{_UNIT}) (?:is|are|in|make)(?: (?:there )?in)?(?: an?)? ?{_VALUE}? ?(?P<unit>{_UNIT})"
    ),
)


def is_asked(view: View) -> bool:
    """Whether a quantity is to be given in another unit."""
    return _asked(view) is not None and view.knows("convert_units")


def _asked(view: View) -> re.Match[str] | None:
    return next((asked for way in CONVERT if (asked := way.fullmatch(view.text))), None)


def answer(view: View, found: Findings) -> None:
    """Let the tool convert it."""
    if asked := _asked(view):
        _convert(view, found, asked)


def _convert(view: View, found: Findings, asked: re.Match[str]) -> None:
    value = float((asked["value"] or "1").replace(",", ""))
    output = view.do(
        "convert_units", "I convert the units.", value=value, unit=_name(asked["unit"]), to=_name(asked["to"])
    )  # fmt: skip
    if failed(output):
        found.summary = f"{asked['unit']} cannot be converted to {asked['to']}."
        return
    result = output.rpartition("= ")[2].split(" ")[0]
    plain = float(result.replace(",", ""))
    # As many figures as anybody reads; the tool knows more.
    figures = f"{plain:,.2f}".rstrip("0").rstrip(".") if abs(plain) >= 1 else f"{plain:.4g}"
    about = "" if float(figures.replace(",", "")) == plain else "about "
    found.summary = (
        f"{asked['value'] or '1'} {asked['unit']} is {about}**{figures} {asked['to']}**."
    )
    found.source("Unit conversion", None, "The figure.")


def _name(said: str) -> str:
    return next(name for name, words in NAMES.items() if re.fullmatch(words, said, re.IGNORECASE))
