"""Jobs on a PostgreSQL database: one SELECT in a read-only transaction, under the server's own
limits, its rows streamed."""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any

import psycopg
import psycopg.adapt
from psycopg.abc import Loader
from psycopg.pq import Format
from typing_extensions import override

from bot.library.interpreters.selections import bounded_result, describe_tables
from bot.library.interpreters.sql_functions import ALLOWED
from bot.library.interpreters.statements import CheckedSelect, checked_select
from bot.library.isolated import Refused, without_paths

_FETCH_ROWS = 100  # rows at a time
_TIMES = ("date", "time", "timetz", "timestamp", "timestamptz", "interval")
_SETTINGS = {
    "statement_timeout": "{milliseconds}",
    "lock_timeout": "{milliseconds}",
    "idle_in_transaction_session_timeout": "{milliseconds}",
    "transaction_timeout": "{milliseconds}",
    "client_connection_check_interval": "1000",  # end a statement that nobody waits for
    "temp_file_limit": "1GB",
    "work_mem": "64MB",
    "hash_mem_multiplier": "1",
    "max_parallel_workers_per_gather": "2",
    "standard_conforming_strings": "on",  # strings end where our check saw them end
}
_APPLY_SETTINGS = """
SELECT set_config(s.name, v.value, false)
FROM jsonb_each_text(%s) AS v(name, value) JOIN pg_settings s USING (name)
WHERE s.context = 'user'
   OR s.context = 'superuser' AND current_setting('is_superuser') = 'on'
"""
_SCHEMA = """
SELECT CASE n.nspname WHEN current_schema() THEN '' ELSE n.nspname || '.' END || c.relname,
       a.attname, format_type(a.atttypid, a.atttypmod)
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
WHERE c.relkind IN ('r', 'v', 'm', 'f', 'p') AND NOT c.relispartition
  AND n.nspname NOT LIKE 'pg\\_%' AND n.nspname <> 'information_schema'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_column_privilege(c.oid, a.attnum, 'SELECT')
ORDER BY 1, a.attnum
"""
_REFERENCES = """
SELECT CASE n.nspname WHEN current_schema() THEN '' ELSE n.nspname || '.' END || c.relname,
       a.attname, f.relname || '.' || b.attname
FROM pg_constraint k
JOIN pg_class c ON c.oid = k.conrelid
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_class f ON f.oid = k.confrelid
JOIN pg_attribute a ON a.attrelid = k.conrelid AND a.attnum = k.conkey[1]
JOIN pg_attribute b ON b.attrelid = k.confrelid AND b.attnum = k.confkey[1]
WHERE k.contype = 'f' AND cardinality(k.conkey) = 1
"""
_FUNCTIONS = """
SELECT DISTINCT p.proname FROM pg_proc p
WHERE p.proname = ANY(%s) AND p.pronargs > 0 AND p.pronargs - p.pronargdefaults <= 1
"""
_CHANGING_FUNCTIONS = """
WITH own AS (
    SELECT oid, proname FROM pg_proc
    WHERE pronamespace <> 'pg_catalog'::regnamespace AND (provolatile = 'v' OR prosecdef)
      AND proname <> ALL(%(functions)s)
)
SELECT proname FROM own WHERE proname = ANY(%(calls)s)
UNION ALL
SELECT proname FROM own JOIN pg_operator o ON o.oprcode = own.oid
WHERE o.oprname = ANY(%(operators)s) OR strpos(%(sql)s, o.oprname) > 0
UNION ALL
SELECT proname FROM own JOIN pg_cast c ON c.castfunc = own.oid
WHERE c.castcontext = 'i' OR strpos(%(sql)s, 'CAST(') > 0
"""
_IMPLIED_OPERATORS = {
    **dict.fromkeys(("CASE", "DISTINCT", "IN", "NATURAL", "NULLIF", "USING"), ("=", "<>")),
    "BETWEEN": ("<", "<=", ">", ">="),
    "ILIKE": ("~~*", "!~~*"),
    "LIKE": ("~~", "!~~"),
    "SIMILAR": ("~", "!~"),
}
"""Operators that PostgreSQL looks up for keywords."""

