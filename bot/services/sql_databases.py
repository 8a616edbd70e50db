"""SQL over the databases that the operator configured.

Three independent barriers keep it read-only: a single SELECT that calls only listed functions, a
read-only connection, and the database role, if the operator chose a read-only one.
"""

from __future__ import annotations

import asyncio
import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from bot.core.errors import ToolError
from bot.library.documents.cells import clean
from bot.library.isolated import ProcessLost, Refused
from bot.library.isolated.process import IsolatedLimits, Reach
from bot.services.children import asker_process
from bot.toolkit.narrowing import has_words
from bot.toolkit.provided.databases import Selection

_SCHEMA_SECONDS = 10.0
_MAX_TABLES = 50
_MAX_COLUMNS = 60
_POSTGRES_FILES = (
    *("PGPASSFILE", "PGSERVICEFILE", "PGSYSCONFDIR"),
    *("PGSSLCERT", "PGSSLKEY", "PGSSLROOTCERT", "PGSSLCRL", "PGSSLCRLDIR"),
)
"""Settings of PostgreSQL's client that name files."""
_CONNECT_SECONDS = 6.0
"""Seconds for connecting and answering, beyond the server's own limit."""


class DatabaseConfig(BaseModel):
    """One database of bot.toml.

    `url` is sqlite:///file or postgresql://…; its role should read only what everybody in the
    workspace may see. `timeout` is in seconds. `functions` are functions defined in the database
    that queries may call, in addition to the built-in ones.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    url: SecretStr
    description: str = ""
    row_limit: int = Field(default=1000, ge=1, le=100_000)
    timeout: float = Field(default=15.0, gt=0, le=300)
    functions: tuple[str, ...] = ()

    @field_validator("url")
    @classmethod
    def _supported(cls, url: SecretStr) -> SecretStr:
        value = url.get_secret_value()
        kind = value.split(":", 1)[0].split("+")[0]
        if kind not in {"sqlite", "postgresql"}:
            raise ValueError("must begin with sqlite:/// or postgresql://")
        if kind == "sqlite" and not re.fullmatch(r"sqlite(\+pysqlite)?:///[^:?][^?]*", value):
            raise ValueError("must name a file, as sqlite:///path/to/file.sqlite")
        return url


class SqlDatabases:
    """The configured SQLite and PostgreSQL databases by name."""

    def __init__(self, configs: Mapping[str, DatabaseConfig]) -> None:
        self.configs = dict(configs)

    async def schema(self, query: str | None = None, *, compact: bool = False) -> str:
        """Describe every database: dialect, description, and up to 50 tables with their columns.

        `query` selects tables that contain its words; `compact` leaves out the columns.
        """
        if not self.configs:
            return "No databases are configured."
        parts = await asyncio.gather(
            *(self._describe(each, query, compact) for each in sorted(self.configs))
        )
        return "\n\n".join(parts)

    async def query(self, database: str, sql: str, limit: int | None = None) -> Selection:
        """Run one SELECT. Raises ToolError with what is allowed, or with the database's message."""
        config = self._config(database)
        rows = min(limit or config.row_limit, config.row_limit)
        arguments: dict[str, Any] = {"sql": clean(sql), "limit": rows}
        if not _is_file(config):
            arguments["functions"] = config.functions
        found = await self._run(database, "select", config.timeout, **arguments)
        return Selection.model_validate(found)

    async def extra_privileges(self, database: str) -> list[str]:
        """Return what a PostgreSQL role may do besides reading tables, a few words each; an empty
        list for SQLite. Raises ToolError when the database does not answer."""
        if _is_file(self._config(database)):
            await self._run(database, "schema", _SCHEMA_SECONDS)
            return []
        found: list[str] = await self._run(database, "privileges", _SCHEMA_SECONDS)
        return found

    async def _describe(self, name: str, query: str | None, compact: bool) -> str:
        config = self.configs[name]
        head = f"database: {name} · {_dialect(config)}"
        if config.description:
            head += f" · {config.description}"
        try:
            tables = await self._run(name, "schema", _SCHEMA_SECONDS)
        except ToolError as error:
            return f"{head}\n(not available: {error})"
        return f"{head}\n{_format_tables(tables, query=query, compact=compact)}"

    def _config(self, name: str) -> DatabaseConfig:
        if name in self.configs:
            return self.configs[name]
        near = difflib.get_close_matches(name, self.configs, n=3, cutoff=0.3)
        raise ToolError(
            f"There is no database {name}. Configured: {', '.join(near or self.configs) or 'none'}."
        )

    async def _run(self, name: str, job: str, seconds: float, **arguments: Any) -> Any:
        """Run a job on a database in an isolated process. Raises ToolError."""
        config = self._config(name)
        jobs, where = _location(config)
        # PostgreSQL's server should end a statement before the process is killed.
        limits = IsolatedLimits(cpu=seconds, seconds=seconds, reply=64_000_000)
        if not _is_file(config):
            limits = replace(limits, seconds=seconds + _CONNECT_SECONDS)
        try:
            async with asker_process(jobs, limits, _reach(config)) as process:
                return await process.call(job, **where, seconds=seconds, **arguments)
        except TimeoutError:
            raise ToolError(
                f"{name} was stopped after {seconds:g} s. Filter or aggregate."
            ) from None
        except ProcessLost:
            raise ToolError(
                f"{name}: the query needs more memory than is allowed. Filter or aggregate."
            ) from None
        except Refused as error:
            raise ToolError(f"{name}: {error}") from None


