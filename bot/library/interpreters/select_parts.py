"""Parts of a SELECT as statements of their own, through the syntax trees of DuckDB's own parser."""

# ruff: noqa: S608 - the names in these statements are quoted, the values our own or escaped

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import duckdb

from bot.library.documents.cells import literal
from bot.library.isolated import Refused

Node = dict[str, Any]
Ctes = tuple[Node, ...]
"""The WITH clauses in scope of a part, as in the `cte_map` of the tree."""

_SELECTS = ("SELECT_NODE", "SET_OPERATION_NODE")
_TOKEN = re.compile(
    r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|(?P<blank>--[^\n]*|/\*.*?\*/|\s+)|\w+|.""", re.DOTALL
)
_END_OF_ON = {"USING", "GROUP", "ORDER", "LIMIT", "OFFSET", ";", ")"}
_MOST_COLUMNS = 200


def syntax_tree(connection: Any, statement: str) -> Node:
    """Return the tree of one SELECT, or {error, error_message} of any other statement."""
    [text] = connection.execute("SELECT json_serialize_sql(?::VARCHAR)", [statement]).fetchone()
    tree: Node = json.loads(text)
    return tree


def statement_of(connection: Any, node: Node, ctes: Ctes) -> str:
    """Return the SQL of a SELECT or UNION in a tree, with the WITH clauses in its scope."""
    own = node.get("cte_map", {}).get("map", [])
    tree = {"error": False, "statements": [{"node": {**node, "cte_map": {"map": [*ctes, *own]}}}]}
    [text] = connection.execute(
        "SELECT json_deserialize_sql(?::JSON)", [json.dumps(tree)]
    ).fetchone()
    return str(text)


def projection(
    connection: Any, columns: Sequence[Node], source: Node, ctes: Ctes, where: Node | None = None
) -> str:
    """Return SQL that selects expressions as k0, k1 … from a source of a FROM clause."""
    [template] = syntax_tree(connection, "SELECT 1 FROM t")["statements"]
    named = [{**column, "alias": f"k{place}"} for place, column in enumerate(columns)]
    node = {**template["node"], "select_list": named, "from_table": source, "where_clause": where}
    return statement_of(connection, node, ctes)


def whole(connection: Any, source: Node, ctes: Ctes) -> str:
    """Return SQL that selects all columns of a source of a FROM clause."""
    [template] = syntax_tree(connection, "SELECT * FROM t")["statements"]
    return statement_of(connection, {**template["node"], "from_table": source}, ctes)


def selects(tree: Node) -> Iterator[tuple[Node, Ctes]]:
    """Yield each SELECT and UNION of a tree, the outermost first, with the WITH clauses in its scope."""
    waiting: list[tuple[Any, Ctes]] = [(tree["statements"][0]["node"], ())]
    while waiting:
        node, ctes = waiting.pop(0)
        if isinstance(node, list):
            waiting += [(item, ctes) for item in node]
        elif isinstance(node, dict):
            if node.get("type") in _SELECTS:
                yield node, ctes
            for clause in node.get("cte_map", {}).get("map", ()):
                waiting.append((clause["value"], ctes))
                ctes = (*ctes, clause)
            waiting += [(value, ctes) for key, value in node.items() if key != "cte_map"]


def with_pivot_values(connection: Any, sql: str, check: Callable[[str], Any]) -> str:
    """Return a statement in which each PIVOT … ON lists the values of its columns, which DuckDB would
    look up in a statement of its own. `check` refuses a statement that may not run.

    Raises Refused for a column with too many values.
    """
    statements = connection.extract_statements(sql)
    is_plain = len(statements) == 1 and statements[0].type == duckdb.StatementType.SELECT
    ends = [] if is_plain else _ends_without_values(sql)
    if not ends:
        return sql
    marks = [f"?{number}?" for number in range(len(ends))]
    marked = _inserted(sql, ends, [f" IN ({literal(mark)})" for mark in marks])
    check(marked)
    values = dict[str, str]()
    for node, ctes in selects(syntax_tree(connection, marked)):
        for pivot, ctes_of_pivot in _pivots(node, ctes):
            for column in pivot["pivots"]:
                entries = json.dumps(column["entries"])
                if mark := next((mark for mark in marks if mark in entries), None):
                    part = projection(
                        connection, column["pivot_expressions"], pivot["source"], ctes_of_pivot
                    )
                    values[mark] = _values(connection, part)
    return _inserted(
        sql, ends, [f" IN ({values[mark]})" if mark in values else "" for mark in marks]
    )


def _pivots(select: Node, ctes: Ctes) -> Iterator[tuple[Node, Ctes]]:
    own = select.get("cte_map", {}).get("map", ())
    for source in sources(select):
        if source.get("type") == "PIVOT":
            yield source, (*ctes, *own)


def sources(select: Node) -> Iterator[Node]:
    """Yield what the FROM clause of a SELECT names: joins before their sides."""
    waiting = [select.get("from_table")]
    while waiting:
        source = waiting.pop(0)
        if source:
            yield source
            if source.get("type") == "JOIN":
                waiting += [source["left"], source["right"]]


def _values(connection: Any, part: str) -> str:
    """Return the distinct values of a column as literals. Raises Refused for too many."""
    names = connection.execute(f"SELECT * FROM ({part}) LIMIT 0").description
    if len(names) != 1:
        raise Refused("PIVOT … ON takes one column at a time here: list the values with IN (…).")
    rows = connection.execute(
        f"SELECT DISTINCT k0::VARCHAR FROM ({part}) WHERE k0 IS NOT NULL "
        f"ORDER BY try_cast(k0::VARCHAR AS DOUBLE), 1 LIMIT {_MOST_COLUMNS + 1}"
    ).fetchall()
    if len(rows) > _MOST_COLUMNS:
        raise Refused(
            f"A PIVOT has a column for each of more than {_MOST_COLUMNS} values: group them first, or "
            "list those that you need with IN (…)."
        )
    return ", ".join(literal(value) for (value,) in rows) or "NULL"


def _inserted(text: str, places: Sequence[int], parts: Sequence[str]) -> str:
    for place, part in reversed([*zip(places, parts, strict=True)]):
        text = text[:place] + part + text[place:]
    return text


def _ends_without_values(sql: str) -> list[int]:
    """Return where the expressions after PIVOT … ON end that no IN follows."""
    ends, depth, end = list[int](), 0, 0
    is_on, has_values = dict[int, bool](), False
    for match in [*_TOKEN.finditer(sql), None]:
        word = match[0].upper() if match else ";"
        if match and match["blank"]:
            continue
        if is_on.get(depth) and (word == "," or word in _END_OF_ON):
            ends += [] if has_values else [end]
            has_values = False
            is_on[depth] = word == ","
        elif word == "PIVOT":
            is_on[depth] = False
        elif word == "ON" and is_on.get(depth) is False:
            is_on[depth], has_values = True, False
        elif word == "IN" and is_on.get(depth):
            has_values = True
        if word == ")":
            is_on.pop(depth, None)
        depth += (word == "(") - (word == ")")
        end = match.end() if match else end
    return ends
