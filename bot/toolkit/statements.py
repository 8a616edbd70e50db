"""Judges whether a statement only reads, before any database sees it."""

from __future__ import annotations

import re

from bot.core.errors import ToolError
from bot.parsing.text import clean

_ALLOWED = (
    "One SELECT statement is allowed (WITH, JOIN, GROUP BY, UNION, window functions are fine); "
    "nothing that changes data or settings."
)
_WRITING = (
    *("Insert", "Update", "Delete", "Merge", "Create", "Drop", "Alter", "TruncateTable", "Copy"),
    *("Command", "Pragma", "Attach", "Detach", "Set", "Use", "Transaction", "Commit", "Rollback"),
    *("Into", "Lock", "Execute", "Kill", "Grant", "LoadData", "Analyze"),
)
_FUNCTIONS = re.compile(
    r"pg_(?!typeof$|get_\w+$|size_pretty$)\w+|lo_\w+|dblink\w*|\w+_to_xml\w*|set_config|setval"
    r"|nextval|currval|load_extension|readfile|writefile|fts3_tokenizer|current_setting|txid_\w+"
)
"""PostgreSQL's that read files, wait, signal, change settings or run a text as a statement, and
SQLite's that load code or files."""


def checked_select(sql: str, dialect: str) -> str:
    """`sql` as the parser understood it, if it is one statement that only reads: what was judged
    is what is run. Raises ToolError that names what is not allowed and what is.
    """
    import sqlglot  # 0.5 s to import
    from sqlglot import exp

    sql = clean(sql)

    try:
        statements = [each for each in sqlglot.parse(sql, dialect=dialect) if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        reason = re.sub(r"\x1b\[\d*m", "", str(error)).split("\n")[0]
        raise ToolError(f"The SQL cannot be read: {reason} {_ALLOWED}") from None
    if len(statements) != 1:
        raise ToolError(f"{len(statements)} statements were given. {_ALLOWED}")
    [statement] = statements
    if not isinstance(statement, exp.Query):
        raise ToolError(f"{_verb(sql)} is not allowed. {_ALLOWED}")
    writing = tuple(kind for name in _WRITING if (kind := getattr(exp, name, None)))
    for node in statement.walk():
        if isinstance(node, writing):
            raise ToolError(f"{type(node).__name__.upper()} is not allowed in it. {_ALLOWED}")
        if isinstance(node, exp.Func) and _FUNCTIONS.fullmatch(_function(node)):
            raise ToolError(f"The function {_function(node)} is not allowed. {_ALLOWED}")
    return statement.sql(dialect=dialect, comments=False)


def _verb(sql: str) -> str:
    words = re.findall(r"[A-Za-z]+", sql)
    return words[0].upper() if words else "This"


def _function(node: object) -> str:
    from sqlglot import exp

    name = node.name if isinstance(node, exp.Anonymous) else node.sql_name()  # type: ignore[attr-defined]
    return str(name).lower()
