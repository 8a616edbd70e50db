"""Jobs on tables: SQL in DuckDB over Parquet, CSV and JSON files in the process's folder.

`tables` is a list of [file, reader, names]: each file is a view under each of its names.
"""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import duckdb

from bot.library.documents.cells import quoted_name
from bot.library.documents.reading.tabular import column_names, connect, write_parquet
from bot.library.documents.results import Sheet
from bot.library.interpreters.distributions import FUNCTIONS
from bot.library.interpreters.select_checks import FATAL, notes_on
from bot.library.interpreters.select_parts import Node, syntax_tree, with_pivot_values
from bot.library.interpreters.sql_functions import ALLOWED
from bot.library.isolated import Refused, without_paths

Tables = list[tuple[str, str, list[str]]]

_FUNCTIONS = ALLOWED["duckdb"] | FUNCTIONS.keys()
_MEMORY = "512MB"
_MOST_PAIRS = 10_000
_MAX_MESSAGE = 1_000  # characters of an error message, which may quote a whole value
_ONE_SELECT = "One SELECT (or WITH … SELECT) statement is allowed, and nothing else."


class _Database:
    """The DuckDB connection of this process, and the views it has."""

    def __init__(self) -> None:
        self.connection = connect(threads=2, memory=_MEMORY)
        self.connection.execute(f"SET allowed_directories = ['{Path.cwd()}/']")
        self.connection.execute("SET enable_external_access = false")
        self.connection.execute("SET lock_configuration = true")
        self.tables: Tables = []

    def connection_with(self, tables: Tables) -> Any:
        """Return the connection with exactly `tables` as its views."""
        if tables != self.tables:
            for name in _names(self.tables):
                self.connection.execute(f"DROP VIEW IF EXISTS {quoted_name(name)}")
            self.tables = []
            for file, reader, names in tables:
                source = reader.replace("{file}", f"'{Path.cwd() / file}'")
                for name in names:
                    # REPLACE, because an earlier attempt that failed may have left a view.
                    view = f"CREATE OR REPLACE VIEW {quoted_name(name)}"
                    self.connection.execute(f"{view} AS FROM {source}")
            self.tables = tables
        return self.connection


_databases: list[_Database] = []


def rows(tables: Tables, sql: str) -> list[tuple[Any, ...]]:
    """Run a statement of the bot's own and return all rows."""
    try:
        return list(_connection_with(tables).execute(sql).fetchall())
    except duckdb.Error as error:
        raise _refusal(error, sql) from None


def select(tables: Tables, sql: str, to: str) -> dict[str, Any]:
    """Run a statement of the model and write its rows as Parquet to the file `to`. Return what
    `measure` returns. Raises Refused for anything but one SELECT over `tables` with allowed
    functions."""
    try:
        connection = _connection_with(tables)
        _add_distributions(connection, sql)
        statement, _ = _checked(connection, sql, set(_names(tables)))
        source = f"({statement}\n)"
        writing = f"FROM {source}) TO '{Path.cwd() / to}' (FORMAT parquet)"
        columns = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        try:
            connection.execute(f"COPY (SELECT * {_cast_sums(columns)} {writing}")
        except duckdb.ConversionException:
            # A sum beyond 64 bits, unless the statement itself is at fault and fails again.
            connection.execute(f"COPY (SELECT * {writing}")
        return measure(to)
    except duckdb.Error as error:
        raise _refusal(error, sql) from None


def checks(tables: Tables, sql: str, seconds: float) -> list[str]:
    """Return what is to be said about a statement that `select` has run, found within `seconds`."""
    try:
        connection = _connection_with(tables)
        _, tree = _checked(connection, sql, set(_names(tables)))
        return notes_on(connection, tree, seconds)
    except duckdb.Error as error:
        raise _refusal(error, sql) from None


