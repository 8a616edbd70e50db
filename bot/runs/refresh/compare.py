"""Comparison of an answer's figures with what the repeated calls return now."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

from bot.core.findings import Finding, Findings, Operand, Operation, Place, Verdict
from bot.core.refresh import FigureChange
from bot.core.text.translation import Text
from bot.evidence.arithmetic import repeated
from bot.evidence.indexing import IndexedOutput
from bot.runs.refresh.locate import Located, Missing, column_at, locate
from bot.runs.refresh.numbers import rewritten
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
    outputs: Mapping[str, IndexedOutput]
    skipped: Mapping[str, Skipped]

    def compare(
        self, figures: Sequence[Finding], traced: Findings, fields: Mapping[str, str]
    ) -> tuple[FigureChange, ...]:
        """Return each figure with its value now, or why it has none.

        `traced` are all findings of the answer, `fields` its texts by their paths.
        """
        return tuple(self._compared(each, traced, _name(each, fields)) for each in figures)

    def _compared(self, figure: Finding, traced: Findings, name: str) -> FigureChange:
        try:
            found = self._values(figure, traced)
        except _Unknown as unknown:
            return FigureChange(name=name, before=figure.text, why=str(unknown))
        now = rewritten(figure.text, found.before, found.now)
        if now is None and figure.verdict is Verdict.READ:
            now = f"{found.now:,.10g}"
        return FigureChange(
            name=name, before=figure.text, now=now or "", why="" if now else _FORMULA()
        )

    def _values(self, figure: Finding, traced: Findings) -> Located:
        """Return the exact value of a figure before and now. Raises _Unknown."""
        if figure.verdict is Verdict.READ:
            return self._read(_places(figure)[0])
        operation = figure.operation
        if operation is None or not figure.operands:
            raise _Unknown(_FORMULA())
        pairs = [self._operand(each, figure, traced) for each in figure.operands]
        olds, news = ([getattr(pair, when) for pair in pairs] for when in ("before", "now"))
        old, new = (repeated(operation, figure.pattern, each) for each in (olds, news))
        if old is None or new is None:
            raise _Unknown(_FORMULA())
        return Located(old, new)

    def _operand(self, operand: Operand, figure: Finding, traced: Findings) -> Located:
        """Return an operand before and now, as the arithmetic uses it. Raises _Unknown."""
        value = operand.value
        if operand.item is not None:
            found = self._values(traced.items[operand.item], traced)
        elif operand.place is None:  # a constant
            return Located(value, value)
        elif operand.is_column:
            found = self._column(figure.places[operand.place], figure.operation)
        else:
            found = self._read(figure.places[operand.place])
        # Its unit may be another than where it was read: milliseconds there, seconds here.
        factor = value / found.before if found.before else 1.0
        return Located(value, found.now * factor)

    def _read(self, place: Place) -> Located:
        found = locate(place, *self._outputs(place))
        if isinstance(found, Missing):
            raise _Unknown(_GONE() if found is Missing.GONE else _UNCLEAR())
        return found

    def _column(self, place: Place, operation: Operation | None) -> Located:
        columns = column_at(place, *self._outputs(place))
        if columns is None or not all(columns):
            raise _Unknown(_UNCLEAR())
        match operation:
            case Operation.MEAN:
                before, now = map(mean, columns)
            case Operation.COUNT:
                before, now = map(len, columns)
            case _:
                before, now = map(sum, columns)
        return Located(before, now)

    def _outputs(self, place: Place) -> tuple[IndexedOutput, IndexedOutput]:
        """Return the output that a place is in, and the one of now. Raises _Unknown."""
        recorded = self.recorded.get(place.call_id)
        now = self.outputs.get(place.call_id)
        if recorded is None or now is None:
            why = self.skipped.get(place.call_id, Skipped.NOT_STORED)
            raise _Unknown(_REASONS[why](tool=place.tool.replace("_", " ")))
        return recorded.indexed, now


class _Unknown(Exception):
    """Raised with the sentence that says why a figure has no value now."""


def _places(figure: Finding) -> tuple[Place, ...]:
    """Return the places that the figure's value depends on: the best one if it was read."""
    from_calls = tuple(each for each in figure.places if each.tool)
    return from_calls[:1] if figure.verdict is Verdict.READ else figure.places


def _name(figure: Finding, fields: Mapping[str, str]) -> str:
    """Return what the figure is called: its row or column, or the words of the answer before it."""
    place = _places(figure)[0]
    if figure.verdict is Verdict.READ and (place.row or place.column):
        return place.row or place.column
    before = re.split(r"[.;:]\s", fields.get(figure.field, "")[: figure.start])[-1]
    return " ".join(before.split()[-_WORDS:])
