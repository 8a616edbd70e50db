"""Comparison of an answer's figures with what the repeated calls return now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.findings import Finding, Operation, Place, Verdict
from bot.core.refresh import FigureChange
from bot.core.text.translation import Text
from bot.runs.refresh.locate import Located, Missing, columns_at, locate
from bot.runs.refresh.numbers import rewritten, written_as
from bot.runs.refresh.plan import RecordedCall, Skipped

_REASONS = {
    Skipped.TOOL: Text("it comes from {tool}, which cannot be repeated"),
    Skipped.NOT_ALLOWED: Text("{tool} is not available here any more"),
    Skipped.FILE_GONE: Text("its file was deleted, or you cannot see it"),
    Skipped.FILE_REPLACED: Text("its file was replaced by another one"),
    Skipped.FAILED: Text("{tool} failed"),
    Skipped.BUILDS_ON: Text("what it builds on could not be read again"),
    Skipped.OPERAND: Text("it was calculated with a number that I cannot trace"),
    Skipped.NOT_STORED: Text("how it was found is no longer stored"),
    Skipped.TOO_MANY: Text("the answer took too many steps"),
}
_GONE = Text("its row is no longer there")
_UNCLEAR = Text("the result has another shape now")
_WORDS = 4  # of the answer before a figure without a row
_FORMULA = Text("its arithmetic cannot be repeated")


@dataclass(frozen=True, slots=True)
class Repeated:
    """What calls returned now, by call id, and why the others were not made again."""

    recorded: Mapping[str, RecordedCall]
    outputs: Mapping[str, str]
    skipped: Mapping[str, Skipped]

    def compare(
        self, figures: Sequence[Finding], fields: Mapping[str, str]
    ) -> tuple[FigureChange, ...]:
        """Return each figure with its value now, or why it has none.

        `fields` are the answer's texts by their paths.
        """
        return tuple(self._compared(each, _name(each, fields)) for each in figures)

    def _compared(self, figure: Finding, name: str) -> FigureChange:
        before = figure.text
        found = [self._at(place) for place in _places(figure)]
        why = next((each for each in found if isinstance(each, str)), None)
        if why is not None:
            return FigureChange(name=name, before=before, why=why)
        pairs = [each for each in found if isinstance(each, Located)]
        now = self._new_text(figure, pairs)
        return FigureChange(name=name, before=before, now=now or "", why="" if now else _FORMULA())

    def _at(self, place: Place) -> Located | str:
        """Return the value at a place before and now, or why it has none now."""
        recorded = self.recorded.get(place.call_id)
        now = self.outputs.get(place.call_id)
        if recorded is None or now is None:
            why = self.skipped.get(place.call_id, Skipped.NOT_STORED)
            return _REASONS[why](tool=place.tool.replace("_", " "))
        found = locate(place, recorded.output, now)
        if isinstance(found, Missing):
            return (_GONE if found is Missing.GONE else _UNCLEAR)()
        return found

    def _new_text(self, figure: Finding, pairs: Sequence[Located]) -> str | None:
        """Return the figure as the answer would write it now; None if that cannot be told."""
        if figure.verdict is Verdict.READ:
            [pair] = pairs
            return rewritten(figure.text, pair.before, pair.now) or f"{pair.now:,.10g}"
        before, now = [each.before for each in pairs], [each.now for each in pairs]
        place = figure.places[0]
        column, new_column = columns_at(
            place, self.recorded[place.call_id].output, self.outputs[place.call_id]
        )
        olds = _results(figure.operation, before, column)
        news = _results(figure.operation, now, new_column)
        for old, new in zip(olds, news, strict=True):
            if old is not None and new is not None and written_as(figure.text, old):
                return rewritten(figure.text, old, new)
        return None


def _places(figure: Finding) -> tuple[Place, ...]:
    """Return the places that the figure's value depends on: the best one if it was read."""
    from_calls = tuple(each for each in figure.places if each.tool)
    return from_calls[:1] if figure.verdict is Verdict.READ else figure.places


def _results(
    operation: Operation | None, values: Sequence[float], column: Sequence[float]
) -> list[float | None]:
    """Return the possible results of an operation, in a fixed order; None where undefined.

    It takes the values, or the whole `column` of the first one.

    The formula of a finding is for people, so each way is tried; the one that gives the figure of
    the answer from the old values is applied to the new ones.
    """
    total, whole = sum(values), sum(column)
    a, b = values[0], values[-1]
    results: dict[Operation, list[float | None]] = {
        Operation.SUM: [total, whole if column else None],
        Operation.MEAN: [_ratio(total, len(values)), _ratio(whole, len(column))],
        Operation.SHARE: [_ratio(a, each) for each in (b, total, total - a, whole)],
        Operation.DIFFERENCE: [a - b, b - a],
        Operation.RATIO: [_ratio(a, b), _ratio(b, a)],
        Operation.GROWTH: [_ratio(a - b, b), _ratio(b - a, a)],
        Operation.PRODUCT: [a * b],
        Operation.PERCENT_OF: [a * b / 100],
        Operation.COUNT: [float(len(column)) if column else None],
    }
    return results.get(operation, []) if operation else []


def _ratio(dividend: float, divisor: float) -> float | None:
    return dividend / divisor if divisor else None


def _name(figure: Finding, fields: Mapping[str, str]) -> str:
    """Return what the figure is called: its row or column, or the words of the answer before it."""
    place = _places(figure)[0]
    if figure.verdict is Verdict.READ and (place.row or place.column):
        return place.row or place.column
    before = re.split(r"[.;:]\s", fields.get(figure.field, "")[: figure.start])[-1]
    return " ".join(before.split()[-_WORDS:])
