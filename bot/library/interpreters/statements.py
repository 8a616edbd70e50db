"""Check that a statement only reads, before PostgreSQL or SQLite sees it.

The checked text is the text that runs: the statement is generated from its syntax tree, and function
calls are searched in the generated text. `bot.library.interpreters.tables` checks with DuckDB's parser.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from itertools import pairwise
from typing import cast

import sqlglot
from sqlglot import exp
from sqlglot.tokens import Token, TokenType  # type: ignore[attr-defined]

from bot.library.documents.cells import clean
from bot.library.interpreters.sql_functions import ALLOWED
from bot.library.isolated import Refused

_ALLOWED = (
    "One SELECT statement is allowed (WITH, JOIN, GROUP BY, UNION, window functions are fine); "
    "nothing that changes data or settings."
)
_MAX_LENGTH = 20_000  # characters
_MAX_NAME = 63  # bytes; PostgreSQL cuts longer names
_MAX_DEPTH = 40  # nested parentheses; the parser's time grows fast with them

_ALLOWED_NODE_NAMES = """
    Query Binary Unary Predicate Func Alias Aliases All Any AtTimeZone Between Boolean Bracket
    ColumnDef Column CTE Cube DataType DataTypeParam Distinct Fetch Filter From Group GroupingSets
    Having Identifier IgnoreNulls In Interval IntervalSpan Join JSONKeyValue JSONPath JSONPathPart
    Lambda Lateral Limit LimitOptions Literal Null Offset Order Ordered RespectNulls Rollup Schema
    Slice Star Table TableAlias TableSample Tuple Values Var Where Window WindowSpec With
    WithinGroup
"""
_ALLOWED_NODES = tuple(getattr(exp, name) for name in _ALLOWED_NODE_NAMES.split())

_KEYWORD_LIST = """
    all and any array as between by case distinct else except exists filter from having ilike in
    intersect is join lateral like limit not offset on or over recursive select similar some then
    to union using values when where with within group sets set returning materialized
    bigint bit character decimal double float int integer nchar nvarchar precision real smallint
    timestamp varying zone tablesample bernoulli system escape collate end partition rows range
    window exclude only outer inner left right full cross natural
