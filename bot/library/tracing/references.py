"""References: `{{tbl_k3x8a2qd.revenue[region=West]}}` in a text, filled in from what tools showed.

What is filled in is data: it is escaped for Markdown, and never read as a reference again.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from functools import cached_property
from itertools import islice

from babel import Locale

from bot.library.tracing.outputs import Cell, Output, ShownRow, ShownTable
from bot.library.tracing.writing import FORM, value_of, written

_HANDLE = r"(?:tbl|fig|doc|img|chart|file|out|mcp|art)_[0-9a-z]{6,16}"
_REFERENCE = re.compile(rf'\{{\{{\s*({_HANDLE})\b((?:"[^"\n]{{0,200}}"|[^{{}}"\n]){{0,300}})\}}\}}')
_COLUMN = re.compile(
    rf'\{{\{{\s*({_HANDLE}(?:\.(?:"[^"\n]{{1,200}}"|[^.\[\]|{{}}"\n]{{1,200}}))?)\s*\[\*\]([^{{}}\[\]"\n]{{0,60}})\}}\}}'
)
"""A reference to all rows of a column that were shown."""
_NAME = r'"([^"\n]+)"|([^.\[\]|{}"\n]+)'
_PATH = re.compile(rf"(?:\.(?:{_NAME}))?\s*(?:\[([^\]\n]+)\])?((?:\|[^|\n]+)*)\s*")
_CONDITION = re.compile(r'\s*("[^"]+"|[^=,"]+?)\s*=\s*("[^"]*"|[^,"]*)\s*(?:,|\Z)')
_MARKUP = re.compile(r"[\\`*_~\[\]<>|]")
_CONTROLS = re.compile(r"['\"`\\;|&$<>\r\n\0]|--|/\*")
"""What ends a literal or begins a command in a query, a program or a command line."""
_LONGEST_TEXT = 200
_MOST_NAMED = 20
MOST_FILLED, MOST_FAULTS = 200, 20  # references of one text
_MOST_COMPARED = 50  # cells of a column that tell whether it holds years
_BETWEEN = ", "  # the cells of a column in a text
MISSING = "(figure missing)"
"""What stands in the place of a reference that leads nowhere."""
LONGEST = 340
"""Characters that a reference has at most."""


@dataclass(frozen=True, slots=True)
class Filled:
    """A reference that was filled in: where it stands in the new text, and what it named."""

    start: int
    end: int
    reference: str
    cell: Cell


@dataclass(slots=True)
class Text:
    """A text with its references filled in. `faults` are sentences about those that lead nowhere."""

    text: str
    filled: list[Filled] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)


class Fault(Exception):
    """A reference leads nowhere; the text says why, and which names exist."""


@dataclass
class Figures:
    """The figures that outputs showed, read when the first reference asks for them."""

    outputs: Sequence[Output] = ()
    _parts_of: dict[str, list[ShownTable]] = field(default_factory=dict)

    def fill(
        self, text: str, locale: Locale | None, *, escaped: bool = True, most: int = MOST_FILLED
    ) -> Text:
        """Return a text with its references filled in, as numbers of `locale`; as plain numbers
        (1234.5) without one. What stands in code stays as it is. Linear in the text. References after
        the first `most` lead nowhere, with one fault for all of them.

        What is not `escaped` is for programs: a cell that could be more than data within a longer
        text, such as a quotation mark within a query, leads nowhere."""
        if "{{" not in text:
            return Text(text)
        new, parts, size, at = Text(""), list[str](), 0, 0
        is_code = _code_of(text)
        if "[*]" in text:
            text = self._with_rows(text, is_code, most)
            is_code = _code_of(text)
        is_over = False
        for match in _REFERENCE.finditer(text):
            if is_code(match.start()):
                continue
            parts.append(text[at : match.start()])
            size += len(parts[-1])
            reference = match[0][2:-2].strip()
            if len(new.filled) + len(new.faults) >= most or len(new.faults) >= MOST_FAULTS:
                if not is_over:
                    new.faults.append(f"{{{{{reference}}}}}: there are too many references")
                is_over = True
                parts.append(MISSING)
                size, at = size + len(MISSING), match.end()
                continue
            try:
                cell, written_as = self._value(match[1], match[2], locale)
                if not escaped and match[0] != text:
                    _check_data(written_as)
            except Fault as fault:
                new.faults.append(f"{{{{{reference}}}}}: {fault}")
                parts.append(MISSING)
            else:
                if escaped and not is_link(cell) and value_of(cell.text) is None:
                    written_as = _plain(written_as)
                written_as = written_as.replace("{{", "{ {")
                new.filled.append(Filled(size, size + len(written_as), reference, cell))
                parts.append(written_as)
            size += len(parts[-1])
            at = match.end()
        new.text = "".join((*parts, text[at:]))
        return new

    def items(self, text: str, *, most: int) -> list[str]:
        """Return the references to the rows of a column where a text is one to all of them, else the
        text alone: a list may have an item for each row. Of more than `most`, one more is returned."""
        column = _COLUMN.fullmatch(text.strip())
        return self._of_rows(column, most + 1) if column and most > 0 else [text]

    def _with_rows(self, text: str, is_code: _Code, most: int) -> str:
        """Return a text with the references to the rows of its columns, one more than `most` at most:
        what goes beyond stays as written."""
        left = most + 1

        def replaced(match: re.Match[str]) -> str:
            nonlocal left
            if left <= 0 or is_code(match.start()):
                return match[0]
            rows = self._of_rows(match, left)
            left -= len(rows)
            return _BETWEEN.join(rows)

        return _COLUMN.sub(replaced, text)

    def _of_rows(self, column: re.Match[str], most: int) -> list[str]:
        """Return the references to the first `most` rows of a column, or what was written where there
        are none."""
        handle, _, name = column[1].partition(".")
        name = name.strip().strip('"')
        parts = [
            part for part in self._parts(handle) if _column(part.columns, name or "c1") is not None
        ]
        numbers = dict.fromkeys(row.number for part in parts for row in part.rows)
        first = islice(sorted(numbers), most)
        return [f"{{{{{column[1]}[{number}]{column[2]}}}}}" for number in first] or [column[0]]

    def cell(self, reference: str) -> Cell:
        """Return what a reference names, such as `tbl_k3x8a2qd.revenue[2]`. Raises Fault."""
        match = _REFERENCE.fullmatch(f"{{{{{reference}}}}}")
        if match is None:
            raise Fault("this is not a reference")
        return self._value(match[1], match[2], None)[0]

    def table(self, handle: str) -> list[ShownTable]:
        """Return the parts of a table that were shown, in order. Raises Fault without any."""
        if parts := self._parts(handle):
            return parts
        names = [name for output in self.outputs for name in _named(output)]
        known = ", ".join(list(dict.fromkeys(names))[-_MOST_NAMED:]) or "none yet"
        raise Fault(f"no output showed figures under {handle}; there are: {known}")

    def _parts(self, handle: str) -> list[ShownTable]:
        if handle not in self._parts_of:
            outputs = (output for output in self.outputs if handle in (*output.made, *output.used))
            tables = (
                table
                for output in outputs
                for table in (*output.tables, *filter(None, [output.messages]))
            )
            self._parts_of[handle] = [table for table in tables if table.handle == handle]
        return self._parts_of[handle]

    @cached_property
    def _single(self) -> dict[str, Cell]:
        return {output.figure.handle: output.figure for output in self.outputs if output.figure}

    def _value(self, handle: str, path: str, locale: Locale | None) -> tuple[Cell, str]:
        match = _PATH.fullmatch(path)
        if match is None:
            raise Fault("write it as handle.column, handle.column[2] or handle.column[name=West]")
        quoted, name, row, written_forms = match.groups()
        forms = [form.strip() for form in written_forms.split("|") if form.strip()]
        if wrong := [form for form in forms if not FORM.fullmatch(form)]:
            raise Fault(f"there is no form |{wrong[0]}; there are |0, |0.0, |%, |abs, |compact")
        if single := self._single.get(handle):
            return single, written(single.text, column="", others=(), forms=forms, locale=locale)
        parts = self.table(handle)
        cells = [*_cells(parts, (quoted or name or "").strip(), row)]
        if len({cell.text for cell in cells}) != 1:
            raise Fault(f"{len(cells)} rows are meant; name one by its number or by more cells")
        cell = cells[0]
        part = next(part for part in parts if cell.column in part.columns)
        column = part.columns.index(cell.column)
        others = (row.cells[column] for row in islice(part.rows, _MOST_COMPARED))
        return cell, written(
            cell.text, column=cell.column, others=others, forms=forms, locale=locale
        )


def _check_data(text: str) -> None:
    """Raise Fault for the text of a cell that could be more than data in a query or a program."""
    if _CONTROLS.search(text):
        raise Fault("its text cannot stand within another: write it yourself")


def _cells(parts: Sequence[ShownTable], name: str, row: str | None) -> Iterable[Cell]:
    """Return the cells that a name and a row mean; each row once. Raises Fault without any."""
    cells = dict[tuple[int, str], Cell]()
    for part in parts:
        column = _column(part.columns, name) if name or len(part.columns) > 1 else 0
        if column is not None:
            for meant in _rows(part, row):
                cells[meant.number, meant.cells[column]] = part.cell(meant, column)
    if cells:
        if row is None and sum(len(part.rows) for part in parts) > 1:
            example = next(iter(cells.values())).key
            raise Fault(
                f"the table has several rows: name one, as [2] or [{parts[0].columns[0]}={example}]"
            )
        return cells.values()
    columns = ", ".join(dict.fromkeys(column for part in parts for column in part.columns))
    if all(_column(part.columns, name) is None for part in parts):
        raise Fault(f"there is no column {name or '(none named)'}; there are: {columns}")
    keys = dict.fromkeys(line.cells[0] for part in parts for line in part.rows[:_MOST_NAMED])
    begin = ", ".join([*keys][:_MOST_NAMED])
    raise Fault(f"no row that was shown is meant by [{row}]; the rows begin with: {begin}")


def _rows(table: ShownTable, said: str | None) -> list[ShownRow]:
    """Return the rows that are meant: all of them, the one of a number, or those with some cells."""
    if said is None:
        return table.rows[:2]
    if said.strip().isdecimal() and "=" not in said:
        at = int(said) - table.rows.first
        return [table.rows[at]] if 0 <= at < len(table.rows) else []
    conditions = [
        (_column(table.columns, name.strip('"')), value.strip().strip('"'))
        for name, value in _CONDITION.findall(said)
    ]
    if any(column is None for column, _ in conditions):
        return []
    value = max((value for _, value in conditions), key=len, default=said.strip())

    spoken = _Spoken.of(said)
    wanted = [(column or 0, _Spoken.of(text)) for column, text in conditions]

    def is_meant(row: ShownRow) -> bool:
        if not conditions:
            return any(map(spoken.is_in, row.cells))
        return all(text.is_in(row.cells[column]) for column, text in wanted)

    spelled = [row for row in table.rows.with_text(value) if is_meant(row)]
    return spelled or [row for row in table.rows if is_meant(row)]


def _column(columns: Sequence[str], name: str) -> int | None:
    if name in columns:
        return columns.index(name)
    lower = [each.strip().casefold() for each in columns]
    if lower.count(name.casefold()) == 1:
        return lower.index(name.casefold())
    if re.fullmatch(r"c[1-9]\d{0,3}", name) and int(name[1:]) <= len(columns):
        return int(name[1:]) - 1
    return None


@dataclass(frozen=True, slots=True)
class _Spoken:
    """What a reference says of a cell, read once for all rows."""

    text: str
    value: Decimal | None

    @classmethod
    def of(cls, said: str) -> _Spoken:
        return cls(said.strip().strip('"').casefold(), value_of(said.replace(",", "")))

    def is_in(self, cell: str) -> bool:
        if cell.strip().casefold() == self.text:
            return True
        return self.value is not None and value_of(cell) == self.value


def _plain(text: str) -> str:
    """Return a cell's text for Markdown: one line, in which nothing is markup."""
    text = " ".join(text.split())[:_LONGEST_TEXT]
    return _MARKUP.sub(r"\\\g<0>", text)


