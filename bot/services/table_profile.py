"""Profiles of table columns: type, nulls, distinct values, range, mean and median."""

# ruff: noqa: S608 - the names in these statements are quoted

from __future__ import annotations

from bot.library.documents.cells import cell_text
from bot.services.table_session import Session
from bot.toolkit.provided.artifacts import Artifact, Column
from bot.toolkit.provided.tables import quoted_name

HEADING = ["column", "type", "nulls", "distinct", "min", "max", "mean", "median", "values"]
MOST_COLUMNS = 100
_LISTED_VALUES = 12
_NUMBERS = (
    *("TINYINT", "SMALLINT", "INTEGER", "BIGINT", "HUGEINT", "UTINYINT", "USMALLINT", "UINTEGER"),
    *("UBIGINT", "UHUGEINT", "FLOAT", "DOUBLE", "DECIMAL"),
)
"""How the names of types of numbers begin."""


async def profile(session: Session, table: Artifact) -> list[list[object]]:
    """Return a row under `HEADING` for each of the first 100 columns."""
    columns = table.columns[:MOST_COLUMNS]
    return [await _profile_column(session, table.handle, column) for column in columns]


async def _profile_column(session: Session, handle: str, column: Column) -> list[object]:
    name = quoted_name(column.name)
    numbers = f"{name}::DOUBLE" if column.type.startswith(_NUMBERS) else "NULL::DOUBLE"
    [(nulls, distinct, low, high, mean, median)] = await session.rows(
        f"SELECT count(*) - count({name}), count(DISTINCT {name}), min({name})::VARCHAR, "
        f"max({name})::VARCHAR, avg({numbers}), median({numbers}) FROM {quoted_name(handle)}"
    )
    values = await _distinct_texts(session, handle, name) if column.type == "VARCHAR" else []
    listed = " | ".join(values) if len(values) <= _LISTED_VALUES else ""
    ends = _shorten(low), _shorten(high)
    averages = (None if each is None else f"{each:.6g}" for each in (mean, median))
    return [column.name, column.type, nulls, distinct, *ends, *averages, listed]


async def _distinct_texts(session: Session, handle: str, name: str) -> list[str]:
    """Return the different texts of a column, up to one more than a profile lists."""
    rows = await session.rows(
        f"SELECT DISTINCT {name} FROM {quoted_name(handle)} WHERE {name} IS NOT NULL "
        f"ORDER BY 1 LIMIT {_LISTED_VALUES + 1}"
    )
    return [_shorten(value) for (value,) in rows]


def _shorten(value: str | None) -> str:
    text = cell_text(value)
    return text if len(text) <= 40 else f"{text[:39]}…"
