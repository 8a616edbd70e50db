"""Jobs on a SQLite file, which is opened read-only. SQLite reports every table and function of a
statement to an authorizer, which allows the tables of the file and the listed functions."""

# ruff: noqa: S608 - the names in these statements are quoted

from __future__ import annotations

import re
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from bot.library.documents.cells import quoted_name
from bot.library.interpreters.selections import bounded_result, describe_tables
from bot.library.interpreters.sql_functions import ALLOWED
from bot.library.interpreters.statements import checked_select
from bot.library.isolated import Refused, without_paths

_MAX_VALUE = 50_000_000  # bytes of one value
_HEAP = 500_000_000
_READABLE = frozenset({"sqlite_master", "sqlite_schema", "json_each", "json_tree"})


def schema(path: str, seconds: float) -> list[tuple[str, list[str]]]:
    """Return the tables and views with their columns."""
    with _connect(path, seconds) as connection:
        columns, references = list[tuple[str, str, str]](), dict[tuple[str, str], str]()
        for table in sorted(_tables(connection)):
            for _, column, kind, *_ in connection.execute(
                f"PRAGMA table_info({quoted_name(table)})"
            ):
                columns.append((table, column, kind))
            for key in connection.execute(f"PRAGMA foreign_key_list({quoted_name(table)})"):
                references[table, key[3]] = f"{key[2]}.{key[4] or 'rowid'}"
        return describe_tables(columns, references)


def select(path: str, sql: str, limit: int, seconds: float) -> dict[str, Any]:
    """Run one SELECT and return {columns, rows, truncated}. Raises Refused for anything else."""
    statement = checked_select(sql, "sqlite").sql
    with _connect(path, seconds) as connection:
        known = {name.lower() for name in _tables(connection)} | _READABLE
        refused: list[str] = []

        def authorize(action: int, first: str | None, second: str | None, *_: object) -> int:
            name = (first or "").lower()
            match action:
                case sqlite3.SQLITE_SELECT | sqlite3.SQLITE_RECURSIVE:
                    return sqlite3.SQLITE_OK
                # A part of the statement itself, such as a WITH clause, is reported without a table
                # or without a column.
                case sqlite3.SQLITE_READ if not name or not second or name in known:
                    return sqlite3.SQLITE_OK
                case sqlite3.SQLITE_FUNCTION if (second or "").lower() in ALLOWED["sqlite"]:
                    return sqlite3.SQLITE_OK
                case sqlite3.SQLITE_READ:
                    refused.append(f"The table {first} may not be read.")
                case sqlite3.SQLITE_FUNCTION:
                    refused.append(f"The function {second} is not allowed.")
                case _:
                    refused.append("Only reading is allowed.")
            return sqlite3.SQLITE_DENY

        _load_virtual_tables(connection)
        connection.set_authorizer(authorize)
        try:
            cursor = connection.execute(statement)
            columns = [each[0] for each in cursor.description]
            return bounded_result(columns, cursor, limit)
        except sqlite3.Error as error:
            if refused:
                raise Refused(refused[0]) from None
            raise _refusal(error, sql) from None


@contextmanager
def _connect(path: str, seconds: float) -> Generator[sqlite3.Connection]:
    """Open a connection that neither writes nor creates the file."""
    try:
        connection = sqlite3.connect(f"{Path(path).as_uri()}?mode=ro", uri=True, timeout=seconds)
    except sqlite3.Error as error:
        raise _refusal(error, "") from None
    try:
        connection.text_factory = _text
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _MAX_VALUE)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA trusted_schema = OFF")
        connection.execute("PRAGMA temp_store = MEMORY")
        connection.execute(f"PRAGMA hard_heap_limit = {_HEAP}")
        yield connection
    except sqlite3.Error as error:
        raise _refusal(error, "") from None
    finally:
        connection.close()


def _tables(connection: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE type IN ('table', 'view')"
    return [name for (name,) in connection.execute(sql) if not name.startswith("sqlite_")]


def _load_virtual_tables(connection: sqlite3.Connection) -> None:
    """Let SQLite declare virtual tables before the authorizer is set, which would refuse that."""
    sql = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%'"
    for name in ("json_each", "json_tree", *(name for (name,) in connection.execute(sql))):
        with suppress(sqlite3.Error):  # its extension is not installed
            connection.execute(f"SELECT 1 FROM {quoted_name(name)} LIMIT 0")


def _text(value: bytes) -> str:
    """Decode a text value, which need not be valid UTF-8."""
    return value.decode("utf-8", "replace")


def _refusal(error: sqlite3.Error, sql: str) -> Exception:
    # Errors of the Python module itself, such as a missing parameter, have no code.
    if getattr(error, "sqlite_errorcode", None) == sqlite3.SQLITE_NOMEM:
        return MemoryError()
    message = re.sub(r"\s+", " ", str(error))[:300]
    return Refused(without_paths(f"The database refused the query: {message}", sql))
