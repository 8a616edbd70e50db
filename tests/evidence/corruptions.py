"""Corruptions of right answers, by kind: each changes one claim as a model might get it wrong."""

from __future__ import annotations

import copy
import random
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

from bot.evidence.fields import AnswerField, FieldKind, fields_of
from bot.evidence.notations import Mark, mark_of
from bot.evidence.quotes import quotes
from bot.evidence.tokens import Kind, Token, tokens
from tests.evidence.labelled import Labelled, flagged_texts, world

_SMALL = 12


@dataclass(frozen=True)
class Spot:
    """A token of an answer, and the field that it is in."""

    part: AnswerField
    token: Token


@dataclass(frozen=True)
class Corrupted:
    """An answer with one wrong claim, the field where, and what was put in place of what."""

    result: dict[str, Any]
    path: str
    old: str
    new: str


Corrupt = Callable[[Labelled, random.Random], Corrupted | None]


def _spots(answer: Labelled, kind: Kind) -> list[Spot]:
    return [
        Spot(part, token)
        for part in fields_of(answer.result)
        if part.kind in (FieldKind.PROSE, FieldKind.CELL)
        for token in tokens(part.text)
        if token.kind is kind and not _in_quote(part, token)
    ]


def _in_quote(part: AnswerField, token: Token) -> bool:
    return any(each.start <= token.start < each.end for each in quotes(part.text))


def _figures(answer: Labelled, *, least_digits: int = 2) -> list[Spot]:
    """Return the figures that are checked: of two digits or more, no years."""
    return [
        spot
        for spot in _spots(answer, Kind.FIGURE)
        if len(re.sub(r"\D", "", spot.token.digits)) >= least_digits
        and not (spot.token.is_bare and int(spot.token.digits) <= _SMALL)
        and not re.fullmatch(r"(?:19|20)\d\d", spot.token.digits)
    ]


def _put(answer: Labelled, spot: Spot, old: str, new: str) -> Corrupted | None:
    """Return the answer with `new` for `old` in the text of a token; None if nothing changes."""
    text, start = spot.part.text, spot.token.start
    at = text.find(old, start)
    if old == new or at < 0 or at > spot.token.end:
        return None
    changed = text[:at] + new + text[at + len(old) :]
    return Corrupted(_with(answer.result, spot.part.path, changed), spot.part.path, old, new)


def _with(result: dict[str, Any], path: str, text: str) -> dict[str, Any]:
    """Return a result with another text at a path."""
    found: Any = copy.deepcopy(result)
    *keys, last = path.split(".")
    at = found
    for key in keys:
        at = at[int(key)] if isinstance(at, list) else at[key]
    at[int(last) if isinstance(at, list) else last] = text
    return dict(found)


def _raw(spot: Spot) -> str:
    """Return the digits as the answer writes them, with its own spaces and apostrophes."""
    end = spot.token.end
    found = re.search(
        r"\d[\d.,'’\u00a0\u202f\u2009 ]*\d|\d", spot.part.text[spot.token.start : end]
    )
    return found[0] if found else spot.token.digits


def _digit(answer: Labelled, chance: random.Random, pick: str) -> Corrupted | None:
    spots = _figures(answer)
    if not spots:
        return None
    spot = chance.choice(spots)
    raw = _raw(spot)
    places = [n for n, c in enumerate(raw) if c.isdigit()]
    at = places[-1] if pick == "last" else chance.choice(places)
    if pick == "swap":
        pairs = [(a, b) for a, b in pairwise(places) if raw[a] != raw[b]]
        pairs = [(a, b) for a, b in pairs if not (a == places[0] and raw[b] == "0")]
        if not pairs:
            return None
        a, b = chance.choice(pairs)
        digits = list(raw)
        digits[a], digits[b] = digits[b], digits[a]
        return _put(answer, spot, raw, "".join(digits))
    first = at == places[0]
    new = chance.choice([c for c in "0123456789" if c != raw[at] and not (first and c == "0")])
    return _put(answer, spot, raw, raw[:at] + new + raw[at + 1 :])


def _times(answer: Labelled, chance: random.Random, factor: float) -> Corrupted | None:
    spots = _figures(answer)
    if not spots:
        return None
    spot = chance.choice(spots)
    raw = _raw(spot)
    everywhere = [each.token.digits for each in _figures(answer)]
    mark = mark_of(everywhere)
    has_comma = answer.locale[:2] in ("de", "fr", "es", "pt") and answer.locale != "de-CH"
    comma = mark is Mark.COMMA or (mark is Mark.UNKNOWN and has_comma)
    decimals = re.search(r"[.,](\d{1,2})$", raw)
    bare = re.sub(r"\D", "", raw)
    value = int(bare) / (10 ** len(decimals[1]) if decimals else 1) * factor
    if value < 1:
        return None
    places = len(decimals[1]) if decimals else (0 if value == int(value) else 1)
    new = f"{value:,.{places}f}"
    point = "," if comma else "."
    group = "." if point == "," else ","
    if not re.search(r"\d[,.'’\s]\d{3}", raw) and value < 10_000:
        new = new.replace(",", "")
    new = new.replace(",", "\0").replace(".", point).replace("\0", group)
    return _put(answer, spot, raw, new)


