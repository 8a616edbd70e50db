"""SQL over the databases an operator configured, read-only three times over (reliability 13): one
parsed SELECT, a read-only connection, and, where the operator set one up, a read-only role."""

from __future__ import annotations

import asyncio
import difflib
import re
import sqlite3
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from bot.core.errors import ToolError
from bot.toolkit.blocking import interruptible
from bot.toolkit.narrowing import has_words
from bot.toolkit.statements import checked_select

if TYPE_CHECKING:
    from sqlalchemy import Engine
    from sqlalchemy.engine import Connection

T = TypeVar("T")

_DIALECTS = {"sqlite": "sqlite", "postgresql": "postgres"}
_SCHEMA_SECONDS = 10.0
_MAX_TABLES = 50
_MAX_COLUMNS = 60
_READING = frozenset(
    {sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_FUNCTION, sqlite3.SQLITE_RECURSIVE}
)


class DatabaseConfig(BaseModel):
    """One database. `url` as SQLAlchemy takes it: sqlite:///file, postgresql+psycopg://…;
    `timeout` in seconds. Give it a role that may only read what everybody here may see."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: SecretStr
    description: str = ""
    row_limit: int = Field(default=1000, ge=1, le=100_000)
    timeout: float = Field(default=15.0, gt=0, le=300)

    @field_validator("url")
    @classmethod
    def _supported(cls, url: SecretStr) -> SecretStr:
        value = url.get_secret_value()
        kind = value.split(":", 1)[0].split("+")[0]
        if kind not in _DIALECTS:
            raise ValueError("must begin with sqlite:/// or postgresql+psycopg://")
        if kind == "sqlite" and not re.fullmatch(r"sqlite(\+pysqlite)?:///[^:?][^?]*", value):
            raise ValueError("must name a file, as sqlite:///path/to/file.sqlite")
        return url


class Selection(BaseModel):
    """What a query gave: at most the limit's rows; `truncated` when there were more."""

    columns: list[str]
    rows: list[tuple[Any, ...]]
    truncated: bool


class Databases:
    """The configured databases by name."""

    def __init__(self, configs: Mapping[str, DatabaseConfig]) -> None:
        self.configs = dict(configs)

    async def schema(self, query: str | None = None, *, compact: bool = False) -> str:
        """Every database's dialect, description, tables and columns, bounded to 50 tables each;
        with `query` those tables that have its words, and `compact` without their columns."""
        if not self.configs:
            return "No databases are configured."
        parts = await asyncio.gather(
            *(self._described(each, query, compact) for each in sorted(self.configs))
        )
        return "\n\n".join(parts)

    async def query(self, database: str, sql: str, limit: int | None = None) -> Selection:
        """Run one SELECT. Raises ToolError, saying what is allowed or what the database said."""
        config = self._config(database)
        statement = checked_select(sql, _dialect(config))
        rows = min(limit or config.row_limit, config.row_limit)
        return await self._run(
            database, lambda connection: _selected(connection, statement, rows), config.timeout
        )

    async def _described(self, name: str, query: str | None, compact: bool) -> str:
        config = self.configs[name]
        head = f"database: {name} · {_dialect(config)}"
        if config.description:
            head += f" · {config.description}"
        try:
            schema = partial(_schema, query=query, compact=compact)
            return f"{head}\n{await self._run(name, schema, _SCHEMA_SECONDS)}"
        except ToolError as error:
            return f"{head}\n(not available: {error})"

    def _config(self, name: str) -> DatabaseConfig:
        if name in self.configs:
            return self.configs[name]
        near = difflib.get_close_matches(name, self.configs, n=3, cutoff=0.3)
        raise ToolError(
            f"There is no database {name}. Configured: {', '.join(near or self.configs) or 'none'}."
        )

    async def _run(self, name: str, work: Callable[[Connection], T], seconds: float) -> T:
        """Do `work` on a read-only connection in a thread, interrupted when the time is up."""
        from sqlalchemy.exc import DBAPIError, SQLAlchemyError

        config = self._config(name)
        current: list[Connection] = []

        def connected() -> T:
            engine = _engine(config)
            try:
                with engine.connect() as connection:
                    current.append(connection)
                    return work(connection)
            finally:
                engine.dispose()

        try:
            return await interruptible(connected, lambda: _interrupt(current), seconds)
        except TimeoutError:
            raise ToolError(
                f"{name} was stopped after {seconds:g} s. Filter or aggregate."
            ) from None
        except DBAPIError as error:
            raise ToolError(f"{name} refused the query: {_first_line(error.orig)}") from None
        except SQLAlchemyError:
            raise ToolError(f"{name} cannot be reached now. Go on without it and say so.") from None


