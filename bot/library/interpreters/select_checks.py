"""What people overlook in a SELECT: rows that a join drops or multiplies, groups that are one in truth,
periods that are missing or not whole, tables that do not fit together.

A check that fails or takes too long says nothing: the result is right without it.
"""

# ruff: noqa: S608 - the names in these statements are quoted or our own

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import chain
from typing import Any

import duckdb

from bot.library.interpreters.select_parts import (
    Ctes,
    Node,
    projection,
    selects,
    sources,
    statement_of,
    whole,
)

FATAL = (duckdb.OutOfMemoryException, duckdb.FatalException, duckdb.InternalException)
"""Errors after which DuckDB accepts no more statements, or has no memory for them."""

_MOST_NOTES = 6
_MOST_KEYS = 4
_MOST_NAMED = 3
_MOST_LISTED = 20  # columns
_SUMMING = {"sum", "fsum", "avg", "mean", "count", "median", "quantile_cont", "stddev"}
_SUMMING |= {"stddev_samp", "stddev_pop", "var_samp", "var_pop", "variance"}
"""Aggregates in which a row counts as often as it occurs."""

_UNITS = ("day", "week", "month", "quarter", "year")
_OF_FORMATS = {"%Y": "year", "%Y-%m": "month", "%m/%Y": "month", "%B %Y": "month", "%b %Y": "month"}
_STEPS = {"quarter": "INTERVAL 3 MONTH"}
_PERIODS = {
    r"\d{4}-(0[1-9]|1[0-2])": ("month", "try_cast(k0 || '-01' AS TIMESTAMP)"),
    r"\d{4}-?Q[1-4]": (
        "quarter",
        "make_date(left(k0, 4)::INTEGER, right(k0, 1)::INTEGER * 3 - 2, 1)::TIMESTAMP",
    ),
    r"(19|20)\d\d": ("year", "make_date(left(k0, 4)::INTEGER, 1, 1)::TIMESTAMP"),
}
"""Texts that name a period: its length, and SQL for its beginning."""


def notes_on(connection: Any, tree: Node, seconds: float) -> list[str]:
    """Return what is to be said about the SELECT of a syntax tree, found within `seconds`."""
    is_late = threading.Event()

    def stop() -> None:
        is_late.set()
        connection.interrupt()

    timer = threading.Timer(seconds, stop)
    timer.start()
    notes = list[str]()
    try:
        for check in _checks(connection, tree):
            try:
                notes += check()
            except FATAL:
                raise
            except (duckdb.Error, KeyError, TypeError, ValueError, IndexError):
                pass  # as with a part that only has a meaning where it stands, or other trees
            if is_late.is_set():
                break
    finally:
        timer.cancel()
    return list(dict.fromkeys(notes))[:_MOST_NOTES]


def _checks(connection: Any, tree: Node) -> Iterator[Callable[[], list[str]]]:
    """Yield the checks of all parts of a statement."""
    for node, outer in selects(tree):
        part = _Part(connection, node, outer)
        if node["type"] == "SET_OPERATION_NODE":
            yield part.union
        else:
            yield from (part.joins, part.groups, part.periods)


