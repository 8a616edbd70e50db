"""SQL over table artifacts, in an isolated process that sees the requested tables and nothing else of
this machine."""

from __future__ import annotations

import asyncio
import difflib
import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from bot.core.errors import ToolError
from bot.library.documents.cells import clean
from bot.library.isolated import ProcessLost, Refused
from bot.library.isolated.process import IsolatedLimits, IsolatedProcess
from bot.services.children import asker_process
from bot.toolkit.provided.artifacts import Artifact, Artifacts, Column
from bot.toolkit.provided.tables import ROWS_TYPE, TABLE_TYPE, columns_line, quoted_name

_READERS = {
    TABLE_TYPE: "read_parquet({file})",
    ROWS_TYPE: "read_json({file}, format = 'array', columns = {columns})",
    "text/csv": "read_csv({file})",
    "application/json": "read_json({file})",
}
_LIMITS = IsolatedLimits(seconds=20.0, reply=128_000_000)
_RESULT = "result.parquet"
_CHECK_SECONDS = 2.0


@dataclass(frozen=True)
class MeasuredTable:
    """A table's Parquet data, columns and number of rows; `notes` say which values were changed."""

    data: bytes
    columns: tuple[Column, ...]
    rows: int
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Session:
    """An isolated process with tables as views, by handle and by name."""

    tables: tuple[Artifact, ...]
    _process: IsolatedProcess
    _views: list[tuple[str, str, list[str]]]

    async def rows(self, sql: str) -> list[tuple[Any, ...]]:
        """Run a statement of the bot and return all rows. Raises ToolError for DuckDB's errors."""
        found = await self._call("rows", tables=self._views, sql=sql)
        return [tuple(row) for row in found]

    async def select(self, sql: str) -> MeasuredTable:
        """Run a statement of the model and return all rows as a table. Raises ToolError for anything
        but one SELECT over the tables, and for DuckDB's errors."""
        found = await self._call("select", tables=self._views, sql=sql, to=_RESULT)
        return await self._measured_table(_RESULT, found)

    async def checks(self, sql: str) -> list[str]:
        """Return what people overlook in a statement that `select` has run; nothing if that takes long."""
        try:
            found = await self._process.call(
                "checks", tables=self._views, sql=sql, seconds=_CHECK_SECONDS
            )
        except (TimeoutError, ProcessLost, Refused, RuntimeError):
            return []
        return [" ".join(clean(note).splitlines()) for note in found]  # a cell may have lines

    async def test_hypothesis(
        self, kind: str, columns: Sequence[str], by: str | None
    ) -> tuple[list[list[dict[str, Any]]], list[str]]:
        """Test a hypothesis on the first table. Return the rows of each result, and what it assumes.
        Raises ToolError."""
        handle = self.tables[0].handle
        tested = await self._call(
            "test_hypothesis",
            tables=self._views,
            handle=handle,
            kind=kind,
            columns=list(columns),
            by=by,
        )
        return tested["results"], tested["notes"]

    async def measure(self, data: bytes) -> MeasuredTable:
        """Return Parquet `data` with its columns and number of rows."""
        await asyncio.to_thread(self._process.write, _RESULT, data)
        return await self._measured_table(_RESULT, await self._call("measure", file=_RESULT))

    async def write(self, columns: list[str], rows: Sequence[Sequence[object]]) -> MeasuredTable:
        """Return rows of Python values as a table; text stays text, ISO dates become dates."""
        found = await self._call("write", columns=columns, rows=rows, to=_RESULT)
        return await self._measured_table(_RESULT, found)

    async def _measured_table(self, file: str, found: dict[str, Any]) -> MeasuredTable:
        try:
            data = await asyncio.to_thread(self._process.read, file)
        except Refused as error:
            raise ToolError(str(error)) from None
        columns = tuple(Column(name=name, type=kind) for name, kind in found["columns"])
        return MeasuredTable(data, columns, found["rows"], tuple(found.get("notes", ())))

    async def _call(self, job: str, **arguments: Any) -> Any:
        try:
            return await self._process.call(job, **arguments)
        except TimeoutError:
            raise ToolError(
                f"The query was stopped after {_LIMITS.seconds:g} s. Filter or aggregate earlier."
            ) from None
        except ProcessLost:
            raise ToolError(
                "The query needs more memory than is allowed. Filter or aggregate earlier."
            ) from None
        except Refused as error:
            raise ToolError(self._with_columns(str(error))) from None

    def _with_columns(self, message: str) -> str:
        """Return DuckDB's message with the existing columns and names similar to a missing one."""
        parts = [message]
        missing = re.search(r'column "([^"]+)" not found', message)
        names = [column.name for table in self.tables for column in table.columns]
        if missing:
            near = difflib.get_close_matches(missing[1], names, n=3, cutoff=0.4)
            parts += [f"Similar columns: {', '.join(near)}."] if near else []
        parts += [f"{table.handle} has: {columns_line(table.columns)}" for table in self.tables]
        return "\n".join(parts)


@asynccontextmanager
async def open_session(
    artifacts: Artifacts, handles: Sequence[str] = ()
) -> AsyncGenerator[Session]:
    """Open a session over the tables with these `handles`. Each is a view named by its handle and, if
    that name is free, by its file name. Raises ToolError when a handle is no table.
    """
    found = tuple([await artifacts.find(handle) for handle in dict.fromkeys(handles)])
    for each in found:
        if each.media_type.split(";")[0] not in _READERS:
            raise ToolError(
                f"{each.handle} ({each.name}) is no table. Tables have handles like tbl_…; "
                "read_artifact and search_artifact read documents."
            )
    async with asker_process("bot.library.interpreters.tables", _LIMITS) as process:
        for each in found:
            file = process.folder / each.handle
            if not await asyncio.to_thread(file.exists):
                await asyncio.to_thread(
                    process.write, each.handle, await artifacts.read(each.handle)
                )
        yield Session(found, process, _views(found))


def _views(tables: Sequence[Artifact]) -> list[tuple[str, str, list[str]]]:
    views: list[tuple[str, str, list[str]]] = []
    named: set[str] = set()
    for table in tables:
        names = []
        for name in map(clean, (table.handle, table.name)):
            if name and name.lower() not in named:
                named.add(name.lower())
                names.append(name)
        views.append((table.handle, _reader(table), names))
    return views


def _reader(table: Artifact) -> str:
    """Return the SQL that reads a table from a file, with {file} for its name as a literal."""
    columns = ", ".join(f"{quoted_name(each.name)}: '{each.type}'" for each in table.columns)
    return _READERS[table.media_type.split(";")[0]].replace("{columns}", f"{{{columns}}}")