def _dialect(config: DatabaseConfig) -> str:
    return "sqlite" if _is_file(config) else "postgres"


def _is_file(config: DatabaseConfig) -> bool:
    return config.url.get_secret_value().startswith("sqlite")


def _reach(config: DatabaseConfig) -> Reach:
    """Return what a process needs for a database: the folder of the file; or the network, the settings
    of PostgreSQL's client (PGSSLROOTCERT …), and the files that they or the database's URL name."""
    if _is_file(config):
        _, where = _location(config)
        return Reach(data=Path(where["path"]).parent)
    environment = {k: v for k, v in os.environ.items() if k.startswith("PG") or k == "HOME"}
    own = [
        f"{environment.get('HOME', '')}/{name}"
        for name in (".pgpass", ".pg_service.conf", ".postgresql")
    ]
    settings = [environment.get(name, "") for name in _POSTGRES_FILES]
    tickets = f"/tmp/krb5cc_{os.getuid()}"  # noqa: S108 - where Kerberos has them
    parameters = parse_qsl(urlsplit(config.url.get_secret_value()).query)
    in_url = [v for name, v in parameters if name.startswith(("ssl", "passfile", "service"))]
    return Reach(
        network=True,
        readable=(*in_url, *own, *filter(os.path.isabs, settings), tickets),
        environment=tuple(environment.items()),
    )


def _location(config: DatabaseConfig) -> tuple[str, dict[str, str]]:
    """Return the module with the jobs for a database, and the arguments that locate it."""
    url = config.url.get_secret_value()
    if _is_file(config):
        path = Path(unquote(url.partition(":///")[2])).resolve()
        return "bot.library.interpreters.sqlite", {"path": str(path)}
    return "bot.library.interpreters.postgres", {"url": re.sub(r"\+\w+:", ":", url, count=1)}


def _format_tables(tables: list[tuple[str, list[str]]], *, query: str | None, compact: bool) -> str:
    """Return a line for each table or view: `orders(id INTEGER, customer_id INTEGER → customers.id)`."""
    if compact:
        return ", ".join(name for name, _ in tables if has_words(name, query)) or "(no tables)"
    described = [f"{name}({_format_columns(columns)})" for name, columns in tables]
    if query:
        found = [line for line in described if has_words(line, query)][:_MAX_TABLES]
        return "\n".join(found) or f"(none of {len(tables):,} tables)"
    lines = described[:_MAX_TABLES]
    if len(described) > _MAX_TABLES:
        others = ", ".join(name for name, _ in tables[_MAX_TABLES:])
        lines.append(f"… and {len(described) - _MAX_TABLES} more: {others[:1000]}")
    return "\n".join(lines) or "(no tables)"


def _format_columns(columns: list[str]) -> str:
    return ", ".join([*columns[:_MAX_COLUMNS], *["…"] * (len(columns) > _MAX_COLUMNS)])