class _Part:
    """A SELECT or UNION; `outer` are the WITH clauses in its scope beside its own."""

    def __init__(self, connection: Any, node: Node, outer: Ctes) -> None:
        self._connection, self._node, self._outer = connection, node, outer
        self._ctes = (*outer, *node.get("cte_map", {}).get("map", ()))

    def _row(self, sql: str) -> tuple[Any, ...]:
        row: tuple[Any, ...] = self._connection.execute(sql).fetchone()
        return row

    def _columns(self, sql: str) -> list[str]:
        return [name for name, *_ in self._connection.execute(f"DESCRIBE {sql}").fetchall()]

    def _projection(self, columns: Sequence[Node], source: Node, where: Node | None = None) -> str:
        return projection(self._connection, columns, source, self._ctes, where)

    # Joins

    def joins(self) -> list[str]:
        """Say which rows have no partner, and which occur several times in what is added up."""
        notes = list[str]()
        for join in sources(self._node):
            if join["type"] == "JOIN" and (keys := _keys_of(join)):
                notes += self._join(join, keys)
        return notes

    def _join(self, join: Node, keys: list[tuple[Node, Node]]) -> list[str]:
        left, right = self._sides(join, keys)
        names = [f"k{place}" for place in range(len(keys))]
        equal = " AND ".join(f"l.{name} = r.{name}" for name in names)
        alike = " AND ".join(
            f"lower(trim(l.{name}::VARCHAR)) = lower(trim(r.{name}::VARCHAR))" for name in names
        )
        lone, lone_right, count, count_right, pairs, alike_left, most, most_right = self._row(
            f"WITH l AS (SELECT *, count(*) AS n FROM ({left}) GROUP BY ALL), "
            f"r AS (SELECT *, count(*) AS n FROM ({right}) GROUP BY ALL) SELECT "
            f"(SELECT coalesce(sum(n), 0) FROM l ANTI JOIN r ON {equal}), "
            f"(SELECT coalesce(sum(n), 0) FROM r ANTI JOIN l ON {equal}), "
            "(SELECT coalesce(sum(n), 0) FROM l), (SELECT coalesce(sum(n), 0) FROM r), "
            f"(SELECT coalesce(sum(l.n * r.n), 0) FROM l JOIN r ON {equal}), "
            f"(SELECT coalesce(sum(n), 0) FROM l SEMI JOIN r ON {alike}), "
            "(SELECT coalesce(max(n), 0) FROM l), (SELECT coalesce(max(n), 0) FROM r)"
        )
        first, second = _label(join["left"]), _label(join["right"])
        notes = list[str]()
        # Of a list to look things up in, such as products, an ordinary join needs not all rows.
        is_list = most == 1 < most_right and join["join_type"] in ("INNER", "RIGHT")
        is_list_right = most_right == 1 < most and join["join_type"] in ("INNER", "LEFT")
        if (lone and not is_list) or (lone_right and not is_list_right):
            note = (
                f"rows without a partner: {lone:,} of {count:,} in {first}, {lone_right:,} of "
                f"{count_right:,} in {second}"
            )
            if (more := alike_left - (count - lone)) > 0:
                note += (
                    f"; {more:,} more of {first} have one if keys are compared as lower(trim(key))"
                )
            notes.append(note)
        repeated, repeated_right = pairs > count - lone, pairs > count_right - lone_right
        if repeated and repeated_right:
            notes += (
                []
                if _ignores_repeats(self._node)
                else [
                    f"the key repeats in {first} and in {second}: {count - lone:,} and "
                    f"{count_right - lone_right:,} rows make {pairs:,}, and sums count them several times"
                ]
            )
        elif repeated and self._adds_up(join["left"], join["right"]):
            notes.append(_counted_again(first, count - lone, pairs))
        elif repeated_right and self._adds_up(join["right"], join["left"]):
            notes.append(_counted_again(second, count_right - lone_right, pairs))
        return notes

    def _sides(self, join: Node, keys: list[tuple[Node, Node]]) -> tuple[str, str]:
        """Return SQL for the keys of both sides of a join, as k0, k1 …; each key has its side first or
        second."""
        sided = list[tuple[Node, Node]]()
        for one, other in keys:
            try:
                self._columns(self._projection([one], join["left"]))
                self._columns(self._projection([other], join["right"]))
                sided.append((one, other))
            except FATAL:
                raise
            except duckdb.Error:
                sided.append((other, one))
        left, right = zip(*sided, strict=True)
        return self._projection(left, join["left"]), self._projection(right, join["right"])

    def _adds_up(self, side: Node, other: Node) -> bool:
        """Return whether the SELECT adds up what only one side of a join has. A quantity times the price
        of the other side is right for each row."""
        columns = {name.lower() for name in self._columns_of(side)}
        columns -= {name.lower() for name in self._columns_of(other)}
        names = {source.get("alias") or source.get("table_name", "") for source in _leaves(side)}
        names = {name.lower() for name in names}

        def is_of_side(path: list[str]) -> bool:
            *table, column = (name.lower() for name in path)
            return table[-1] in names if table else column in columns

        return any(paths and all(map(is_of_side, paths)) for paths in _added_up(self._node))

    def _columns_of(self, source: Node) -> list[str]:
        return self._columns(whole(self._connection, source, self._ctes))

    # Groups

    def groups(self) -> list[str]:
        """Say which groups are one group in truth, and which rows have none."""
        notes = list[str]()
        for source, where, keys, is_across in self._keys():
            names = [name for name, _ in keys][:_MOST_KEYS]
            part = self._projection([key for _, key in keys][:_MOST_KEYS], source, where)
            kinds = dict(row[:2] for row in self._connection.execute(f"DESCRIBE {part}").fetchall())
            for place, name in enumerate(names):
                notes += self._group(part, f"k{place}", name, kinds, is_across=is_across)
        return notes

    def _group(
        self, part: str, key: str, name: str, kinds: dict[str, str], *, is_across: bool
    ) -> list[str]:
        is_text = kinds[key] == "VARCHAR"
        blank = "k IS NULL OR trim(k) = ''" if is_text else "k IS NULL"
        folded = "count(DISTINCT lower(trim(k)))" if is_text else "count(k)"
        total, empty, various = self._row(
            f"WITH values AS (SELECT {key} AS k, count(*) AS n FROM ({part}) GROUP BY 1) SELECT "
            f"sum(n), sum(n) FILTER ({blank}), count(k) - {folded} FROM values"
        )
        notes = list[str]()
        if empty:
            where = "in none of the columns" if is_across else "a group of their own"
            notes.append(f"{empty:,} of {total:,} rows have no {name}: they are {where}")
        if various:
            [spellings] = self._row(
                f"SELECT list(DISTINCT {key} ORDER BY {key}) FROM ({part}) WHERE {key} IS NOT NULL "
                f"GROUP BY lower(trim({key})) HAVING count(DISTINCT {key}) > 1 ORDER BY 1 LIMIT 1"
            )
            shown = ", ".join(f"“{spelling[:40]}”" for spelling in spellings[:_MOST_NAMED])
            notes.append(
                f"{name} has values that differ only in case or spaces around them, as {shown}: "
                "group by lower(trim(…)) to count them as one"
            )
        return notes

    def _keys(self) -> Iterator[tuple[Node, Node | None, list[tuple[str, Node]], bool]]:
        """Yield the keys of groups with their names, what they are selected from, and whether their
        values become columns."""
        node = self._node
        for pivot in sources(node):
            if pivot["type"] == "PIVOT":
                across = [key for column in pivot["pivots"] for key in column["pivot_expressions"]]
                yield pivot["source"], None, [(_name(key), key) for key in across], True
                rows = [{**_COLUMN, "column_names": [name]} for name in pivot["groups"]]
                if rows:
                    yield pivot["source"], None, [(_name(key), key) for key in rows], False
        if keys := _group_keys(node):
            yield node["from_table"], node.get("where_clause"), keys, False

    # Periods

    def periods(self) -> list[str]:
        """Say which periods are missing, and whether the first and the last one are whole."""
        keys = _group_keys(self._node)
        source, where = self._node["from_table"], self._node.get("where_clause")
        if begun := _period_of(key for _, key in keys):
            unit, moment = begun
            part = self._projection([moment], source, where)
            return self._periods(part, unit, "try_cast(k0 AS TIMESTAMP)")
        for name, key in keys:
            part = self._projection([key], source, where)
            [(_, kind, *_)] = self._connection.execute(f"DESCRIBE {part}").fetchall()
            is_year = kind.endswith(("INT", "INTEGER")) and "year" in name.lower()
            if kind == "VARCHAR" or is_year:
                texts = f"SELECT k0::VARCHAR AS k0 FROM ({part}) WHERE k0 IS NOT NULL"
                for pattern, (unit, start) in _PERIODS.items():
                    [is_period] = self._row(
                        f"SELECT bool_and(regexp_full_match(k0, '{pattern}')) FROM ({texts})"
                    )
                    if is_period:
                        return self._periods(texts, unit, start)
        return []

    def _periods(self, part: str, unit: str, moment: str) -> list[str]:
        step = _STEPS.get(unit, f"INTERVAL 1 {unit}")
        days = (
            f"WITH days AS (SELECT DISTINCT moment::DATE AS day, date_trunc('{unit}', moment)::DATE "
            f"AS start FROM (SELECT {moment} AS moment FROM ({part})) WHERE moment IS NOT NULL)"
        )
        notes = list[str]()
        missing = self._connection.execute(
            f"{days}, all_of_them AS (SELECT unnest(generate_series(min(start), max(start), {step})) "
            "AS start FROM days) SELECT start::DATE FROM all_of_them WHERE start::DATE NOT IN "
            "(SELECT start FROM days) ORDER BY 1 LIMIT 1000"
        ).fetchall()
        if missing and unit != "day":
            names = ", ".join(str(start) for (start,) in missing[:_MOST_NAMED])
            others = len(missing) - _MOST_NAMED
            more = f" and {others:,} more" if others > 0 else ""
            notes.append(
                f"{unit}s without rows: {names}{more}; they are missing here, and lag() skips them"
            )
        first, last, first_start, last_start, is_late, is_early, is_running = self._row(
            f"{days}, gaps AS (SELECT *, day - lag(day) OVER (ORDER BY day) AS gap FROM days), "
            # A weekend with a holiday is longer than the usual gap, and no hole.
            "typical AS (SELECT quantile_cont(gap, 0.95) AS length FROM gaps), "
            "ends AS (SELECT min(day) AS first, max(day) AS last, min(start) AS first_start, "
            f"max(start) AS last_start, (max(start) + {step})::DATE AS ending, "
            "greatest(1.15 * any_value(length), max(gap) FILTER (gap <= 2 * length)) AS usual "
            "FROM gaps, typical) "
            "SELECT first, last, first_start, last_start, first - first_start + 1 > usual, "
            "ending - last > usual, current_date >= last_start AND current_date < ending FROM ends"
        )
        if is_late:
            notes.append(
                f"the first {unit} ({first_start}) is not whole: its data begin on {first}; a change "
                "after it compares with a part"
            )
        if is_early or is_running:
            why = [f"its data end on {last}"] if is_early else []
            why += ["it has not ended yet"] if is_running else []
            notes.append(
                f"the last {unit} ({last_start}) is not whole: {' and '.join(why)}; a change to it "
                "compares a part with a whole"
            )
        return notes

    # Unions

    def union(self) -> list[str]:
        """Say what does not fit together, and how many equal rows became one."""
        node, kind = self._node, self._node["setop_type"]
        if kind not in ("UNION", "UNION_BY_NAME"):
            return []
        children = node.get("children") or [node["left"], node["right"]]
        parts = [statement_of(self._connection, child, self._ctes) for child in children]
        columns = [self._columns(part) for part in parts]
        notes = list[str]()
        if kind == "UNION_BY_NAME":
            by_name = [{name.lower(): name for name in names} for names in columns]
            everywhere = set[str].intersection(*map(set, by_name))
            others = {key: name for names in by_name for key, name in names.items()}
            if listed := [name for key, name in others.items() if key not in everywhere]:
                names = ", ".join(listed[:_MOST_LISTED])
                notes.append(f"not in every table, empty there: {names}")
        else:
            places = [*zip(*map(_named, children, columns), strict=False)]
            if any(_differ(first, other) for first, *others in places for other in others):
                shown = [
                    dict.fromkeys(alias or name for alias, name in place if alias or name)
                    for place in places
                ]
                pairs = " · ".join(["/".join(names) for names in shown if names][:_MOST_LISTED])
                notes.append(
                    f"columns were put together by place: {pairs}. UNION ALL BY NAME takes their names"
                )
        if not node.get("setop_all"):
            united = statement_of(self._connection, {**node, "modifiers": []}, self._outer)
            counts = " + ".join(f"(SELECT count(*) FROM ({part}))" for part in parts)
            [fewer] = self._row(f"SELECT {counts} - (SELECT count(*) FROM ({united}))")
            if fewer:
                notes.append(f"UNION made one of equal rows, {fewer:,} fewer: UNION ALL keeps them")
        return notes


