"""Databases are read and never changed (reliability 13; issue 2, "an SQL DROP")."""

from __future__ import annotations

import csv
import hashlib
import random
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import ValidationError

from bot.core.errors import ToolError
from bot.dev.sample_database import build
from bot.library.interpreters.statements import checked_select
from bot.library.isolated import Refused
from bot.services.artifact_tables import ArtifactTables
from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Databases
from tests.support.postgres import postgres as postgres
from tests.unit.features.test_refresh_jobs import only_database, scene
from tools.databases import list_databases, query_database

if TYPE_CHECKING:
    import psycopg

ENDLESS = "WITH RECURSIVE c(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c) SELECT count(*) FROM c"


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("databases") / "shop.sqlite"
    build(path)
    return path


@pytest.fixture
def databases(shop: Path) -> SqlDatabases:
    config = DatabaseConfig(url=f"sqlite:///{shop}", description="A small shop", row_limit=100)
    return SqlDatabases({"shop": config})


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


async def test_the_schema_is_told_when_the_tool_is_acquired(databases: SqlDatabases) -> None:
    """The model knows tables, columns and keys before it writes SQL (D2)."""
    assert query_database.tool.on_acquired is not None
    text = await query_database.tool.on_acquired({Databases: databases})
    assert text == await list_databases(databases)
    assert text.startswith("database: shop · sqlite · A small shop\n")
    assert "customer_id INTEGER → customers.id" in text


async def test_a_query_gives_a_table(databases: SqlDatabases, artifacts: MemoryArtifacts) -> None:
    sql = "SELECT category, count(*) AS n FROM products GROUP BY 1 ORDER BY 1 -- all"
    result = await query_database("shop", sql, databases, ArtifactTables(artifacts))
    [handle] = result.handles
    assert result.content == (
        f"handle: {handle} · 4 rows × 2 columns · source: database shop\n"
        "columns: category VARCHAR, n BIGINT\n"
        "category,n\nElectronics,3\nKitchen,2\nOffice,3\nPaper,2"
    )


async def test_rows_are_capped_and_it_is_said(
    databases: SqlDatabases, artifacts: MemoryArtifacts
) -> None:
    result = await query_database(
        "shop", "SELECT id FROM orders", databases, ArtifactTables(artifacts), limit=5000
    )
    assert "100 rows × 1 columns" in result.content
    assert "[cut: there are more than these 100 rows" in result.content


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("DROP TABLE orders", "DROP is not allowed"),
        ("DELETE FROM orders", "DELETE is not allowed"),
        ("UPDATE orders SET amount = 0", "UPDATE is not allowed"),
        ("INSERT INTO orders DEFAULT VALUES", "INSERT is not allowed"),
        ("SELECT 1; DROP TABLE orders", "2 statements were given"),
        ("PRAGMA writable_schema = 1", "PRAGMA is not allowed"),
        ("ATTACH DATABASE '/tmp/x.db' AS x", "ATTACH is not allowed"),
        ("VACUUM INTO '/tmp/x.db'", "VACUUM is not allowed"),
        ("EXPLAIN SELECT 1", "EXPLAIN is not allowed"),
        ("SELECT load_extension('x')", "load_extension is not allowed"),
        ("SELECT readfile('/etc/passwd')", "readfile is not allowed"),
        ("", "0 statements"),
        ("SELECT FROM WHERE", "cannot be read|refused"),
        ("SELECT amout FROM orders", "no such column: amout"),
        ("SELECT * FROM pragma_table_info('orders')", "not allowed"),
    ],
)
async def test_only_reading_is_allowed(
    shop: Path, databases: SqlDatabases, artifacts: MemoryArtifacts, sql: str, why: str
) -> None:
    """The refusal says what is allowed; the file stays as it was."""
    before = digest(shop)
    with pytest.raises(ToolError, match=why) as caught:
        await query_database("shop", sql, databases, ArtifactTables(artifacts))
    assert "not allowed" not in str(caught.value) or "One SELECT statement" in str(caught.value)
    assert digest(shop) == before


@pytest.mark.parametrize(
    "sql",
    [
        "WITH gone AS (DELETE FROM t RETURNING *) SELECT * FROM gone",
        "SELECT * INTO copy FROM t",
        "SELECT * FROM t FOR UPDATE",
        "SELECT pg_sleep(100)",
        'SELECT pg_catalog."pg_sleep"(100)',
        "SELECT PG_READ_FILE('/etc/passwd')",
        "SELECT * FROM pg_ls_dir('/')",
        "SELECT lo_import('/etc/passwd')",
        "SELECT set_config('transaction_read_only', 'off', false)",
        "SELECT query_to_xml('DROP TABLE t', true, true, '')",
        "SELECT * FROM dblink('host=x', 'DROP TABLE t') AS r(a int)",
        "SELECT nextval('s')",
        "COPY t TO PROGRAM 'id'",
        "DO $$ BEGIN DELETE FROM t; END $$",
        "COMMIT; DROP TABLE t",
        "SET ROLE admin",
        "CALL p()",
        "VALUES (1); DROP TABLE t",
    ],
)
def test_what_postgresql_could_be_made_to_do_is_refused(sql: str) -> None:
    with pytest.raises(Refused, match=r"allowed|may not be read"):
        checked_select(sql, "postgres")