_PRIVILEGES = r"""
SELECT CASE WHEN r.rolsuper THEN 'is a superuser' END FROM pg_roles r WHERE r.rolname = current_user
UNION ALL
SELECT 'may ' || p.text FROM pg_roles r, LATERAL (VALUES
    (r.rolcreaterole, 'create roles (CREATEROLE)'),
    (r.rolcreatedb, 'create databases (CREATEDB)'),
    (r.rolreplication, 'replicate all data (REPLICATION)'),
    (r.rolbypassrls, 'bypass row security (BYPASSRLS)')) AS p(holds, text)
WHERE r.rolname = current_user AND p.holds AND NOT r.rolsuper
UNION ALL
SELECT 'is a member of ' || string_agg(o.rolname, ', ' ORDER BY o.rolname) FROM pg_roles o
WHERE pg_has_role(o.oid, 'MEMBER') AND o.rolname <> current_user AND NOT _super
  AND (o.rolsuper OR o.rolcreaterole OR o.rolcreatedb OR o.rolreplication OR o.rolbypassrls
       OR o.rolname IN ('pg_read_server_files', 'pg_write_server_files', 'pg_read_all_data',
          'pg_execute_server_program', 'pg_write_all_data', 'pg_signal_backend', 'pg_maintain',
          'pg_checkpoint', 'pg_create_subscription', 'pg_read_all_settings', 'pg_monitor',
          'pg_read_all_stats'))
HAVING count(*) > 0
UNION ALL
SELECT 'may change ' || count(*) || ' tables, as ' || min(c.oid::regclass::text) FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind IN ('r', 'p', 'v', 'f') AND n.nspname NOT LIKE 'pg\_%' AND NOT _super
  AND n.nspname <> 'information_schema' AND has_schema_privilege(n.oid, 'USAGE')
  AND (has_table_privilege(c.oid, 'INSERT, UPDATE, DELETE, TRUNCATE')
       OR has_any_column_privilege(c.oid, 'INSERT, UPDATE'))
HAVING count(*) > 0
UNION ALL
SELECT 'may change ' || count(*) || ' sequences, as ' || min(c.oid::regclass::text)
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE NOT _super AND has_schema_privilege(n.oid, 'USAGE')
  AND CASE WHEN c.relkind = 'S' THEN has_sequence_privilege(c.oid, 'USAGE, UPDATE') END
HAVING count(*) > 0
UNION ALL
SELECT 'may create objects in the schema ' || string_agg(n.nspname, ', ' ORDER BY n.nspname)
FROM pg_namespace n
WHERE n.nspname NOT LIKE 'pg\_%' AND NOT _super AND has_schema_privilege(n.oid, 'CREATE')
HAVING count(*) > 0
UNION ALL
SELECT 'may create schemas' WHERE has_database_privilege(current_database(), 'CREATE') AND NOT _super
UNION ALL
SELECT 'may write code in ' || string_agg(l.lanname, ', ' ORDER BY l.lanname) FROM pg_language l
WHERE NOT l.lanpltrusted AND l.lanispl AND NOT _super AND has_language_privilege(l.oid, 'USAGE')
HAVING count(*) > 0
UNION ALL
SELECT 'may call functions of the extension ' || string_agg(DISTINCT e.extname, ', ')
FROM pg_extension e
JOIN pg_depend d ON d.refobjid = e.oid AND d.refclassid = 'pg_extension'::regclass
JOIN pg_proc p ON p.oid = d.objid AND d.classid = 'pg_proc'::regclass
WHERE e.extname IN ('dblink', 'adminpack', 'file_fdw', 'postgres_fdw', 'http', 'pg_net', 'pg_cron',
                    'aws_s3', 'aws_lambda', 'lo', 'pageinspect', 'plpython3u', 'plperlu', 'pltclu')
  AND has_function_privilege(p.oid, 'EXECUTE')
HAVING count(*) > 0
UNION ALL
SELECT 'may call ' || count(*) || ' SECURITY DEFINER functions, as ' || min(p.oid::regproc::text)
FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
WHERE p.prosecdef AND NOT _super AND n.nspname NOT LIKE 'pg\_%'
  AND has_schema_privilege(n.oid, 'USAGE') AND has_function_privilege(p.oid, 'EXECUTE')
HAVING count(*) > 0
""".replace("_super", "(SELECT rolsuper FROM pg_roles WHERE rolname = current_user)")
_COLUMNS = """
SELECT a.attname FROM pg_attribute a
WHERE a.attrelid = to_regclass(%s) AND a.attnum > 0 AND NOT a.attisdropped
"""


def schema(url: str, seconds: float) -> list[tuple[str, list[str]]]:
    """Return the tables and views that the role may read, with their columns."""
    with _connect(url, seconds) as connection:
        columns = connection.execute(_SCHEMA).fetchall()
        found = connection.execute(_REFERENCES).fetchall()
    return describe_tables(columns, {(table, column): target for table, column, target in found})


def select(
    url: str, sql: str, limit: int, seconds: float, functions: Sequence[str] = ()
) -> dict[str, Any]:
    """Run one SELECT, which may call the operator's `functions` beside the listed ones. Return
    {columns, rows, truncated}. Raises Refused with what is not allowed, or the server's message."""
    statement = checked_select(sql, "postgres", functions)
    with _connect(url, seconds, sql) as connection:
        _refuse_own_functions(connection, statement, functions)
        # A cursor takes a single SELECT and nothing else.
        with connection.cursor("bot") as cursor:
            cursor.itersize = _FETCH_ROWS
            cursor.execute(statement.sql.encode())
            columns = [each.name for each in cursor.description or ()]
            return bounded_result(columns, (tuple(map(_cell, row)) for row in cursor), limit)