def _percent(answer: Labelled, chance: random.Random, *, decimals: int) -> Corrupted | None:
    spots = [
        s for s in _figures(answer, least_digits=1) if s.token.unit and s.token.unit.is_percent
    ]
    if not spots:
        return None
    spot = chance.choice(spots)
    mark = "," if "," in _raw(spot) else "."
    new = f"{chance.uniform(2, 98):.{decimals}f}".replace(".", mark)
    return _put(answer, spot, _raw(spot), new)


def _made_up(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Replace a large figure by another of its size: a sum, mean or past value that was made up."""
    spots = [s for s in _figures(answer, least_digits=4) if s.token.readings[0].value >= 1000]
    if not spots:
        return None
    spot = chance.choice(spots)
    raw = _raw(spot)
    digits = [c if not c.isdigit() else chance.choice("123456789") for c in raw]
    return _put(answer, spot, raw, "".join(digits))


def _swapped_rows(answer: Labelled, chance: random.Random) -> Corrupted | None:
    table = answer.result.get("table")
    if not table or len(table["rows"]) < 2:
        return None
    column = chance.randrange(1, len(table["columns"]))
    one, other = chance.sample(range(len(table["rows"])), 2)
    rows = copy.deepcopy(table["rows"])
    totals = {"total", "summe", "sum"}
    if rows[one][column] == rows[other][column] or not re.search(r"\d\d", rows[one][column]):
        return None
    if {rows[one][0].casefold(), rows[other][0].casefold()} & totals:
        return None
    rows[one][column], rows[other][column] = rows[other][column], rows[one][column]
    result = answer.result | {"table": table | {"rows": rows}}
    return Corrupted(result, f"table.rows.{one}.{column}", rows[other][column], rows[one][column])


def _date(answer: Labelled, chance: random.Random, part: str) -> Corrupted | None:
    spots = _spots(answer, Kind.DATE)
    if part == "year":
        spots = [s for s in spots if re.search(r"20\d\d", s.token.text)]
    else:
        spots = [s for s in spots if s.token.days[0].day]
    if not spots:
        return None
    spot = chance.choice(spots)
    shown = spot.part.text[spot.token.start : spot.token.end]
    if part == "year":
        year = re.search(r"20\d\d", shown)
        assert year
        return _put(
            answer,
            spot,
            shown,
            shown.replace(year[0], str(int(year[0]) + chance.choice([-2, -1, 2]))),
        )
    day = spot.token.days[0].day
    new = chance.choice(
        [n for n in range(max(1, day - 3), min(28, day + 3) + 1) if n != day] or [1]
    )
    changed = re.sub(
        rf"(?<!\d)0?{day}(?!\d)",
        str(new).zfill(2 if re.search(rf"0{day}|-{day:02}", shown) else 1),
        shown,
        count=1,
    )
    return _put(answer, spot, shown, changed)


def _clock(answer: Labelled, chance: random.Random) -> Corrupted | None:
    spots = [s for s in _spots(answer, Kind.CLOCK) if ":" in s.token.text]
    if not spots:
        return None
    spot = chance.choice(spots)
    hour, _, minute = spot.token.text.partition(":")
    new = f"{(int(hour) + chance.choice([1, 2, 5])) % 24:02}:{minute}"
    return _put(answer, spot, spot.token.text, new)


def _id(answer: Labelled, chance: random.Random, kind: Kind) -> Corrupted | None:
    spots = [s for s in _spots(answer, kind) if sum(map(str.isdigit, s.token.text)) > 1]
    if not spots:
        return None
    spot = chance.choice(spots)
    shown = spot.part.text[spot.token.start : spot.token.end]
    at = chance.choice([n for n, c in enumerate(shown) if c.isdigit()])
    new = chance.choice([c for c in "123456789" if c != shown[at]])
    return _put(answer, spot, shown, shown[:at] + new + shown[at + 1 :])


def _address(answer: Labelled, chance: random.Random) -> Corrupted | None:
    spots = _spots(answer, Kind.ADDRESS)
    if not spots:
        return None
    spot = chance.choice(spots)
    letters = [n for n, c in enumerate(spot.token.text) if c.isalpha() and n > 10]
    at = chance.choice(letters)
    shown = spot.token.text
    return _put(
        answer, spot, shown, shown[:at] + ("x" if shown[at] != "x" else "y") + shown[at + 1 :]
    )


def _made_up_source(answer: Labelled, _chance: random.Random) -> Corrupted | None:
    source = {"title": "Statistics", "supports": "All.", "url": "https://stats.example/2026/report"}
    sources = [*answer.result["sources"], source]
    path = f"sources.{len(sources) - 1}.url"
    return Corrupted(answer.result | {"sources": sources}, path, "", source["url"])


def _quote_spots(answer: Labelled) -> Iterator[tuple[str, str, int, int]]:
    """Yield path, text, start and end of each quote."""
    for part in fields_of(answer.result):
        if part.kind is FieldKind.QUOTE:
            yield part.path, part.text, 0, len(part.text)
        elif part.kind is FieldKind.PROSE:
            for each in quotes(part.text):
                yield part.path, part.text, each.start + 1, each.end - 1


_INVENTED = (
    "we expect this to change within the next quarter",
    "all figures are subject to review by the board",
    "nobody has raised an objection so far",
)
_WORDS = ("always", "customers", "quarterly", "external", "nearly", "double", "contract")
_NOT = {"de": "nicht", "de-CH": "nicht", "fr": "pas", "es": "no", "pt": "não"}


def _quote(answer: Labelled, chance: random.Random, how: str) -> Corrupted | None:
    found = list(_quote_spots(answer))
    if not found:
        return None
    path, text, start, end = chance.choice(found)
    words = text[start:end].split(" ")
    if how == "invented":
        new = chance.choice(_INVENTED)
    elif len(words) < 3:
        return None
    elif how == "not":
        at = chance.randrange(1, len(words))
        new = " ".join([*words[:at], _NOT.get(answer.locale, "not"), *words[at:]])
    else:
        at = chance.randrange(len(words))
        new = " ".join([*words[:at], chance.choice(_WORDS), *words[at + 1 :]])
    changed = text[:start] + new + text[end:]
    return Corrupted(_with(answer.result, path, changed), path, text[start:end], new)


def _other_source(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Move the quote of one source to another one that was read."""
    sources = answer.result["sources"]
    quoted = [n for n, each in enumerate(sources) if each.get("quote")]
    titles = {s.title for output in world(answer.world) for s in output.entry.sources}
    if not quoted:
        return None
    at = chance.choice(quoted)
    others = sorted(titles - {sources[at]["title"]})
    if not others:
        return None
    new = chance.choice(others)
    changed = [*sources[:at], sources[at] | {"title": new}, *sources[at + 1 :]]
    return Corrupted(
        answer.result | {"sources": changed}, f"sources.{at}.quote", sources[at]["title"], new
    )


def _bold_count(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Replace a count by a bold one that is one to three too high."""
    spots = [
        s for s in _spots(answer, Kind.FIGURE) if s.token.is_bare and 1 < int(s.token.digits) < 1000
    ]
    spots = [s for s in spots if s.part.kind is FieldKind.PROSE]
    if not spots:
        return None
    spot = chance.choice(spots)
    text = spot.part.text
    if text[spot.token.start - 2 : spot.token.start] == "**":
        return None
    new = f"**{int(spot.token.digits) + chance.randint(1, 3)}**"
    return _put(answer, spot, spot.token.digits, new)


_OTHER_UNITS = {
    "€": "$", "EUR": "USD", "euros": "dollars", "Euro": "Dollar", "euro": "dollar", "$": "€", "USD": "EUR",
    "R$": "US$", "₹": "$", "CHF": "EUR", "円": "ドル", "ドル": "円", "days": "weeks", "Tage": "Wochen",
    "Tagen": "Wochen", "jours": "semaines", "días": "semanas", "dias": "semanas", "weeks": "months",
    "Wochen": "Monate", "semanas": "meses", "minutes": "hours", "Minuten": "Stunden", "minutos": "horas",
    "min": "h", "ms": "s", "kWh": "MWh", "GWh": "MWh", "GB": "TB", "TB": "GB", "MB": "GB", "Mo": "Go",
    "kg": "t", "km": "m", "toneladas": "kg", "tonnes": "kg", "months": "weeks", "meses": "semanas",
    "litros": "kg", "Liter": "kg", "%": "kg", "percent": "kg", "Prozent": "kg", "t": "kg",
}  # fmt: skip


def _unit(answer: Labelled, chance: random.Random) -> Corrupted | None:
    spots = [s for s in _figures(answer, least_digits=1) if s.token.unit]
    found = []
    for spot in spots:
        shown = spot.part.text[spot.token.start : spot.token.end]
        for unit in sorted(_OTHER_UNITS, key=len, reverse=True):
            if re.search(rf"(?<![A-Za-z$]){re.escape(unit)}(?![A-Za-z])", shown):
                found.append((spot, unit))
                break
    if not found:
        return None
    spot, unit = chance.choice(found)
    return _put(answer, spot, unit, _OTHER_UNITS[unit])


def _minus(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Turn a sign round, or put a minus before a figure without one."""
    spots = _figures(answer)
    if not spots:
        return None
    spot = chance.choice(spots)
    shown = spot.part.text[spot.token.start : spot.token.end]
    first = shown[:1]
    new = {"+": "−", "−": "+", "-": "+"}.get(first, f"−{first}") + shown[1:]
    return _put(answer, spot, shown, new)


def _another_number(answer: Labelled, chance: random.Random) -> Corrupted | None:
    """Replace a figure by another one of the outputs with as many digits."""
    spots = _figures(answer)
    if not spots:
        return None
    spot = chance.choice(spots)
    raw = _raw(spot)
    length = len(re.sub(r"\D", "", raw))
    others = sorted(
        {
            output.entry.text[each.start : each.end]
            for output in world(answer.world)
            for each in output.mentions
            if len(re.sub(r"\D", "", output.entry.text[each.start : each.end])) == length
            and each.value != spot.token.readings[0].value
            and re.fullmatch(r"[\d.,]+", output.entry.text[each.start : each.end])
        }
    )
    return _put(answer, spot, raw, chance.choice(others)) if others else None


def _small_number(answer: Labelled, chance: random.Random) -> Corrupted | None:
    spots = [
        s for s in _spots(answer, Kind.FIGURE) if s.token.is_bare and int(s.token.digits) <= _SMALL
    ]
    spots = [s for s in spots if s.part.kind is FieldKind.PROSE]
    if not spots:
        return None
    spot = chance.choice(spots)
    new = chance.choice([n for n in range(2, _SMALL) if n != int(spot.token.digits)])
    return _put(answer, spot, spot.token.digits, str(new))


KINDS: dict[str, Corrupt] = {
    "one digit": lambda a, c: _digit(a, c, "any"),
    "last digit": lambda a, c: _digit(a, c, "last"),
    "two digits swapped": lambda a, c: _digit(a, c, "swap"),
    "× 10": lambda a, c: _times(a, c, 10),
    "÷ 10": lambda a, c: _times(a, c, 0.1),
    "× 100": lambda a, c: _times(a, c, 100),
    "× 1000": lambda a, c: _times(a, c, 1000),
    "÷ 1000": lambda a, c: _times(a, c, 0.001),
    "cells of two rows swapped": _swapped_rows,
    "large figure made up": _made_up,
    "percentage made up, one decimal": lambda a, c: _percent(a, c, decimals=1),
    "percentage made up, whole": lambda a, c: _percent(a, c, decimals=0),
    "other year": lambda a, c: _date(a, c, "year"),
    "other day": lambda a, c: _date(a, c, "day"),
    "other time": _clock,
    "digit of an id": lambda a, c: _id(a, c, Kind.ID),
    "digit of a phone number": lambda a, c: _id(a, c, Kind.PHONE),
    "letter of an address": _address,
    "source made up": _made_up_source,
    "quote made up": lambda a, c: _quote(a, c, "invented"),
    "“not” put into a quote": lambda a, c: _quote(a, c, "not"),
    "word of a quote replaced": lambda a, c: _quote(a, c, "word"),
    "quote of another source": _other_source,
    "bold count too high": _bold_count,
    "other unit or currency": _unit,
    "sign turned round": _minus,
}
"""The kinds that count for the rate."""

HARD_KINDS: dict[str, Corrupt] = {
    "another number of the outputs": _another_number,
    "small number in prose": _small_number,
}
"""The kinds that the check cannot see by its rules, or half of them."""


def corrupted(
    answers: Sequence[Labelled], kind: Corrupt, *, tries: int, seed: int = 1
) -> Iterator[tuple[Labelled, Corrupted]]:
    """Yield corruptions of one kind, up to `tries` of each answer, no one twice. Wrong answers are left
    alone."""
    for answer in answers:
        if any(each.label == "wrong" for each in answer.spans):
            continue
        chance = random.Random(f"{seed} {answer.name}")
        seen = set()
        for _ in range(tries):
            made = kind(answer, chance)
            if made and (made.path, made.new) not in seen:
                seen.add((made.path, made.new))
                yield answer, made


def catches(answers: Sequence[Labelled], kind: Corrupt, *, tries: int) -> tuple[int, int]:
    """Return how many corruptions of one kind are caught, and how many there are. One is caught if
    something is flagged in its field that was not flagged before."""
    caught = tried = 0
    for answer, made in corrupted(answers, kind, tries=tries):
        after = flagged_texts(made.result, answer.world)
        tried += 1
        caught += any(path == made.path for path, _ in after - _flagged_before(answer))
    return caught, tried


@cache
def _flagged_before(answer: Labelled) -> frozenset[tuple[str, str]]:
    return frozenset(flagged_texts(answer.result, answer.world))