def _named(output: Output) -> list[str]:
    """Return the handles under which an output showed figures."""
    single = [output.figure.handle] if output.figure else []
    tables = (*output.tables, *filter(None, [output.messages]))
    return [*(table.handle for table in tables), *single]


def is_link(cell: Cell) -> bool:
    """Return whether a cell is the address of a message, which is not from the message's text."""
    messages = cell.output.messages
    return cell.column == "link" and messages is not None and messages.handle == cell.handle


class _Code:
    """What of a text is code, as far as the text before a place says: a line with an odd number of
    backticks before it, or a fence that is open."""

    def __init__(self, text: str) -> None:
        self._ticks = [tick.start() for tick in re.finditer("`", text)]
        self._lines = [0, *(line.end() for line in re.finditer("\n", text))]
        self._fences = list[int]()
        opened = ""
        for start in self._lines:
            marks = text[start : start + 10].lstrip(" ")[:3]
            if marks in ("```", "~~~") and opened in ("", marks):
                self._fences.append(start)
                opened = "" if opened else marks

    def __call__(self, at: int) -> bool:
        line = self._lines[bisect_right(self._lines, at) - 1]
        ticks = bisect_right(self._ticks, at) - bisect_right(self._ticks, line - 1)
        return bisect_right(self._fences, at) % 2 == 1 or ticks % 2 == 1


def _code_of(text: str) -> _Code:
    return _Code(text)


def settled(text: str) -> str:
    """Return the beginning of a text that still arrives in which no reference is open."""
    begin = max(text.rfind("{{"), len(text) - 1 if text.endswith("{") else -1)
    if begin < 0 or len(text) - begin > LONGEST or "\n" in text[begin:] or "}}" in text[begin:]:
        return text
    return text[:begin]
