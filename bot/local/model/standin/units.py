"""Units: how much one is in another. Money is none: its rates change."""

from __future__ import annotations

import re

from .findings import Findings
from .outputs import failed
from .view import View

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
_VALUE = r"(?<!\d,)(?P<value>-?\d[\d,]*+(?:\.\d++)?)"
CONVERT = re.compile(
    rf"(?<![\w:]){_VALUE}\s*(?:degrees )?(?P<unit>{_UNIT})\s+(?:to|in|into|as|are how many)\s+(?:degrees )?(?P<to>{_UNIT})\b",
    re.IGNORECASE,
)
HOW_MANY = re.compile(
    rf"\bhow (?:many|much) (?P<to>{_UNIT})\s+(?:is|are|in|make|do|has|does)(?: (?:there in|an?|in))?\s*{_VALUE}?\s*(?P<unit>{_UNIT})\b",
    re.IGNORECASE,
)
_CODES = r"usd|eur|gbp|chf|jpy|dollars?|euros?|pounds sterling|yen|francs?"
MONEY = re.compile(rf"\d\s*(?:{_CODES})\s+(?:to|in|into)\s+(?:{_CODES})\b", re.IGNORECASE)


ON = re.compile(
    rf"\W*(?:and|what about|how about)\W+(?:{_VALUE}\s*(?P<of>{_UNIT})?\W*)?(?:(?:in|into|to)\s+(?P<to>{_UNIT}))?\W*",
    re.IGNORECASE,
)


def is_asked(view: View) -> bool:
    """Whether a quantity is to be given in another unit."""
    text = _whole(view)
    return any(each.search(text) for each in (CONVERT, HOW_MANY, MONEY)) and view.knows(
        "convert_units"
    )


def _whole(view: View) -> str:
    """The question; one that goes on, as "and 25?", with what it does not say itself."""
    if not (ON.fullmatch(view.text) and view.earlier and view.earlier[0].tool == "convert_units"):
        return view.text
    whole = ""
    for turn in view.turns:
        said, asked = ON.fullmatch(turn.text), CONVERT.search(whole) or HOW_MANY.search(whole)
        if said is None or asked is None:
            whole = turn.text
            continue
        value, to = said["value"] or asked["value"] or "1", said["to"] or asked["to"]
        whole = f"{value} {said['of'] or asked['unit']} in {to}"
    return whole


def _in_one_unit(text: str) -> str:
    """ "5 feet 11 inches" as inches alone."""
    return re.sub(
        r"(\d+)\s*(?:feet|foot|ft|')\s*(?:and\s+)?(\d+(?:\.\d+)?)\s*(?:inch(?:es)?|in\b|\")",
        lambda both: f"{12 * int(both[1]) + float(both[2]):g} inches",
        text,
        flags=re.IGNORECASE,
    )


def answer(view: View, found: Findings) -> None:
    """Let the tool convert it."""
    text = _in_one_unit(_whole(view))
    every = list(CONVERT.finditer(text)) or list(HOW_MANY.finditer(text))
    if not every:
        found.summary = (
            "I have no exchange rates: they change by the minute, and nothing here looks them up."
        )
    for asked in every:
        part = Findings()
        _convert(view, part, asked)
        found.summary = f"{found.summary} {part.summary}".strip()
        found.sources = part.sources


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