@pytest.mark.parametrize(
    "sql",
    [
        "WITH a AS (SELECT 1 AS n) SELECT n FROM a UNION ALL SELECT 2 ORDER BY 1 LIMIT 5",
        "SELECT x, rank() OVER (PARTITION BY y ORDER BY z) FROM t WHERE a ILIKE '%;drop%'",
        "SELECT date_trunc('month', d) AS m, pg_typeof(d) FROM t GROUP BY 1, 2",
    ],
)
def test_ordinary_questions_pass(sql: str) -> None:
    assert checked_select(sql, "postgres").sql.startswith(("SELECT", "WITH"))


async def test_an_endless_query_is_stopped(shop: Path, artifacts: MemoryArtifacts) -> None:
    slow = SqlDatabases({"shop": DatabaseConfig(url=f"sqlite:///{shop}", timeout=0.2)})
    with pytest.raises(ToolError, match=r"stopped after 0\.2 s"):
        await query_database("shop", ENDLESS, slow, ArtifactTables(artifacts))


async def test_a_wrong_name_gets_the_right_ones(
    databases: SqlDatabases, artifacts: MemoryArtifacts
) -> None:
    with pytest.raises(ToolError, match=r"no database shpo\. Configured: shop"):
        await query_database("shpo", "SELECT 1", databases, ArtifactTables(artifacts))


async def test_a_missing_file_is_not_created(tmp_path: Path) -> None:
    path = tmp_path / "none.sqlite"
    databases = SqlDatabases({"none": DatabaseConfig(url=f"sqlite:///{path}")})
    assert "not available" in await databases.schema()
    assert not path.exists()


@pytest.mark.parametrize(
    "url", ["sqlite://", "sqlite:///:memory:", "mysql://h/d", "sqlite:///f?mode=rwc", "x"]
)
def test_a_wrong_url_is_found_at_start(url: str) -> None:
    with pytest.raises(ValidationError, match="must"):
        DatabaseConfig(url=url)


def test_the_sample_is_the_same_every_time(shop: Path, tmp_path: Path) -> None:
    build(tmp_path / "again.sqlite")
    assert (tmp_path / "again.sqlite").read_bytes() == shop.read_bytes()


async def test_postgresql_is_read_and_cannot_be_written(
    postgres: str, artifacts: MemoryArtifacts
) -> None:
    """The connection itself refuses to write and to run long, whatever the parser let pass."""
    import psycopg

    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute("CREATE TABLE t (id int PRIMARY KEY, price numeric, at timestamptz)")
        admin.execute("INSERT INTO t VALUES (1, 2.50, '2026-01-02 03:04:05+00')")
        admin.execute(
            "CREATE FUNCTION sneaky() RETURNS int LANGUAGE sql AS 'DELETE FROM t; SELECT 1'"
        )
    databases = SqlDatabases({"pg": DatabaseConfig(url=postgres, timeout=1.0)})
    assert "t(id integer, price numeric, at timestamp with time zone)" in await databases.schema()
    result = await query_database(
        "pg", "SELECT * FROM t WHERE 5 % 2 = 1", databases, ArtifactTables(artifacts)
    )
    assert "\nid,price,at\n1,2.5,2026-01-02 03:04:05+00" in result.content
    with pytest.raises(ToolError, match="sneaky is not allowed"):
        await query_database("pg", "SELECT sneaky()", databases, ArtifactTables(artifacts))
    with pytest.raises(ToolError, match=r"statement timeout|stopped after"):
        await query_database("pg", ENDLESS, databases, ArtifactTables(artifacts))


async def test_figures_of_postgresql_are_read_again(postgres: str, tmp_path: Path) -> None:
    """A refresh compares its exact decimals as it does floats of SQLite."""
    import psycopg

    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute("CREATE TABLE sales (region text, revenue numeric(12, 2))")
        admin.execute("INSERT INTO sales VALUES ('North', 220919.50), ('South', 180000.00)")
        async with (
            embedded_redis(None) as url,
            open_stores(url) as stores,
            scene(stores, tmp_path, only_database, url=postgres) as at,
        ):
            admin.execute("UPDATE sales SET revenue = 231004.00 WHERE region = 'North'")
            result = await at.refresh()
    changes = [(each.name, each.before, each.now) for each in result.figures]
    assert changes[:2] == [
        ("North", "220,919.50", "231,004.00"),  # in the sentence
        ("North, revenue", "220,919.5", "231,004"),  # in the table
    ]


