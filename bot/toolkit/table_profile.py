"""What the columns of a table hold."""

# ruff: noqa: S608 - the names in these statements are quoted

from __future__ import annotations

from typing import Any

from bot.parsing.tabular import cell_text
from bot.toolkit.artifacts import Artifact, Column
from bot.toolkit.table_session import quoted_name

HEADING = ["column", "type", "nulls", "distinct", "min", "max", "values"]
_MOST_COLUMNS = 100
_LISTED_VALUES = 12


def profile(connection: Any, table: Artifact) -> list[list[object]]:
    """Under `HEADING`, a row for each of the first 100 columns."""
    return [_profiled(connection, table.handle, column) for column in table.columns[:_MOST_COLUMNS]]


def _profiled(connection: Any, handle: str, column: Column) -> list[object]:
    name = quoted_name(column.name)
    nulls, distinct, low, high = connection.execute(
        f"SELECT count(*) - count({name}), count(DISTINCT {name}), min({name})::VARCHAR, "
        f"max({name})::VARCHAR FROM {quoted_name(handle)}"
    ).fetchone()
    values = _values(connection, handle, name) if column.type == "VARCHAR" else []
    listed = " | ".join(values) if len(values) <= _LISTED_VALUES else ""
    return [column.name, column.type, nulls, distinct, _short(low), _short(high), listed]


def _values(connection: Any, handle: str, name: str) -> list[str]:
    """The different texts of a column, one more than are listed at most."""
    rows = connection.execute(
        f"SELECT DISTINCT {name} FROM {quoted_name(handle)} WHERE {name} IS NOT NULL "
        f"ORDER BY 1 LIMIT {_LISTED_VALUES + 1}"
    ).fetchall()
    return [_short(value) for (value,) in rows]


def _short(value: str | None) -> str:
    text = cell_text(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