def _dialect(config: DatabaseConfig) -> str:
    return _DIALECTS[config.url.get_secret_value().split(":", 1)[0].split("+")[0]]


def _engine(config: DatabaseConfig) -> Engine:
    """An engine that keeps no connections: runs are rare, and a pool would outlive its loop."""
    from sqlalchemy import NullPool, create_engine, make_url

    url = make_url(config.url.get_secret_value())
    if url.get_backend_name() == "sqlite":
        path = Path(url.database or "").resolve()
        return create_engine(
            "sqlite://", creator=lambda: _sqlite(path, config.timeout), poolclass=NullPool
        )
    milliseconds = int(config.timeout * 1000)
    options = f"-c default_transaction_read_only=on -c statement_timeout={milliseconds}"
    return create_engine(
        url,
        poolclass=NullPool,
        connect_args={"options": options, "connect_timeout": 5},
    )


def _sqlite(path: Path, seconds: float) -> sqlite3.Connection:
    """A connection that can only read this file: `mode=ro` neither writes nor creates it."""
    connection = sqlite3.connect(
        f"{path.as_uri()}?mode=ro", uri=True, check_same_thread=False, timeout=seconds
    )
    connection.execute("PRAGMA query_only = ON")
    return connection


def _interrupt(current: list[Connection]) -> None:
    """Stop what the connection does, in its driver's way."""
    for connection in current:
        driver = connection.connection.driver_connection
        if isinstance(driver, sqlite3.Connection):
            driver.interrupt()
        elif driver is not None:
            driver.cancel()


def _selected(connection: Connection, statement: str, limit: int) -> Selection:
    with _reading_only(connection):
        # Streaming declares a cursor in PostgreSQL, which takes a single SELECT and nothing else.
        result = connection.execution_options(
            no_parameters=True, stream_results=True
        ).exec_driver_sql(statement)
        columns = list(result.keys())
        rows = [tuple(row) for row in result.fetchmany(limit + 1)]
        result.close()
    return Selection(columns=columns, rows=rows[:limit], truncated=len(rows) > limit)


@contextmanager
def _reading_only(connection: Connection) -> Iterator[None]:
    """Let SQLite's authorizer refuse all but reading: no ATTACH, no PRAGMA, no load_extension."""
    driver = connection.connection.driver_connection
    if isinstance(driver, sqlite3.Connection):
        driver.set_authorizer(_authorize)
    try:
        yield
    finally:
        if isinstance(driver, sqlite3.Connection):
            driver.set_authorizer(None)


def _authorize(action: int, _: str | None, name: str | None, *__: str | None) -> int:
    if action == sqlite3.SQLITE_FUNCTION and name in {"load_extension", "fts3_tokenizer"}:
        return sqlite3.SQLITE_DENY
    return sqlite3.SQLITE_OK if action in _READING else sqlite3.SQLITE_DENY


def _schema(connection: Connection, *, query: str | None, compact: bool) -> str:
    """A line for each table or view: `orders(id INTEGER, customer_id INTEGER → customers.id)`."""
    from sqlalchemy import inspect

    inspector = inspect(connection)
    names = sorted([*inspector.get_table_names(), *inspector.get_view_names()])
    if compact:
        return ", ".join(name for name in names if has_words(name, query)) or "(no tables)"
    if query:
        described = (f"{name}({_columns(inspector, name)})" for name in names)
        found = list(islice((line for line in described if has_words(line, query)), _MAX_TABLES))
        return "\n".join(found) or f"(none of {len(names):,} tables)"
    lines = [f"{name}({_columns(inspector, name)})" for name in names[:_MAX_TABLES]]
    if len(names) > _MAX_TABLES:
        lines.append(
            f"… and {len(names) - _MAX_TABLES} more: {', '.join(names[_MAX_TABLES:])[:1000]}"
        )
    return "\n".join(lines) or "(no tables)"


def _columns(inspector: Any, table: str) -> str:
    references = {
        column: f" → {key['referred_table']}.{target}"
        for key in inspector.get_foreign_keys(table)
        for column, target in zip(key["constrained_columns"], key["referred_columns"], strict=False)
    }
    columns = inspector.get_columns(table)
    shown = [
        f"{each['name']} {each['type']!s}{references.get(each['name'], '')}"
        for each in columns[:_MAX_COLUMNS]
    ]
    return ", ".join([*shown, *["…"] * (len(columns) > _MAX_COLUMNS)])


def _first_line(error: BaseException | None) -> str:
    return str(error).strip().split("\n")[0][:300]
