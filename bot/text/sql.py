"""Names and values as parts of SQL."""

from __future__ import annotations


def quoted_name(name: str) -> str:
    """Return `name` as an SQL identifier."""
    return '"' + name.replace('"', '""') + '"'


def literal(value: object) -> str:
    """Return the text of `value` as an SQL literal."""
    return "'" + str(value).replace("'", "''") + "'"