"""
_KEYWORDS = frozenset(_KEYWORD_LIST.split())
"""Keywords that may come before a parenthesis and are no function calls."""

_TYPES = re.compile(
    r"(?:var)?char|bpchar|character(?: varying)?|n?(?:var)?char2?|text|name|citext|u?uuid|boolean|bool"
    r"|(?:small|big|tiny|medium|u)?int(?:eger)?[248]?|udouble|u(?:small|big|tiny)int|serial|real"
    r"|double(?: precision)?|float[48]?|decimal|numeric|money|dec|bit|varbit|bit varying|bytea|blob"
    r"|varbinary|date|datetime|time|timetz|timestamp(?:l?tz|ntz)?|(?:time|timestamp) with(?:out)? time zone"
    r"|interval|jsonb?|array|oid|inet|cidr|macaddr8?|tsvector|tsquery|jsonpath|point|polygon|box"
    r"|path|line|lseg|circle|(?:int4|int8|num|ts|tstz|date)(?:multi)?range|null|unknown|any|none"
    r"|signed|unsigned"
)
_SCHEMAS = re.compile(r"pg_catalog|pg_toast.*|pg_temp.*|information_schema")
_CATALOGUE_VIEWS = frozenset(
    f"information_schema.{name}"
    for name in (
        "tables",
        "columns",
        "views",
        "schemata",
        "table_constraints",
        "key_column_usage",
        "constraint_column_usage",
        "referential_constraints",
    )
)
_SYSTEM_TABLES = re.compile(r"pg_.*|sqlite_(?!master$|schema$).*|pragma_.*|dbstat|fts\d.*|rtree.*")
_VALUES = frozenset({TokenType.STRING, TokenType.NUMBER})


@dataclass(frozen=True)
class CheckedSelect:
    """A statement that only reads: the `sql` to run, the functions it `calls`, and the `dotted` names.

    A dotted name comes after a dot, as in `t.name`, with the tables that have such a column if it is
    a column; () where the tables are unknown.
    """

    sql: str
    calls: frozenset[str]
    dotted: tuple[tuple[str, tuple[str, ...]], ...]


def checked_select(sql: str, dialect: str, functions: Collection[str] = ()) -> CheckedSelect:
    """Check that `sql` is one statement that only reads, and calls only functions that are listed for
    the dialect or in `functions`. Raises Refused that names what is not allowed and what is."""
    statement = _parse(clean(sql), dialect)
    if dialect == "postgres":
        statement = cast(exp.Query, statement.transform(_keep_spelling))
    for node in statement.walk():
        if not isinstance(node, _ALLOWED_NODES) or isinstance(node, exp.Operator):
            raise Refused(f"{_node_name(node)} is not allowed in it. {_ALLOWED}")
        if isinstance(node, exp.DataType):
            _check_type(node, dialect)
        if isinstance(node, exp.Table):
            _check_table(node)
    generated = statement.sql(dialect=dialect, comments=False)
    tokens = sqlglot.tokenize(generated, read=dialect)
    calls = _calls(statement, tokens)
    if refused := sorted(calls - ALLOWED[dialect] - set(functions)):
        raise Refused(
            f"The function {refused[0]} is not allowed: only listed ones that compute from their "
            f"arguments are. {_ALLOWED}"
        )
    return CheckedSelect(
        generated, frozenset(calls), tuple(_dotted_names(statement, tokens, dialect))
    )


def _parse(sql: str, dialect: str) -> exp.Query:
    if len(sql) > _MAX_LENGTH or _depth(sql) > _MAX_DEPTH:
        raise Refused(f"The statement is too long or too deeply nested. {_ALLOWED}")
    try:
        statements = [each for each in sqlglot.parse(sql, dialect=dialect) if each is not None]
    except (sqlglot.errors.SqlglotError, RecursionError) as error:
        reason = re.sub(r"\x1b\[\d*m", "", str(error)).split("\n")[0]
        raise Refused(f"The SQL cannot be read: {reason} {_ALLOWED}") from None
    if len(statements) != 1:
        raise Refused(f"{len(statements)} statements were given. {_ALLOWED}")
    [statement] = statements
    if not isinstance(statement, exp.Query):
        words = re.findall(r"[A-Za-z]+", sql)
        raise Refused(f"{words[0].upper() if words else 'This'} is not allowed. {_ALLOWED}")
    return statement


def _depth(sql: str) -> int:
    depth = deepest = 0
    for character in sql:
        depth += (character in "([{") - (character in ")]}")
        deepest = max(deepest, depth)
    return deepest


def _node_name(node: object) -> str:
    return type(node).__name__.upper()


def _check_type(node: exp.DataType, dialect: str) -> None:
    """Refuse types whose cast runs a function of its own: regclass, xml, and the operator's types."""
    name = node.sql(dialect=dialect).lower()
    plain = re.sub(r"\(.*?\)|\[\d*\]", "", name).strip()
    if not _TYPES.fullmatch(re.sub(r"\s+", " ", plain)) and not isinstance(
        node.find_ancestor(exp.Interval), exp.Interval
    ):
        raise Refused(f"The type {name} is not allowed in a cast. Compare it as text. {_ALLOWED}")


def _check_table(node: exp.Table) -> None:
    schema, name = node.db.lower(), node.name.lower()
    if f"{schema}.{name}" in _CATALOGUE_VIEWS and not node.catalog:
        return
    if _SCHEMAS.fullmatch(schema) or _SYSTEM_TABLES.fullmatch(name):
        raise Refused(f"The table {node.name} may not be read: it is the system's. {_ALLOWED}")


def _keep_spelling(node: exp.Expression) -> exp.Expression:
    """Keep strings with escapes and function names that sqlglot's generator would change."""
    match node:
        case exp.ByteString() | exp.RawString():
            return exp.Literal.string(node.name)
        case exp.Hex():
            return exp.Anonymous(this="to_hex", expressions=[node.this])
        case exp.Log() if node.expression and node.this == exp.Literal.number(10):
            return exp.Log(this=node.expression)
        case _:
            return node