def test_hypothesis(
    tables: Tables, handle: str, kind: str, columns: list[str], by: str | None
) -> dict[str, Any]:
    """Test a hypothesis on columns of a table, by the groups of the column `by`. Return {results, notes}:
    a list of tables, each a list of rows, and sentences on what the test assumes."""
    from bot.library.interpreters import statistics

    connection = _connection_with(tables)
    source = quoted_name(handle)

    def fetched(sql: str) -> Any:
        try:
            return connection.execute(sql)
        except duckdb.Error as error:
            raise _refusal(error, "") from None

    def selected(sql: str) -> dict[str, Any]:
        return dict(fetched(f"{sql} FROM {source}").fetchnumpy())

    def numbers(*names: str) -> dict[str, statistics.Floats]:
        casts = [f"CAST({quoted_name(name)} AS DOUBLE) AS {quoted_name(name)}" for name in names]
        read = selected(f"SELECT {', '.join(casts)}")
        return {name: statistics.with_gaps(read[name]) for name in names}

    if kind == "chi_squared":
        first, second = [*columns, *filter(None, [by])][:2]
        names = f"{quoted_name(first)}::VARCHAR AS a, {quoted_name(second)}::VARCHAR AS b"
        counted = fetched(
            f"SELECT a, b, count(*) FROM (SELECT {names} FROM {source}) WHERE a IS NOT NULL "
            f"AND b IS NOT NULL GROUP BY 1, 2 ORDER BY 1, 2 LIMIT {_MOST_PAIRS + 1}"
        ).fetchall()
        if len(counted) > _MOST_PAIRS:
            raise Refused(f"{first} and {second} have more than {_MOST_PAIRS:,} pairs of values.")
        tested = statistics.chi_squared(counted)
    elif kind == "regression":
        outcome, *_ = columns
        tested, fit = statistics.regression(outcome, numbers(*columns))
        return {"results": [tested.rows, [fit]], "notes": tested.notes}
    elif kind in statistics.ON_COLUMNS:
        tested = statistics.ON_COLUMNS[kind](numbers(*columns))
    else:
        groups = numbers(*columns)
        if by is not None:
            names = selected(f"SELECT {quoted_name(by)}::VARCHAR AS name")["name"]
            groups = statistics.grouped(groups[columns[0]], names)
        tested = statistics.ON_GROUPS[kind](
            groups if kind == "paired" and by is None else statistics.present(groups)
        )
    return {"results": [tested.rows], "notes": tested.notes}


def measure(file: str) -> dict[str, Any]:
    """Return {columns, rows, notes} of a Parquet file: columns as [[name, type]], the number of rows,
    and notes on columns with infinite values or NaN."""
    source = f"read_parquet('{Path.cwd() / file}')"
    try:
        connection = _connection_with([])
        columns = connection.execute(f"DESCRIBE SELECT * FROM {source}").fetchall()
        names = [name for name, kind, *_ in columns if kind in {"DOUBLE", "FLOAT"}]
        counts = [f"count(*) FILTER (WHERE NOT isfinite({quoted_name(name)}))" for name in names]
        [rows, *odd] = connection.execute(
            f"SELECT {', '.join(['count(*)', *counts])} FROM {source}"
        ).fetchone()
    except duckdb.Error as error:
        raise _refusal(error, "") from None
    notes = [
        f"{count:,} values of {name} are infinite or no number, as after a division by zero: sums of "
        "them are, too"
        for name, count in zip(names, odd, strict=True)
        if count
    ]
    return {"columns": [each[:2] for each in columns], "rows": rows, "notes": notes[:10]}


def write(columns: list[str], rows: list[list[Any]], to: str) -> dict[str, Any]:
    """Write rows of Python values as Parquet to the file `to`. Return what `measure` returns, with
    notes on values that were changed. Text stays text, ISO dates become dates."""
    names = column_names(columns, len(columns))
    sheet = Sheet("rows", names, rows, typed=True)
    write_parquet(sheet, Path(to))
    return {**measure(to), "notes": sheet.notes}


def _connection_with(tables: Tables) -> Any:
    if not _databases:
        _databases.append(_Database())
    return _databases[0].connection_with(tables)


def _add_distributions(connection: Any, sql: str) -> None:
    """Add the distribution functions that a statement names to the connection."""
    for name, (function, count) in FUNCTIONS.items():
        if name in sql.lower() and name not in _added:
            types = ["DOUBLE"] * count
            connection.create_function(
                name, function, types, "DOUBLE", exception_handling="return_null"
            )
            _added.add(name)