STRANGE = (
    ("'infinity'::date", "infinity"),
    ("'-infinity'::timestamp", "-infinity"),
    ("'infinity'::timestamptz", "infinity"),
    ("'0044-03-15 BC'::date", "0044-03-15 BC"),
    ("'0044-03-15 10:00 BC'::timestamp", "0044-03-15 10:00:00 BC"),
    ("'20000-01-01'::date", "20000-01-01"),
    ("'24:00:00'::time", "24:00:00"),
    ("'24:00:00+02'::timetz", "24:00:00+02"),
    ("'1 day 02:03:04'::interval", "1 day, 2:03:04"),
    ("'200000000 days'::interval", "200000000 days"),
    ("'-1 year'::interval", "-365 days, 0:00:00"),
    ("'NaN'::numeric", ""),
    ("'Infinity'::numeric", ""),
    ("'-Infinity'::float8", ""),
    ("12345678901234567890123456789012345678901234567890::numeric", "1234567890"),
    ("ARRAY[1, 2]", "[1, 2]"),
    ("ARRAY['infinity'::date]", "infinity"),
    ("ARRAY[ARRAY['a', NULL]]", "null"),
    ("""'{"a": [1]}'::jsonb""", "a"),
    ("""'"x"'::json""", "x"),
    ("'\\xdeadbeef'::bytea", "deadbeef"),
    ("12.5::money", "$12.50"),
    ("int4range(1, 5)", "1"),
    ("daterange('2026-01-01', 'infinity')", "2026-01-01"),
    ("tsrange('-infinity', '2026-01-01')", "2026-01-01"),
    ("'{[1,3),[5,7)}'::int4multirange", "5"),
    ("'00000000-0000-0000-0000-000000000001'::uuid", "00000000-0000-0000-0000-000000000001"),
    ("'192.168.0.0/16'::inet", "192.168.0.0/16"),
    ("'08:00:2b:01:02:03'::macaddr", "08:00:2b:01:02:03"),
    ("'101'::bit(3)", "101"),
    ("'(1,2)'::point", "(1,2)"),
    ("(1, 'a', 'infinity')::thing", "infinity"),
    ("'happy'::mood", "happy"),
    ("'a b'::tsvector", "a"),
    ("NULL", ""),
)
"""A value of PostgreSQL, and what is shown of it."""


async def test_a_strange_value_of_postgresql_never_refuses_a_query(
    postgres: str, artifacts: MemoryArtifacts
) -> None:
    """V12: each is shown as a value or as text."""
    import psycopg

    values = ", ".join(f"{value} AS x{at}" for at, (value, _) in enumerate(STRANGE))
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as admin:
        admin.execute("CREATE TYPE thing AS (a int, b text, c date)")
        admin.execute("CREATE TYPE mood AS ENUM ('happy', 'sad')")
        admin.execute(f"CREATE VIEW strange AS SELECT {values}")
    databases = SqlDatabases({"pg": DatabaseConfig(url=postgres)})
    result = await query_database(
        "pg", "SELECT * FROM strange", databases, ArtifactTables(artifacts)
    )
    [found] = csv.reader(result.content.splitlines()[-1:])
    for (value, shown), text in zip(STRANGE, found, strict=True):
        assert shown in text if shown else text == "", (value, text)
    assert result.content.count("(NaN or infinite)") == 1


async def test_a_strange_value_of_sqlite_never_refuses_a_query(
    tmp_path: Path, artifacts: MemoryArtifacts
) -> None:
    """V12: integers of 64 bits, infinity, bytes, and text that is no date."""
    import sqlite3

    connection = sqlite3.connect(tmp_path / "s.sqlite")
    connection.executescript(
        "CREATE TABLE t (a, b, c, d, e); INSERT INTO t VALUES "
        "(9223372036854775807, 9e999, x'00ff', '2026-02-30', '-4713-01-01'), "
        "(-9223372036854775808, 1.5, 'text', 'infinity', CAST(x'ff' AS TEXT))"
    )
    connection.close()
    databases = SqlDatabases({"s": DatabaseConfig(url=f"sqlite:///{tmp_path}/s.sqlite")})
    result = await query_database("s", "SELECT * FROM t", databases, ArtifactTables(artifacts))
    assert "9223372036854775807,,00ff,2026-02-30,-4713-01-01" in result.content
    assert "no number (NaN or infinite), read as empty: b (1)" in result.content
    assert "-9223372036854775808,1.5,text,infinity," in result.content