_COLUMN: Node = {"class": "COLUMN_REF", "type": "COLUMN_REF", "alias": ""}


def _keys_of(join: Node) -> list[tuple[Node, Node]]:
    """Return the pairs of expressions that a join finds equal; none if it asks for anything else."""
    if join["ref_type"] != "REGULAR" or join["join_type"] not in (
        "INNER",
        "LEFT",
        "RIGHT",
        "FULL",
        "OUTER",
    ):
        return []
    if join["using_columns"]:
        columns = [{**_COLUMN, "column_names": [name]} for name in join["using_columns"]]
        return [(column, column) for column in columns]
    condition = join["condition"] or {}
    conditions = (
        condition["children"] if condition.get("type") == "CONJUNCTION_AND" else [condition]
    )
    if any(one.get("type") != "COMPARE_EQUAL" for one in conditions):
        return []
    return [(one["left"], one["right"]) for one in conditions]


def _label(source: Node) -> str:
    """Return how a side of a join is called in a note."""
    if source["type"] == "JOIN":
        return "what is joined before it"
    return str(source.get("alias") or source.get("table_name") or "the subquery")


def _leaves(source: Node) -> Iterator[Node]:
    yield from (one for one in sources({"from_table": source}) if one["type"] != "JOIN")


def _counted_again(name: str, rows: int, pairs: int) -> str:
    return (
        f"{rows:,} rows of {name} occur {pairs:,} times after the join: what is added up of {name} "
        "counts them again"
    )