_added = set[str]()


def _checked(connection: Any, sql: str, tables: set[str]) -> tuple[str, Node]:
    """Return the one SELECT in `sql` and its syntax tree, with the values of each PIVOT. Raises Refused
    for anything but a SELECT over `tables` with allowed functions."""

    def check(text: str) -> tuple[str, Node]:
        return _check_select(connection, text, tables)

    return check(with_pivot_values(connection, sql, check))


def _check_select(connection: Any, sql: str, tables: set[str]) -> tuple[str, Node]:
    """Return the one SELECT in `sql` and its tree, checked by DuckDB's own parser."""
    statements = connection.extract_statements(sql)
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise Refused(_ONE_SELECT)
    statement: str = statements[0].query.strip().rstrip(";")
    tree = syntax_tree(connection, statement)
    if tree["error"]:
        raise Refused(f"{tree['error_message']} {_ONE_SELECT}")
    for node, known in _nodes(tree["statements"], frozenset(map(_folded, tables))):
        name = node.get("function_name")
        if name is not None and re.match(r"\w", name) and name.lower() not in _FUNCTIONS:
            raise Refused(f"The function {name} is not allowed here.")
        if node.get("type") == "BASE_TABLE" and (
            node.get("schema_name") or _folded(node["table_name"]) not in known
        ):
            raise Refused(
                f"The table {node['table_name']} does not exist. Name it in handles; tables here: "
                f"{', '.join(sorted(tables)) or 'none'}."
            )
        if node.get("type") == "SHOW_REF":
            raise Refused(f"{_ONE_SELECT} describe_table tells what a table holds.")
    return statement, tree


def _nodes(tree: Any, tables: frozenset[str]) -> Iterator[tuple[dict[str, Any], frozenset[str]]]:
    """Yield every object of the tree with the table names in its scope: `tables`, and the WITH
    clauses before it. Outside that scope the same name may mean a file or the catalogue.

    Works without recursion, because statements may be deeply nested.
    """
    waiting = [(tree, tables)]
    while waiting:
        node, known = waiting.pop()
        if isinstance(node, list):
            waiting.extend((each, known) for each in node)
        elif isinstance(node, dict):
            for part in node.get("cte_map", {}).get("map", ()):
                waiting.append((part["value"], known))
                known |= {_folded(part["key"])}
            yield node, known
            for key, value in node.items():
                # Only the second half of a recursive part may name the part itself.
                if key == "right" and node.get("type") == "RECURSIVE_CTE_NODE":
                    waiting.append((value, known | {_folded(node["cte_name"])}))
                elif key != "cte_map":
                    waiting.append((value, known))


def _cast_sums(columns: list[tuple[str, str]]) -> str:
    """Return a REPLACE clause that casts sums of integers to 64 bits; Parquet would make them floats."""
    casts = [
        f"CAST({quoted_name(name)} AS BIGINT) AS {quoted_name(name)}"
        for name, kind, *_ in columns
        if kind == "HUGEINT"
    ]
    return f"REPLACE ({', '.join(casts)})" if casts else ""


def _refusal(error: Exception, sql: str) -> Exception:
    """Return the error with DuckDB's message, without paths and without advice on its settings."""
    if isinstance(error, FATAL):
        return MemoryError()
    lines = [line for line in str(error)[:_MAX_MESSAGE].splitlines() if "Did you mean" not in line]
    message = re.sub(r" Use \"SET .*", "", "\n".join(list(filter(None, lines))[:4]))
    message = re.sub(r" IN \('\?\d+\?'\)", "", message)  # what stood for the values of a PIVOT
    return Refused(without_paths(message, sql))


def _folded(name: str) -> str:
    """Return a name as DuckDB compares it: case is ignored for ASCII letters only. With `casefold`, a
    WITH clause named `ſqlite_master` would count as the catalogue."""
    return name.encode().lower().decode()


def _names(tables: Tables) -> list[str]:
    return [name for _, _, names in tables for name in names]
