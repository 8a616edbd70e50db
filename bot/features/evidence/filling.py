"""References in what the model writes, filled in from what a run's thread has read."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from babel import Locale

from bot.agent.hooks.chain import FilledIn
from bot.core.ids import HANDLE
from bot.core.request import Request
from bot.library.tracing.outputs import Cell, Output
from bot.library.tracing.references import MOST_FAULTS, MOST_FILLED, Fault, Figures, is_link
from bot.library.tracing.writing import written
from bot.runs.context.answer_locale import answer_locale
from bot.toolkit import Tool

_MOST_ROWS = 50
_MOST_REFERENCES = 2_000  # of all texts of a value
_TABLE = {"caption", "columns", "rows", "handle"}
_AS_TYPED = frozenset(["url", "link", "quote", "charts", "handle"])
_MESSAGE = re.compile(r"\{{0,2}\s*(tbl_[0-9a-z]{6,16})(?:\.link)?\[(\d{1,4})\]\s*\}{0,2}")
"""A message in the place of its address."""


@dataclass(frozen=True, slots=True)
class Filling:
    """A reference that was filled in: the path of the result's field, and where it stands there."""

    path: str
    start: int
    end: int
    reference: str


@dataclass
class References:
    """The references of one run. `locale` is that in which numbers are written, None for plain ones
    (1234.5): a schema of the caller's own, or a report that only a model reads. The result of a
    `request` has the locale of its own words."""

    locale: Locale | None
    request: Request | None = None
    filled: list[Filling] = field(default_factory=list)
    faults: tuple[str, ...] = ()
    outputs: list[Output] = field(default_factory=list)
    _figures: Figures | None = None
    _cells: dict[str, Cell] = field(default_factory=dict)
    _texts: dict[Filling, str] = field(default_factory=dict)

    @classmethod
    def of(cls, request: Request) -> References:
        """Return the references of a request's run."""
        return cls(answer_locale(request), request)

    def add(self, outputs: Iterable[Output]) -> None:
        """Take in what was read, with the references in the arguments of calls filled in."""
        for output in outputs:
            self.outputs.append(self._as_called(output))
            self._figures = None

    def _as_called(self, output: Output) -> Output:
        """Return an output with the arguments that its call was made with."""
        if "{{" not in output.arguments:
            return output
        walk = _Walk(self.figures, None, escaped=False)
        filled = walk.through(_json(output.arguments), "")
        return replace(output, arguments=json.dumps(filled, ensure_ascii=False))

    @property
    def figures(self) -> Figures:
        """What was shown so far."""
        if self._figures is None:
            self._figures = Figures(tuple(self.outputs))
        return self._figures

    def known_handles(self) -> set[str]:
        """Return all handles that were given or read."""
        known = {handle for output in self.outputs for handle in output.handles}
        return known.union(*(HANDLE.findall(output.text) for output in self.outputs))

    def fill(self, value: Any, tool: Tool | None = None) -> FilledIn:
        """See `Hooks.fill`. What a result has of filled-in figures is kept in `filled`."""
        if tool is None:
            # A draft grows: its language is known when it is whole.
            locale = self.locale
            if self.request and isinstance(value, dict):
                locale = answer_locale(self.request, value)
            walk = _Walk(self.figures, locale)
        else:
            locale = self.locale if tool.is_outward else None
            walk = _Walk(self.figures, locale, escaped=tool.is_outward and not tool.is_of_server)
        new = walk.through(value, "")
        if tool is None and (walk.filled or walk.faults):
            self.filled, self.faults = walk.filled, tuple(walk.faults)
            self._cells |= walk.cells
            self._texts = walk.texts
        return FilledIn(new, tuple(walk.notes), tuple(walk.faults))

    def forget_all_but(self, texts: Mapping[str, str]) -> None:
        """Forget what was filled in in an earlier result: what does not stand in these texts, which are
        by path."""
        self.filled = [
            one
            for one in self.filled
            if self._texts.get(one, "") == texts.get(one.path, "")[one.start : one.end]
        ]

    def cell(self, filling: Filling) -> Cell | None:
        """Return the cell that was filled in; None if it is not shown any more."""
        if filling.reference not in self._cells:
            try:
                self._cells[filling.reference] = self.figures.cell(filling.reference)
            except Fault:
                return None
        return self._cells[filling.reference]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return text


