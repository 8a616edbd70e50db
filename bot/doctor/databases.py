"""The configured databases: does each answer a query."""

from __future__ import annotations

from bot.core.errors import ToolError
from bot.doctor.findings import Finding, ok, problem
from bot.settings import Settings
from bot.toolkit import Databases


async def examine_databases(settings: Settings) -> list[Finding]:
    """SELECT 1, the way the tools ask."""
    databases = Databases(settings.databases)
    return [await _asked(databases, name) for name in settings.databases]


async def _asked(databases: Databases, name: str) -> Finding:
    subject = f"database {name}"
    try:
        await databases.query(name, "SELECT 1", 1)
    except ToolError as error:
        return problem(subject, str(error), f"correct url under [databases.{name}] in bot.toml")
    return ok(subject, "answers")
