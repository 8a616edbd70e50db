"""DuckDB over table artifacts: it sees the tables asked for, and nothing else of this machine."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import asyncio
import difflib
import re
import tempfile
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from bot.core.errors import ToolError
from bot.parsing.tabular import connect
from bot.parsing.text import clean
from bot.toolkit.artifacts import Artifact, Artifacts, Column
from bot.toolkit.blocking import interruptible
from bot.toolkit.places import Places

T = TypeVar("T")

PARQUET = "application/vnd.apache.parquet"
"""Media type of an artifact that is a table."""

_READERS = {PARQUET: "read_parquet", "text/csv": "read_csv", "application/json": "read_json"}
_SECONDS = 20.0
_MEMORY = "512MB"
_NAMED_COLUMNS = 100
_SESSIONS = Places(every=8, own=2)


@dataclass(frozen=True)
class Session:
    """An open database whose views are the tables asked for, by handle and by name."""

    connection: Any
    folder: Path
    tables: tuple[Artifact, ...]

    async def run(self, work: Callable[[Any], T], *, seconds: float = _SECONDS) -> T:
        """Do `work` with the connection in a thread. Raises ToolError for what DuckDB refuses."""
        import duckdb

        try:
            return await interruptible(
                lambda: work(self.connection), self.connection.interrupt, seconds
            )
        except TimeoutError:
            raise ToolError(
                f"The query was stopped after {seconds:g} s. Filter or aggregate earlier."
            ) from None
        except duckdb.OutOfMemoryException:
            raise ToolError(
                f"The query needs more than {_MEMORY} of memory. Filter or aggregate earlier."
            ) from None
        except duckdb.Error as error:
            raise ToolError(self._explained(str(error))) from None

    def _explained(self, message: str) -> str:
        """DuckDB's words, the columns there are, and near matches of the name it did not find."""
        lines = message.replace(str(self.folder), "").splitlines()
        parts = [line for line in lines if line and not line.startswith("Did you mean")][:4]
        missing = re.search(r'column "([^"]+)" not found', message)
        names = [column.name for table in self.tables for column in table.columns]
        if missing:
            near = difflib.get_close_matches(missing[1], names, n=3, cutoff=0.4)
            parts += [f"Similar columns: {', '.join(near)}."] if near else []
        parts += [f"{table.handle} has: {columns_line(table.columns)}" for table in self.tables]
        return "\n".join(parts)


@asynccontextmanager
async def opened(artifacts: Artifacts, handles: Sequence[str]) -> AsyncGenerator[Session]:
    """A session over the tables named by `handles`; each is a view named by its handle and, if
    no other has that name, by its file name. It reads these tables and nothing else.

    Raises ToolError when a handle is no table.
    """
    found = tuple([await artifacts.find(handle) for handle in dict.fromkeys(handles)])
    for each in found:
        if each.media_type.split(";")[0] not in _READERS:
            raise ToolError(
                f"{each.handle} ({each.name}) is no table. Tables have handles like tbl_…; "
                "read_artifact and search_artifact read documents."
            )
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(_SESSIONS.taken())
        made = tempfile.TemporaryDirectory(prefix="bot-tables-", ignore_cleanup_errors=True)
        folder = stack.enter_context(made)
        for each in found:
            data = await artifacts.read(each.handle)
            await asyncio.to_thread((Path(folder) / each.handle).write_bytes, data)
        connection = await asyncio.to_thread(_connected, Path(folder), found)
        try:
            yield Session(connection, Path(folder), found)
        finally:
            connection.close()


def _connected(folder: Path, tables: tuple[Artifact, ...]) -> Any:
    connection = connect(threads=2, memory=_MEMORY)
    connection.execute(f"SET allowed_directories = ['{folder}/']")
    connection.execute("SET enable_external_access = false; SET lock_configuration = true")
    named: set[str] = set()
    for table in tables:
        reader = _READERS[table.media_type.split(";")[0]]
        source = f"{reader}('{folder / table.handle}')"
        for name in (table.handle, table.name):
            if name.lower() not in named:
                named.add(name.lower())
                connection.execute(f"CREATE VIEW {quoted_name(name)} AS SELECT * FROM {source}")
    return connection


def quoted_name(name: str) -> str:
    """`name` as an SQL identifier."""
    return '"' + clean(name).replace('"', '""') + '"'


def columns_line(columns: Sequence[Column]) -> str:
    """The columns on one line, `region VARCHAR, amount DOUBLE`; at most 100 of them."""
    line = ", ".join(f"{column.name} {column.type}" for column in columns[:_NAMED_COLUMNS])
    more = len(columns) - _NAMED_COLUMNS
    return f"{line}, … ({more} more)" if more > 0 else line
