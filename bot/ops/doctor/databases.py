"""Check of the databases: each answers a query, and its role can only read."""

from __future__ import annotations

from bot.core.check import Check, ok, problem, warning
from bot.core.errors import ToolError
from bot.services.sql_databases import SqlDatabases
from bot.settings import Settings


async def examine_databases(settings: Settings) -> list[Check]:
    """Ask each database, as the tools would, what its role may do."""
    databases = SqlDatabases(settings.databases)
    return [each for name in settings.databases for each in await _examined(databases, name)]


async def _examined(databases: SqlDatabases, name: str) -> list[Check]:
    subject = f"database {name}"
    try:
        more = await databases.extra_privileges(name)
    except ToolError as error:
        return [problem(subject, str(error), f"correct url under [databases.{name}] in bot.toml")]
    if not more:
        return [ok(subject, "answers")]
    fix = "give it a role with only SELECT, on data that everybody here may see"
    return [ok(subject, "answers"), warning(subject, f"its role {'; '.join(more)}", fix)]