def _is_by_handle(value: Mapping[str, Any]) -> bool:
    """Return whether a table names the handle whose rows it wants."""
    return value.keys() == _TABLE and bool(value["handle"]) and not value["rows"]


@dataclass
class _Walk:
    """A walk through JSON, in which the texts are filled in."""

    figures: Figures
    locale: Locale | None
    escaped: bool = True
    filled: list[Filling] = field(default_factory=list)
    cells: dict[str, Cell] = field(default_factory=dict)
    texts: dict[Filling, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    left: int = _MOST_REFERENCES

    def through(self, value: Any, path: str) -> Any:
        match value:
            case str():
                return self._text(value, path)
            case list():
                items = (each for item in value for each in self._items(item))
                return [self.through(item, f"{path}.{n}") for n, item in enumerate(items)]
            case {"columns": list() | None} if _is_by_handle(value):
                return self._table(value, path)
            case dict():
                return {
                    name: self._typed(inner)
                    if self.escaped and name in _AS_TYPED
                    else self.through(inner, f"{path}.{name}")
                    for name, inner in value.items()
                }
            case _:
                return value

    def _typed(self, value: Any) -> Any:
        """Return an address, quote or handle as it was typed; the address of a message by its number."""
        message = _MESSAGE.fullmatch(value) if isinstance(value, str) else None
        if message is None:
            return value
        new = self.figures.fill(f"{{{{{message[1]}.link[{message[2]}]}}}}", None, escaped=False)
        self.faults += new.faults
        return value if new.faults else new.text

    def _items(self, item: Any) -> list[Any]:
        is_column = isinstance(item, str) and "[*]" in item
        return [*self.figures.items(item, most=self.left)] if is_column else [item]

    def _text(self, text: str, path: str) -> str:
        most = min(MOST_FILLED, self.left)
        new = self.figures.fill(text, self.locale, escaped=self.escaped, most=most)
        self.left -= len(new.filled) + len(new.faults)
        self.faults += new.faults[: max(MOST_FAULTS - len(self.faults), 0)]
        for figure in new.filled:
            if is_link(figure.cell):
                continue
            self._note(path, new.text[figure.start : figure.end], figure.start, figure.reference)
            self.cells[figure.reference] = figure.cell
            self.notes.append(
                f"filled in: {figure.reference} = {new.text[figure.start : figure.end]}"
            )
        return new.text

    def _note(self, path: str, text: str, start: int, reference: str) -> None:
        filling = Filling(path.lstrip("."), start, start + len(text), reference)
        self.filled.append(filling)
        self.texts[filling] = text

    def _table(self, table: Mapping[str, Any], path: str) -> Any:
        """Return a table with the rows that were shown of its handle; None where there are none."""
        handle, wanted = str(table["handle"]), [str(name) for name in table["columns"] or ()]
        try:
            parts = self.figures.table(handle)
        except Fault as fault:
            self.faults.append(f"table.handle {handle}: {fault}")
            return None
        whole = max(parts, key=lambda part: len(part.columns))
        missing = [name for name in wanted if name not in whole.columns]
        if missing:
            names = ", ".join(whole.columns)
            self.faults.append(
                f"table.columns: {handle} has no {', '.join(missing)}; it has {names}"
            )
            return None
        chosen = [whole.columns.index(name) for name in wanted or whole.columns]
        rows_shown = {
            row.number: (part, row)
            for part in parts
            if part.columns == whole.columns
            for row in part.rows
        }
        rows = list[Sequence[str]]()
        for number, (part, row) in sorted(rows_shown.items())[:_MOST_ROWS]:
            cells = [part.cell(row, column) for column in chosen]
            rows.append([_english(cell, rows_shown.values()) for cell in cells])
            at = f"{path}.rows.{len(rows) - 1}"
            for n, cell in enumerate(cells):
                self._note(f"{at}.{n}", rows[-1][n], 0, f'{handle}."{cell.column}"[{number}]')
        self.notes.append(f"filled in: {len(rows)} rows of {handle}")
        columns = [whole.columns[column] for column in chosen]
        return {**table, "columns": columns, "rows": rows}


def _english(cell: Cell, shown: Any) -> str:
    others = [row.cells[part.columns.index(cell.column)] for part, row in shown]
    text = written(
        cell.text, column=cell.column, others=others, forms=(), locale=Locale("en", "US")
    )
    return " ".join(text.split())