def _folded(name: str, *, is_quoted: bool) -> str:
    """Return a name as PostgreSQL stores it: lower-case ASCII letters unless quoted, 63 bytes."""
    kept = name.encode() if is_quoted else name.encode().lower()
    return kept[:_MAX_NAME].decode(errors="ignore")


def _calls(statement: exp.Query, tokens: list[Token]) -> set[str]:
    """Return the names before a parenthesis in the text that will run, except keywords and table
    aliases with a list of columns. A quoted name counts as it is written."""
    found: Counter[str] = Counter()
    for index, (token, following) in enumerate(pairwise(tokens)):
        if following.token_type != TokenType.L_PAREN or token.token_type in _VALUES:
            continue
        is_unquoted = token.token_type != TokenType.IDENTIFIER
        name = _token_name(token).split()[-1] if is_unquoted else _token_name(token)
        is_keyword = name in _KEYWORDS or not re.match(r"[^\W\d]", name)
        if is_unquoted and is_keyword and not _is_dot(tokens[index - 1]):
            continue
        found[_qualified_name(tokens, index, name)] += 1
    for alias in statement.find_all(exp.TableAlias):
        if alias.columns and alias.this is not None:
            found[_identifier_name(alias.this)] -= 1
    # A function may have the name of a keyword.
    unknown = {each.name.lower() for each in statement.find_all(exp.Anonymous)}
    return {name for name, count in found.items() if count > 0} | unknown


def _qualified_name(tokens: list[Token], index: int, name: str) -> str:
    """Return the name of a function with its schema, unless that is pg_catalog."""
    if index < 2 or not _is_dot(tokens[index - 1]):
        return name
    schema = tokens[index - 2].text
    return name if schema.lower() == "pg_catalog" else f"{schema}.{name}"


def _dotted_names(
    statement: exp.Query, tokens: list[Token], dialect: str
) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the names after a dot that are no tables, with the tables that may have such a column."""
    sources: dict[str, list[str | None]] = {}
    ctes = {cte.alias.lower() for cte in statement.find_all(exp.CTE)}
    for node in statement.find_all(exp.Table, exp.Subquery, exp.Lateral, exp.Values, exp.Unnest):
        if name := node.alias_or_name.lower():
            sources.setdefault(name, []).append(_base_table(node, ctes, dialect))
    behind_dots = Counter(_token_name(each) for dot, each in pairwise(tokens) if _is_dot(dot))
    for table in statement.find_all(exp.Table):
        behind_dots.subtract(map(_identifier_name, table.parts[1:]))
    for column in statement.find_all(exp.Column):
        if column.table and not isinstance(column.this, exp.Star):
            tables = sources.get(column.table.lower(), [None])
            certain = tuple(each for each in tables if each)
            behind_dots.subtract(map(_identifier_name, column.parts[1:]))
            yield _identifier_name(column.this), certain if len(certain) == len(tables) else ()
    for name, count in behind_dots.items():
        if count > 0:
            yield name, ()


def _is_dot(token: Token) -> bool:
    return token.token_type == TokenType.DOT


def _token_name(token: Token) -> str:
    return _folded(token.text, is_quoted=token.token_type == TokenType.IDENTIFIER)


def _identifier_name(part: exp.Expr) -> str:
    return _folded(part.name, is_quoted=bool(part.args.get("quoted")))


def _base_table(node: exp.Expression, ctes: set[str], dialect: str) -> str | None:
    """Return the name of a table of the database; None for a part of the statement, such as a CTE."""
    if not isinstance(node, exp.Table) or not isinstance(node.this, exp.Identifier):
        return None
    alias = node.args.get("alias")
    if (not node.db and node.name.lower() in ctes) or (alias is not None and alias.columns):
        return None
    bare: exp.Table = exp.Table(this=node.this, db=node.args.get("db"))
    return bare.sql(dialect=dialect)
