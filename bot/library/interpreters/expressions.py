"""Foreign interpreters on text of the model: units, JMESPath, regular expressions.

One short text can cost any of them hours, or all memory, in C code that no thread can interrupt. The
texts to work on are in the process's folder, under the name `TEXT`.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

from bot.library.isolated import Refused

TEXT = "text"
MAX_MATCHES, MAX_LINES = 20_000, 1_000_000
_MAX_JSON = 1_000_000  # characters of a selection
_MAX_REASON = 300  # characters of a library's message


def convert(value: float, source: list[str], target: list[str]) -> dict[str, Any]:
    """Return the value in the other unit, and the names of the units."""
    import pint

    try:
        before, after = _fitting(_units(source), _units(target))
        converted = _converted(value, before, after)
    except pint.DimensionalityError as error:
        why = error.extra_msg or error
        raise Refused(f"{source[0]} cannot be converted to {target[0]}: {why}") from None
    except Exception as error:  # noqa: BLE001 - of any class: Python's own parser and arithmetic, too
        raise Refused(f"{_reason(error)}. Write units as km/h, kWh, GiB, sq_ft, degC.") from None
    names = {name for unit in (before, after) for name, _ in unit._units.unit_items()}
    return {"value": converted, "units": sorted(names)}


def select(expression: str) -> dict[str, Any]:
    """Return the selection from the JSON in `TEXT` as {json, columns, rows}."""
    import jmespath

    try:
        document = json.loads(Path(TEXT).read_bytes())
    except (ValueError, RecursionError):
        raise Refused("This is not JSON. search_artifact finds text in it.") from None
    try:
        found = jmespath.search(expression, document)
    except (jmespath.exceptions.JMESPathError, ValueError, TypeError, RecursionError) as error:
        raise Refused(f"The expression cannot be used: {_reason(error)}. @ shows all.") from None
    shown = "".join(_bounded(json.JSONEncoder(ensure_ascii=False, indent=1).iterencode(found)))
    columns = list(dict.fromkeys(name for row in found for name in row)) if _is_table(found) else []
    rows = [[row.get(name) for name in columns] for row in found] if columns else []
    return {"json": shown, "columns": columns, "rows": rows}


def matching_lines(pattern: str) -> list[int]:
    """Return the indexes of the lines of `TEXT` that match."""
    search = _compiled(pattern).search
    return [index for index, line in enumerate(_lines()) if search(line)]


def matching_patterns(patterns: list[str], seconds: float) -> list[bool | None]:
    """Return for each pattern whether a line of `TEXT` matches it; None for one that cannot be read, or
    needs more than an equal share of `seconds` of CPU time."""
    lines, share = list(_lines()), seconds / len(patterns)
    return [_matches_in_time(pattern, lines, share) for pattern in patterns]


def _matches_in_time(pattern: str, lines: list[str], seconds: float) -> bool | None:
    ends = time.process_time() + seconds
    try:
        search = _compiled(pattern).search
        return any(search(line, timeout=ends - time.process_time()) for line in lines)
    except (Refused, TimeoutError, ValueError):  # the last: no time is left for a line
        return None


def matches(pattern: str) -> dict[str, Any]:
    """Return every match in `TEXT` as {columns, rows}."""
    compiled = _compiled(pattern)
    names = list(compiled.groupindex)
    rows: list[list[object]] = []
    for number, line in enumerate(_lines(), 1):
        for match in compiled.finditer(line):
            rows.append([number, *(match.groupdict().values() if names else [match[0]])])
            if len(rows) > MAX_MATCHES:
                raise Refused(f"More than {MAX_MATCHES:,} matches. Make the pattern narrower.")
    return {"columns": ["line", *(names or ["match"])], "rows": rows}


def _compiled(pattern: str) -> Any:
    import regex

    try:
        return regex.compile(pattern, regex.IGNORECASE)
    except (regex.error, ValueError, OverflowError, RecursionError) as error:
        raise Refused(
            f"The pattern is not a valid regular expression: {_reason(error)}. "
            "Escape ( ) [ ] . * + ? with \\."
        ) from None


def _lines() -> Iterator[str]:
    text = Path(TEXT).read_bytes().decode("utf-8", "surrogatepass")
    return islice(text.split("\n"), MAX_LINES)


def _bounded(pieces: Iterator[str]) -> Iterator[str]:
    size = 0
    for piece in pieces:
        size += len(piece)
        if size > _MAX_JSON:
            raise Refused(f"The result has more than {_MAX_JSON:,} characters. Select less of it.")
        yield piece


def _is_table(found: Any) -> bool:
    plain = (str, int, float, bool, type(None))
    return (
        isinstance(found, list)
        and len(found) > 1
        and all(isinstance(row, dict) and row for row in found)
        and all(isinstance(cell, plain) for row in found for cell in row.values())
    )


def _reason(error: Exception) -> str:
    lines = str(error).splitlines() or [type(error).__name__]
    return lines[0][:_MAX_REASON]


def _units(readings: list[str]) -> list[Any]:
    """Return the units of the readings that the library knows. Raises its error when it knows none."""
    units, unknown = [], None
    for reading in readings:
        try:
            units.append(_registry().Unit(reading))
        except Exception as error:  # noqa: BLE001 - as in `convert`
            unknown = error
    if not units and unknown:
        raise unknown
    return units


def _fitting(sources: list[Any], targets: list[Any]) -> tuple[Any, Any]:
    """Return the likeliest readings of the same kind, or the likeliest of each side."""
    for source in sources:
        for target in targets:
            if source.dimensionality in (target.dimensionality, target.dimensionality**-1):
                return source, target
    return sources[0], targets[0]


def _converted(value: float, source: Any, target: Any) -> float:
    """Convert `value`. Miles per gallon are the inverse of litres per 100 km."""
    quantity = _registry().Quantity(value, source)
    # Of the dimensions alone: the inverse of a temperature's unit is an error.
    before, after = source.dimensionality, target.dimensionality
    if before != after and before == after**-1:
        quantity = 1 / quantity
    return float(quantity.to(target).magnitude)


@cache
def _registry() -> Any:
    import pint

    registry: Any = pint.UnitRegistry(autoconvert_offset_to_baseunit=True, cache_folder=None)
    registry.define("liter_per_100_km = 0.01 * liter / kilometer")
    registry.define("dozen = 12")
    return registry
