"""Units of measurement, text that is counted, and lots that are drawn."""

from __future__ import annotations

import random
import re
from functools import cache
from typing import Annotated, Any

from pydantic import Field

from bot.toolkit import ToolError, tool

_WORDS_A_MINUTE = 238
"""Silent reading of English, Brysbaert 2019 (a meta-analysis of 190 studies)."""


@tool(
    group="math",
    summary="Convert units: length, mass, speed, data, energy …",
    title="Convert {value} {unit} to {to}",
)
def convert_units(
    value: Annotated[float, Field(description="How many of unit.")],
    unit: Annotated[str, Field(max_length=60, description='As "mile", "km/h", "GiB", "degF".')],
    to: Annotated[str, Field(max_length=60, description='As "km", "m/s", "MB", "degC".')],
) -> str:
    """Convert exactly between units of the same kind. Not for money."""
    import pint

    registry = _registry()
    try:
        found = registry.Quantity(value, _unit(unit)).to(_unit(to))
    except pint.DimensionalityError as error:
        raise ToolError(f"{unit} cannot be converted to {to}: {error.extra_msg or error}") from None
    except (pint.PintError, AttributeError, ValueError, TypeError, OverflowError) as error:
        raise ToolError(f"{error}. Write units as km/h, kWh, GiB, sq_ft, degC.") from None
    return f"{value:,.12g} {unit} = {found.magnitude:,.12g} {to}"


_UNIT = re.compile(r"[\w°µ%/*^ .()-]+")


def _unit(text: str) -> Any:
    if not _UNIT.fullmatch(text) or re.search(r"\*\*|\^\s*\d{2}|\d{3}", text):
        raise ToolError(f"{text!r} is not a unit. Write units as km/h, kWh, GiB, m^2, degC.")
    return _registry().Unit(text.replace("°", "deg"))


@cache
def _registry() -> Any:
    import pint

    return pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)


@tool(group="math", summary="Draw lots: pick, shuffle or group people or things", title="Draw lots")
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
        return "\n".join(f"{place}. {each}" for place, each in enumerate(drawn, 1))
    groups = max(1, len(drawn) // group_size)
    return "\n".join(f"group {n + 1}: {', '.join(drawn[n::groups])}" for n in range(groups))


@tool(
    group="text", summary="Count words, characters and sentences of a text", title="Count the words"
)
def count_words(
    text: Annotated[str, Field(min_length=1, max_length=200_000, description="The text.")],
) -> str:
    """Count exactly, for limits on length; you cannot count by yourself."""
    words = re.findall(r"\w+(?:['’\-]\w+)*", text)
    sentences = [each for each in re.split(r"[.!?…]+(?:\s|$)", text) if re.search(r"\w", each)]
    minutes, solid = len(words) / _WORDS_A_MINUTE, re.sub(r"\s", "", text)
    return (
        f"words: {len(words):,} · characters: {len(text):,} · without spaces: "
        f"{len(solid):,} · sentences: {len(sentences):,} · lines: "
        f"{len(text.splitlines()):,} · reading time: {minutes:.1f} min"
    )