READING = ("SELECT * FROM kept", "SELECT id FROM kept WHERE id > 0", "VALUES (1)", "SELECT 1")
CHANGING = (
    *("DROP TABLE kept", "DELETE FROM kept", "UPDATE kept SET id = 9", "TRUNCATE kept"),
    *("INSERT INTO kept VALUES (7)", "CREATE TABLE made (id int)", "ALTER TABLE kept ADD x int"),
    *("COPY kept TO '/tmp/x'", "COPY kept FROM PROGRAM 'id'", "GRANT ALL ON kept TO reader"),
    *(
        "CREATE ROLE made SUPERUSER",
        "SET ROLE postgres",
        "COMMIT",
        "ROLLBACK",
        "DO $$ BEGIN END $$",
    ),
    *(
        "CALL changes()",
        "EXECUTE changes",
        "LOCK kept",
        "NOTIFY x",
        "VACUUM kept",
        "REINDEX TABLE kept",
    ),
)
FUNCTIONS = (
    *("changes()", "pg_sleep(999)", "pg_read_file('/etc/passwd')", "lo_import('/etc/passwd')"),
    *("setval('numbers', 99)", "nextval('numbers')", "set_config('role', 'postgres', false)"),
    *("pg_terminate_backend(1)", "query_to_xml('DELETE FROM kept', true, true, '')"),
    *("dblink('host=x', 'DROP TABLE kept')", "pg_ls_dir('/')", "count(*)", "abs(-1)"),
)
SHAPES = (
    "{r}",
    "{c}",
    "{r}; {c}",
    "{r};{c};--",
    "{r} -- x\n; {c}",
    "{r} /* /* */; {c} */",
    "COMMIT; {c}",
    "WITH x AS ({c} RETURNING *) SELECT * FROM x",
    "WITH x AS ({r}) {c}",
    "EXPLAIN ANALYZE {c}",
    "SELECT {f}",
    'SELECT "pg_catalog".{f}',
    "SELECT (SELECT {f} FROM kept LIMIT 1)",
    "SELECT * FROM kept WHERE {f} IS NOT NULL",
    "SELECT * FROM {f} AS x",
    "SELECT * INTO made FROM kept",
    "SELECT * FROM kept FOR UPDATE",
    "SELECT $$; {c}; $$",
    "SELECT E'\\'; {c}; --'",
    "SELECT U&'\\0027; {c}; --'",
    "({r}) UNION ALL ({r}); {c}",
    "PREPARE p AS {c}",
    "DECLARE x CURSOR FOR {r}",
)


@pytest.mark.parametrize("role", ["postgres", "reader"])
async def test_no_statement_of_a_grammar_changes_postgresql(postgres: str, role: str) -> None:
    """As a role that may only read, and as one that may do all: what the parser lets pass runs on
    the server, and nothing is other than before; no function waits, reads files or counts on."""
    import psycopg

    plain = postgres.replace("+psycopg", "")
    chance = random.Random(7)
    with psycopg.connect(plain, autocommit=True) as admin:
        for statement in (
            "DROP TABLE IF EXISTS kept",
            "CREATE TABLE kept (id int)",
            "INSERT INTO kept VALUES (1), (2)",
            "CREATE SEQUENCE IF NOT EXISTS numbers",
            "CREATE OR REPLACE FUNCTION changes() RETURNS int LANGUAGE sql "
            "AS 'DELETE FROM kept; SELECT 1'",
            "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN END $$",
            "GRANT SELECT ON kept TO reader",
        ):
            admin.execute(statement)
        before = _state(admin)
        url = postgres.replace("//postgres@", f"//{role}@")
        databases = SqlDatabases({"pg": DatabaseConfig(url=url, timeout=15.0)})
        ran, refused = 0, list[str]()
        for number in range(5 * len(SHAPES)):
            sql = SHAPES[number % len(SHAPES)].format(
                r=chance.choice(READING), c=chance.choice(CHANGING), f=chance.choice(FUNCTIONS)
            )
            try:
                rows = (await databases.query("pg", sql)).rows
            except ToolError as error:
                refused.append(str(error))
            else:
                ran += 1
                assert "root:" not in str(rows), sql
        assert _state(admin) == before
    assert ran >= 5
    assert not [each for each in refused if "stopped after" in each]


def _state(admin: psycopg.Connection[Any]) -> list[tuple[Any, ...]]:
    """All that a statement could have changed."""
    reads = (
        "SELECT id FROM kept ORDER BY id",
        "SELECT last_value, is_called FROM numbers",
        "SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "ORDER BY 1",
        "SELECT rolname, rolsuper FROM pg_roles ORDER BY 1",
        "SELECT attname FROM pg_attribute WHERE attrelid = 'kept'::regclass ORDER BY 1",
    )
    return [row for sql in reads for row in admin.execute(sql).fetchall()]