def privileges(url: str, seconds: float) -> list[str]:
    """Return what the role may do besides reading tables: "is a superuser", "may …"."""
    with _connect(url, seconds, explains=True) as connection:
        return [text for (text,) in connection.execute(_PRIVILEGES) if text]


def _refuse_own_functions(
    connection: psycopg.Connection[Any], statement: CheckedSelect, functions: Sequence[str]
) -> None:
    """Refuse calls of functions defined in this database, which only its catalogue shows.

    PostgreSQL reads `t.f` and `(x).f` as f(t) and f(x) where it finds no such column, so a name that
    is also a function must certainly be a column. And a function defined in the database may have a
    listed name, or be hidden in an operator or a cast, and do more than compute.
    """
    names = sorted({name for name, _ in statement.dotted} - set(functions))
    also_functions = {name for (name,) in connection.execute(_FUNCTIONS, (names,))}
    maybe_calls = {
        name
        for name, tables in statement.dotted
        if name in also_functions
        and not (tables and all(_has_column(connection, table, name) for table in tables))
    }
    for name in sorted(maybe_calls - ALLOWED["postgres"]):
        raise Refused(
            f"{name} is also the name of a function, and could be a call of it. Write the "
            "column without the table in front, or rename it in a subquery."
        )
    words = set(re.findall(r"\w+", statement.sql.upper()))
    parameters = {
        "functions": list(functions),
        "calls": sorted(statement.calls | maybe_calls),
        "operators": sorted({each for word in words for each in _IMPLIED_OPERATORS.get(word, ())}),
        "sql": statement.sql,
    }
    for (name,) in connection.execute(_CHANGING_FUNCTIONS, parameters):
        raise Refused(f"{name} is a function of this database that may change something.")


def _has_column(connection: psycopg.Connection[Any], table: str, column: str) -> bool:
    return (column,) in connection.execute(_COLUMNS, (table,)).fetchall()


@contextmanager
def _connect(
    url: str, seconds: float, sql: str = "", *, explains: bool = False
) -> Generator[psycopg.Connection[Any]]:
    """Open a connection with a read-only transaction and the server's limits.

    Raises Refused; for an operator it `explains` why the server cannot be reached.
    """
    milliseconds = str(int(seconds * 1000))
    settings = {name: each.format(milliseconds=milliseconds) for name, each in _SETTINGS.items()}
    try:
        with psycopg.connect(url, connect_timeout=5, prepare_threshold=None) as connection:
            connection.read_only = True
            for name in _TIMES:
                loader = connection.adapters.get_loader(
                    connection.adapters.types[name].oid, Format.TEXT
                )
                if loader:
                    connection.adapters.register_loader(name, _lenient(loader))
            connection.execute(_APPLY_SETTINGS, (json.dumps(settings),))
            yield connection
            connection.rollback()
    except psycopg.errors.QueryCanceled:
        raise Refused(f"It was stopped after {seconds:g} s. Filter or aggregate.") from None
    except (psycopg.errors.DiskFull, psycopg.errors.ConfigurationLimitExceeded):
        raise Refused("The query needs more space than is allowed. Filter or aggregate.") from None
    except psycopg.OperationalError as error:
        if error.sqlstate is None and explains:
            cause = " ".join(str(error).removeprefix("connection failed: ").split())
            raise Refused(cause[:300]) from None
        if error.sqlstate is None:
            raise Refused("It cannot be reached now. Go on without it and say so.") from None
        raise _refusal(error, sql) from None
    except psycopg.Error as error:
        raise _refusal(error, sql) from None


def _lenient(loader: type[Loader]) -> type[Loader]:
    """Return a loader that gives the server's text for values that Python cannot represent: infinity,
    years BC, 24:00:00."""

    class Lenient(psycopg.adapt.Loader):
        def __init__(self, oid: int, connection: Any = None) -> None:
            super().__init__(oid, connection)
            self._strict = loader(oid, connection)

        @override
        def load(self, data: Any) -> Any:
            try:
                return self._strict.load(data)
            except (psycopg.DataError, ValueError, OverflowError):
                return bytes(data).decode("utf-8", "replace")

    return Lenient


def _cell(value: Any) -> Any:
    """Return JSON, arrays and composites as JSON text; other values unchanged."""
    if isinstance(value, dict | list | tuple):
        return json.dumps(value, ensure_ascii=False, default=str)
    return value


def _refusal(error: psycopg.Error, sql: str) -> Refused:
    message = (error.diag.message_primary or str(error)).strip().split("\n")[0][:300]
    hint = f" {error.diag.message_hint}"[:300] if error.diag.message_hint else ""
    return Refused(without_paths(f"The database refused the query: {message}{hint}", sql))
