"""Comparison of an answer's figures with what the repeated calls return now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from babel import Locale

from bot.features.refresh.cells import Missing, cell_at
from bot.features.refresh.refreshed import FigureChange
from bot.features.refresh.repeat import NOT_STORED, Repetition
from bot.library.tracing.findings import Finding, Place, claim_key
from bot.library.tracing.outputs import Cell

_TABLES = Locale("en", "US")  # in which code writes the cells of an answer's table
_END = re.compile(r"[.!?]\s+|[。！？\n]")
_LONGEST, _AROUND = 240, 100  # characters of a sentence, and around the figure of a longer one


def compared(
    figures: Sequence[tuple[Finding, Place]],
    repetition: Repetition,
    result: Mapping[str, Any],
    locale: Locale | None,
) -> tuple[FigureChange, ...]:
    """Return each figure of an answer, `result`, with its value now, or why it has none. `locale` is
    that in which the answer writes numbers."""
    changes = list[FigureChange]()
    for finding, place in figures:
        name, sentence, start = _said(result, finding)
        change = FigureChange(
            name=name or place.row or place.column,
            before=finding.text,
            sentence=sentence,
            start=start,
            claim=str(claim_key(finding)),
        )
        try:
            old = _recorded(place, repetition)
            now = repetition.written(old, finding.text, finding.reference, locale, _TABLES, None)
            changes.append(change.model_copy(update={"now": now}))
        except Missing as missing:
            why = missing.why(tool=place.tool.replace("_", " "))
            changes.append(change.model_copy(update={"why": why}))
    return tuple(changes)


def _recorded(place: Place, repetition: Repetition) -> Cell:
    output = repetition.before.get(place.call_id)
    if output and (cell := cell_at(place, output)):
        return cell
    raise Missing(NOT_STORED)


def _said(result: Mapping[str, Any], finding: Finding) -> tuple[str, str, int]:
    """Return what names a figure in the table of an answer, else its sentence and where it is in it."""
    value: Any = result
    above = list[Any]()
    try:
        for step in finding.field.split("."):
            above.append(value)
            value = value[int(step) if isinstance(value, list | tuple) else step]
    except (KeyError, IndexError, ValueError, TypeError):
        return "", "", 0
    match above:
        case [*_, {"columns": [*columns], "rows": _}, _, [*row]]:
            n = int(finding.field.rpartition(".")[2])
            names = (row[0] if n else "", columns[n] if n < len(columns) else "")
            return ", ".join(str(name) for name in names if name), "", 0
        case _:
            pass
    return "", *_sentence(str(value), finding.start, finding.start + len(finding.text))


def _sentence(text: str, start: int, end: int) -> tuple[str, int]:
    """Return the sentence around the characters from `start` to `end`, shortened around these where
    it is long, and where they begin in it. Without words around them there is none."""
    first = max((match.end() for match in _END.finditer(text, 0, start)), default=0)
    match = _END.search(text, end)
    last = match.end() if match else len(text)
    if not (text[first:start] + text[end:last]).strip():
        return "", 0
    before, after = text[first:start], text[end:last].rstrip()
    if last - first > _LONGEST:
        before = f"… {before[-_AROUND:]}" if len(before) > _AROUND else before
        after = f"{after[:_AROUND]} …" if len(after) > _AROUND else after
    return f"{before}{text[start:end]}{after}", len(before)