def _arguments(function: Node) -> list[Node]:
    """Return the arguments of a function; versions of DuckDB differ."""
    given = function.get("arguments") or function.get("children") or []
    return [argument.get("expression", argument) for argument in given]


def _added_up(select: Node) -> Iterator[list[list[str]]]:
    """Yield the paths of the columns that each aggregate of a SELECT adds up: not those that only say
    which rows count."""
    for function in _functions([select["select_list"], select.get("having")]):
        if function["function_name"] in _SUMMING and not function.get("distinct"):
            nodes = _nodes(_arguments(function), without="when_expr")
            yield [node["column_names"] for node in nodes if node.get("type") == "COLUMN_REF"]


def _ignores_repeats(select: Node) -> bool:
    """Return whether rows that occur several times change nothing in the result of a SELECT."""
    functions = [*_functions([select["select_list"], select.get("having")])]
    if any(
        function["function_name"] in _SUMMING | {"count_star"} and not function.get("distinct")
        for function in functions
    ):
        return False
    return bool(_group_keys(select)) or _has_aggregate(functions)


def _differ(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """Return whether two columns have names of the same kind, and no name in common."""
    names = {name.lower() for name in one if name}
    return names.isdisjoint(map(str.lower, other)) and any(map(all, zip(one, other, strict=True)))


def _named(select: Node, columns: Sequence[str]) -> list[tuple[str, str]]:
    """Return how the columns of a SELECT are called in it, and of what they are; "" for no name."""
    while select["type"] == "SET_OPERATION_NODE":
        select = (select.get("children") or [select["left"]])[0]
    items = select.get("select_list", ())
    if len(items) != len(columns) or any(item["type"] == "STAR" for item in items):
        return [("", name) for name in columns]
    return [
        (item.get("alias", ""), item["column_names"][-1] if item["type"] == "COLUMN_REF" else "")
        for item in items
    ]


def _group_keys(select: Node) -> list[tuple[str, Node]]:
    """Return the keys by which a SELECT groups its rows, with their names."""
    if select["type"] != "SELECT_NODE" or not select["from_table"]:
        return []
    columns = select["select_list"]
    if select["aggregate_handling"] == "FORCE_AGGREGATES":
        keys = [column for column in columns if not _has_aggregate(column)]
    elif any(modifier["type"] == "DISTINCT_MODIFIER" for modifier in select["modifiers"]):
        keys = columns
    else:
        keys = [_key(key, columns) for key in select["group_expressions"]]
    return [] if any(key["type"] == "STAR" for key in keys) else [(_name(key), key) for key in keys]


def _key(key: Node, columns: Sequence[Node]) -> Node:
    """Return the expression of a key that names a column of the result, by its number or alias."""
    if key["type"] == "VALUE_CONSTANT":
        return columns[int(_constant(key)) - 1]
    if key["type"] == "COLUMN_REF" and len(key["column_names"]) == 1:
        [name] = key["column_names"]
        return next((column for column in columns if column.get("alias") == name), key)
    return key


def _name(key: Node) -> str:
    if key.get("alias"):
        return str(key["alias"])
    return str(key["column_names"][-1]) if key["type"] == "COLUMN_REF" else "key"


def _constant(node: Node) -> str:
    """Return a constant as text; versions of DuckDB differ."""
    value = node.get("literal") or node.get("value") or {}
    return str(value.get("text", value.get("value", "")))


def _has_aggregate(node: Any) -> bool:
    names = _SUMMING | {
        "count_star",
        "min",
        "max",
        "first",
        "last",
        "any_value",
        "string_agg",
        "mode",
    }
    names |= {
        "list",
        "arg_min",
        "arg_max",
        "quantile_disc",
        "corr",
        "bool_and",
        "bool_or",
        "array_agg",
    }
    return any(function.get("function_name") in names for function in _functions(node))


def _functions(node: Any) -> Iterator[Node]:
    yield from (part for part in _nodes(node) if "function_name" in part)


def _nodes(node: Any, *, without: str = "") -> Iterator[Node]:
    """Yield the nodes of an expression, the outermost first, but not those of subqueries, and none in the
    field `without`."""
    waiting = [node]
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, list):
            waiting += node
        elif isinstance(node, dict) and node.get("type") != "SELECT_NODE":
            yield node
            waiting += [value for key, value in node.items() if key != without]


def _period_of(keys: Iterable[Node]) -> tuple[str, Node] | None:
    """Return the length of the period that the keys name together, and the expression of the moment in
    it; None for what is no period, as a month without its year."""
    units, moments = set[str](), list[Node]()
    has_year = False
    for function in chain.from_iterable(map(_functions, keys)):
        name, arguments = function["function_name"], _arguments(function)
        if name in ("date_trunc", "datetrunc", "date_part", "datepart") and len(arguments) == 2:
            unit, moment = _constant(arguments[0]).lower(), arguments[1]
        elif name == "strftime" and len(arguments) == 2:
            unit, moment = _OF_FORMATS.get(_constant(arguments[1]), ""), arguments[0]
        elif len(arguments) == 1:
            unit, moment = name, arguments[0]
        else:
            continue
        if unit in _UNITS:
            units.add(unit)
            moments.append(moment)
            has_year |= unit == "year" or name in ("date_trunc", "datetrunc", "strftime")
    return (min(units, key=_UNITS.index), moments[0]) if has_year else None
