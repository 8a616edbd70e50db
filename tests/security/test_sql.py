"""SQL reads the tables it is given and does nothing else (S1): nothing else read, no row changed,
nothing sent, no waiting. Each attack is judged by its effect on a real database."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bot.core.errors import ToolError
from bot.library.interpreters.statements import checked_select
from bot.library.isolated import Refused
from bot.library.isolated.pool import warm_processes
from bot.services.artifact_tables import ArtifactTables
from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from bot.testing.artifacts import MemoryArtifacts
from bot.testing.conversation import asked
from bot.toolkit import TABLE_TYPE
from tests.support.postgres import postgres as postgres

CANARY = "CANARY-7731"
ATTACKS = Path(__file__).with_name("sql")


def statements(name: str) -> list[str]:
    lines = (ATTACKS / name).read_text(encoding="utf-8").splitlines()
    return [line for line in lines if line and not line.startswith("#")]


@pytest.fixture(autouse=True)
async def one_run() -> AsyncIterator[None]:
    with asked():
        async with warm_processes():
            yield


@pytest.fixture
def witness() -> Iterator[tuple[int, list[Any]]]:
    """A port that nothing may connect to, and what did."""
    seen: list[Any] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def listen() -> None:
            while True:
                try:
                    connection, peer = server.accept()
                except OSError:
                    return
                seen.append(peer)
                connection.close()

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        yield server.getsockname()[1], seen
        server.shutdown(socket.SHUT_RDWR)
    thread.join(10)


PREPARED = """
CREATE EXTENSION IF NOT EXISTS dblink
CREATE EXTENSION IF NOT EXISTS citext
DROP TABLE IF EXISTS kept, secrets, visits CASCADE
CREATE TABLE visits AS SELECT 1 AS id, 2.5 AS price, 'a'::text AS name, now() AS at, '{"a": [1]}'::jsonb AS data, '{a,b}'::text[] AS tags
CREATE TABLE kept (id int PRIMARY KEY, total numeric, name text)
INSERT INTO kept VALUES (1, 2.5, 'a'), (2, 3, 'b')
CREATE SEQUENCE IF NOT EXISTS numbers
CREATE OR REPLACE FUNCTION total(kept) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION lower(kept) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION system(text) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION leak(kept) RETURNS text LANGUAGE sql SECURITY DEFINER AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION "Betray"(kept) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION a_function_whose_name_is_as_long_as_names_may_be_in_postgresql_(text) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
CREATE OR REPLACE FUNCTION wipe(text) RETURNS text LANGUAGE sql AS $$ DELETE FROM kept; SELECT 'x' $$
CREATE OR REPLACE FUNCTION alike(text, text) RETURNS text LANGUAGE sql AS $$ SELECT pg_read_file('{secret}') $$
DROP OPERATOR IF EXISTS @@@ (text, text)
CREATE OPERATOR @@@ (FUNCTION = alike, LEFTARG = text, RIGHTARG = text)
DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN END $$
GRANT SELECT ON kept TO reader
"""


def state(admin: psycopg.Connection[Any]) -> list[Any]:
    reads = (
        "SELECT * FROM kept ORDER BY 1",
        "SELECT last_value, is_called FROM numbers",
        "SELECT relname, relacl::text FROM pg_class WHERE relnamespace = 'public'::regnamespace "
        "ORDER BY 1",
        "SELECT count(*) FROM pg_largeobject_metadata",
        "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'",
    )
    return [admin.execute(sql.encode()).fetchall() for sql in reads]


@pytest.fixture
def prepared(postgres: str, tmp_path: Path) -> Iterator[tuple[str, psycopg.Connection[Any], Path]]:
    """A database whose functions would betray a file, and the file."""
    folder = Path(postgres.rpartition("//")[0] or "/tmp")
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as admin:
        [data] = admin.execute("SHOW data_directory").fetchone() or [""]
        folder = Path(data).parent
        secret = folder / "secret.txt"
        secret.write_text(CANARY)
        secret.chmod(0o644)
        for statement in PREPARED.strip().splitlines():
            admin.execute(statement.replace("{secret}", str(secret)).encode())
        yield postgres, admin, secret


async def outcome(databases: SqlDatabases, sql: str) -> tuple[list[Any] | None, str]:
    """The rows of a query, or what was said instead."""
    try:
        return (await databases.query("pg", sql)).rows, ""
    except ToolError as error:
        return None, str(error)


@pytest.mark.parametrize("role", ["postgres", "reader"])
async def test_postgresql_gives_and_does_nothing_else(
    prepared: tuple[str, psycopg.Connection[Any], Path],
    witness: tuple[int, list[Any]],
    role: str,
) -> None:
    """S1: functional notation, functions of the operator, dblink, files, settings, locks, waits: as
    a superuser, and as a role that may only read."""
    url, admin, secret = prepared
    config = DatabaseConfig(url=url.replace("//postgres@", f"//{role}@"), timeout=5.0)
    databases, (port, seen), before = SqlDatabases({"pg": config}), witness, state(admin)
    began = time.monotonic()
    filled = [
        each.replace("{secret}", str(secret)).replace("{port}", str(port))
        for each in statements("postgres.sql")
    ]
    for sql in filled:
        rows, said = await outcome(databases, sql)
        assert rows is None, sql
        assert CANARY not in said, sql
        assert "stopped after" not in said, sql
    assert state(admin) == before
    assert not seen
    assert time.monotonic() - began < 1.0 * len(filled)


NAMES = ("pg_read_file", "wipe", "leak", "total", "pg_sleep", "dblink_connect", "lower", "nextval")
INNER = ("'{secret}'::text", "k", "name", "(name)", "(SELECT k FROM kept k LIMIT 1)", "3::float8")
EXPRESSIONS = st.recursive(
    st.one_of(
        st.builds("({}).{}".format, st.sampled_from(INNER), st.sampled_from(NAMES)),
        st.builds("k.{}".format, st.sampled_from(NAMES)),
        st.builds('"k"."{}"'.format, st.sampled_from(NAMES)),
        st.builds("{}({})".format, st.sampled_from(NAMES), st.sampled_from(INNER)),
        st.builds('pg_catalog . "{}" ({})'.format, st.sampled_from(NAMES), st.sampled_from(INNER)),
        st.sampled_from(("id", "name", "1", "k.id", "lower(name)", "count(*)")),
    ),
    lambda inner: st.one_of(
        st.builds("coalesce({}::text, 'x')".format, inner),
        st.builds("({})::text".format, inner),
        st.builds("CASE WHEN true THEN {} END".format, inner),
        st.builds("(SELECT {})".format, inner),
        st.builds("(ARRAY[{}])[1]".format, inner),
        st.builds("(ARRAY[{}])[1].pg_read_file".format, inner),
        st.builds("max({}) OVER ()".format, inner),
        st.builds("jsonb_build_object('a', {})".format, inner),
    ),
    max_leaves=3,
)
SHAPES = st.sampled_from(
    (
        "SELECT {} FROM kept AS k",
        "SELECT * FROM kept k WHERE {} IS NOT NULL",
        "SELECT 1 FROM kept k ORDER BY {}",
        "SELECT count(*) FILTER (WHERE {} IS NULL) FROM kept k",
        "SELECT x.* FROM kept k, LATERAL (SELECT {} AS y) x",
        "WITH k AS (SELECT * FROM kept) SELECT {} FROM k",
        "SELECT q.y FROM (SELECT {} AS y FROM kept k) q GROUP BY 1",
        "SELECT {} FROM (SELECT * FROM kept) AS k(id, total, name)",
        "SELECT * FROM (VALUES (1)) v JOIN kept k ON {} IS NOT NULL",
    )
)


async def test_no_expression_of_a_grammar_does_more(
    prepared: tuple[str, psycopg.Connection[Any], Path],
) -> None:
    """S1: whatever way calls are written and wherever they stand, a superuser's query reads the
    table or is refused."""
    url, admin, secret = prepared
    databases = SqlDatabases({"pg": DatabaseConfig(url=url, timeout=2.0)})
    before, tried = state(admin), list[str]()

    @settings(max_examples=80, suppress_health_check=list(HealthCheck), database=None)
    @given(shape=SHAPES, expression=EXPRESSIONS)
    def collect(shape: str, expression: str) -> None:
        tried.append(shape.format(expression).replace("{secret}", str(secret)))

    collect()
    ran = 0
    for sql in dict.fromkeys(tried):
        rows, said = await outcome(databases, sql)
        ran += rows is not None
        assert CANARY not in f"{rows} {said}", sql
        assert "stopped after" not in said, sql
    assert ran
    assert state(admin) == before


@pytest.mark.parametrize("sql", statements("postgres-honest.sql"))
def test_honest_postgresql_passes(sql: str) -> None:
    """Joins, windows, dates, JSON, casts and series are what people ask with."""
    assert checked_select(sql, "postgres").sql


async def test_honest_postgresql_answers(
    prepared: tuple[str, psycopg.Connection[Any], Path],
) -> None:
    """What the guard writes for the server means what was asked: each statement of an analyst runs."""
    databases = SqlDatabases({"pg": DatabaseConfig(url=prepared[0])})
    said = {sql: (await outcome(databases, sql))[1] for sql in statements("postgres-run.sql")}
    assert {sql: words for sql, words in said.items() if words} == {}
    found = await databases.query("pg", r"SELECT to_hex(255), E'a\tb\\', $$it's$$, 'a\b'")
    assert found.rows == [("ff", "a\tb\\", "it's", r"a\b")]


@pytest.mark.parametrize(
    ("made", "sql"),
    [
        ("OPERATOR ~~ (FUNCTION = betrayal, LEFTARG = kept, RIGHTARG = text)", "k LIKE 'x'"),
        ("OPERATOR = (FUNCTION = betrayal, LEFTARG = kept, RIGHTARG = text)", "k IN ('x'::text)"),
        ("OPERATOR > (FUNCTION = betrayal, LEFTARG = kept, RIGHTARG = text)", "k > 'x'::text"),
        ("CAST (kept AS int) WITH FUNCTION betrayal(kept) AS IMPLICIT", "abs(k) = 1"),
        ("CAST (kept AS int) WITH FUNCTION betrayal(kept)", "k::int = 1"),
    ],
)
async def test_functions_behind_operators_and_casts_are_not_called(
    prepared: tuple[str, psycopg.Connection[Any], Path], made: str, sql: str
) -> None:
    """S1: words such as LIKE and IN stand for operators, and casts for functions, that the
    operator's database may have made its own."""
    url, admin, secret = prepared
    admin.execute(
        "CREATE OR REPLACE FUNCTION betrayal(kept, text) RETURNS bool LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE '%', pg_read_file('{secret}'); END $$".encode()
    )
    admin.execute(
        "CREATE OR REPLACE FUNCTION betrayal(kept) RETURNS int LANGUAGE plpgsql AS "
        f"$$ BEGIN RAISE '%', pg_read_file('{secret}'); END $$".encode()
    )
    admin.execute(f"CREATE {made}".encode())
    try:
        databases = SqlDatabases({"pg": DatabaseConfig(url=url)})
        rows, said = await outcome(databases, f"SELECT 1 FROM kept k WHERE {sql}")
        assert rows is None
        assert "betrayal is a function of this database" in said
        assert CANARY not in said
    finally:
        admin.execute("DROP FUNCTION betrayal(kept, text), betrayal(kept) CASCADE")


async def test_a_column_named_like_a_function_is_read(
    prepared: tuple[str, psycopg.Connection[Any], Path],
) -> None:
    """Only the catalogue tells a column from a call: `total` is both here."""
    databases = SqlDatabases({"pg": DatabaseConfig(url=prepared[0])})
    found = await databases.query("pg", "SELECT k.total, k.name FROM kept k ORDER BY k.id")
    assert [str(row[0]) for row in found.rows] == ["2.5", "3"]


async def test_the_operators_own_functions_are_called_when_named(
    prepared: tuple[str, psycopg.Connection[Any], Path],
) -> None:
    config = DatabaseConfig(url=prepared[0], functions=("twice",))
    prepared[1].execute(
        "CREATE OR REPLACE FUNCTION twice(int) RETURNS int LANGUAGE sql AS 'SELECT 2 * $1'"
    )
    databases = SqlDatabases({"pg": config, "other": DatabaseConfig(url=prepared[0])})
    assert (await databases.query("pg", "SELECT twice(4)")).rows == [(8,)]
    with pytest.raises(ToolError, match="twice is not allowed"):
        await databases.query("other", "SELECT twice(4)")


async def test_a_result_of_any_size_is_bounded(
    prepared: tuple[str, psycopg.Connection[Any], Path],
) -> None:
    """S2: rows are streamed and cut, one huge value ends a process and not the bot."""
    databases = SqlDatabases(
        {"pg": DatabaseConfig(url=prepared[0], timeout=10.0, row_limit=100_000)}
    )
    found = await databases.query("pg", "SELECT repeat('x', 1000000) FROM generate_series(1, 1000)")
    assert found.truncated
    assert len(found.rows) < 40
    with pytest.raises(ToolError, match=r"memory|stopped|refused"):
        await databases.query("pg", "SELECT repeat('x', 900000000)")
    with pytest.raises(ToolError, match="One row has more than"):
        await databases.query("pg", "SELECT repeat('x', 40000000)")
    assert (await databases.query("pg", "SELECT 1")).rows == [(1,)]


async def test_sqlite_gives_and_does_nothing_else(tmp_path: Path) -> None:
    """S1, S2: no other file, no pragma, no extension, no value without end."""
    for name, value in (("x.sqlite", "visible"), ("other.sqlite", CANARY)):
        with closing(sqlite3.connect(tmp_path / name)) as made, made:
            made.execute("CREATE TABLE t (a)")
            made.execute("INSERT INTO t VALUES (?)", [value])
    before = (tmp_path / "x.sqlite").read_bytes()
    config = DatabaseConfig(url=f"sqlite:///{tmp_path}/x.sqlite", timeout=1.0)
    databases = SqlDatabases({"x": config})
    for sql in statements("sqlite.sql"):
        with pytest.raises(ToolError) as caught:
            await databases.query("x", sql.replace("{folder}", str(tmp_path)))
        assert CANARY not in str(caught.value)
    assert (tmp_path / "x.sqlite").read_bytes() == before
    assert sorted(os.listdir(tmp_path)) == ["other.sqlite", "x.sqlite"]  # noqa: PTH208
    for sql in statements("sqlite-honest.sql"):
        await databases.query("x", sql)


async def test_errors_name_no_path_of_the_host(tmp_path: Path) -> None:
    """S14: where files lie is nobody's business but the operator's."""
    (tmp_path / "broken.sqlite").write_bytes(b"SQLite format 3\x00" + b"\xff" * 4096)
    urls = {"gone": f"{tmp_path}/gone.sqlite", "broken": f"{tmp_path}/broken.sqlite"}
    databases = SqlDatabases(
        {name: DatabaseConfig(url=f"sqlite:///{url}") for name, url in urls.items()}
    )
    for name in urls:
        with pytest.raises(ToolError) as caught:
            await databases.query(name, "SELECT * FROM t")
        assert str(tmp_path) not in str(caught.value)
    artifacts = MemoryArtifacts()
    broken = await artifacts.save(b"PAR1", name="t.parquet", media_type=TABLE_TYPE)
    with pytest.raises(ToolError) as caught:
        await ArtifactTables(artifacts).query(f"SELECT * FROM {broken.handle}", [broken.handle])
    assert "/" not in str(caught.value).replace("//", "")


async def test_duckdb_gives_and_does_nothing_else(tmp_path: Path) -> None:
    """S1, S2: no file, setting, variable or catalogue, no value without end."""
    secret = tmp_path / "secret.csv"
    secret.write_text(f"{CANARY},1\n")
    artifacts = MemoryArtifacts()
    rows = [["North", 10, "2026-01-03", 1], ["South", 5, "2026-01-09", 2], ["North", 2.5, None, 3]]
    names = ["region", "amount", "day", "n"]
    table = await ArtifactTables(artifacts).save(names, rows, name="sales.csv")
    for sql in statements("duckdb.sql"):
        filled = sql.replace("{secret}", str(secret)).replace("tbl_1", table.handle)
        with pytest.raises(ToolError) as caught:
            await ArtifactTables(artifacts).query(filled, [table.handle], checked=True)
        assert CANARY not in str(caught.value)
    assert secret.read_text() == f"{CANARY},1\n"
    for sql in statements("duckdb-honest.sql"):
        filled = sql.replace("tbl_1", table.handle)
        await ArtifactTables(artifacts).query(filled, [table.handle], checked=True)


async def test_a_statement_that_breaks_duckdb_breaks_no_other() -> None:
    """S2: some errors leave a database that takes no statement any more; the run goes on with a new
    one, and long values are not quoted."""
    artifacts = MemoryArtifacts()
    table = await ArtifactTables(artifacts).save(["n"], [[1], [2]], name="n.csv")
    for breaking in (
        "SELECT reservoir_quantile(n, 0.5, 1000000000) FROM {}",
        "SELECT * FROM json_tree(repeat('[', 10000) || repeat(']', 10000)), {}",
        "SELECT strptime(repeat('1', 1000000), '%d %d') FROM {}",
        "SELECT " + "- " * 5000 + "n FROM {}",
    ):
        with pytest.raises(ToolError) as caught:
            await ArtifactTables(artifacts).query(breaking.format(table.handle), [table.handle])
        assert len(str(caught.value)) < 2_000
        assert "SET " not in str(caught.value)
        found = await ArtifactTables(artifacts).query(
            f"SELECT sum(n) FROM {table.handle}", [table.handle]
        )
        assert " · 1 rows × " in found.content


async def test_tables_of_any_name_are_read() -> None:
    """S14: names are other people's, too. One that no view can have is not used, and leaves nothing
    behind that is in the way of others."""
    artifacts = MemoryArtifacts()
    for name in ("", "\x00", "sqlite_master", '"; --', "\u202e", "../a.csv"):
        table = await ArtifactTables(artifacts).save(["a"], [[1]], name=name)
        found = await ArtifactTables(artifacts).query(
            f"SELECT a FROM {table.handle}", [table.handle]
        )
        assert " · 1 rows × " in found.content


async def test_text_in_a_database_need_not_be_unicode(tmp_path: Path) -> None:
    """What a program of the nineties wrote is read, with the letters that can be told."""
    with closing(sqlite3.connect(tmp_path / "x.sqlite")) as made, made:
        made.execute("CREATE TABLE t (a TEXT)")
        made.execute("INSERT INTO t VALUES (CAST(x'4bf66c6e' AS TEXT))")
    databases = SqlDatabases({"x": DatabaseConfig(url=f"sqlite:///{tmp_path}/x.sqlite")})
    assert (await databases.query("x", "SELECT a FROM t")).rows == [("K\ufffdln",)]


@pytest.mark.parametrize(
    "sql", ["SELECT " + "(" * 500 + "1" + ")" * 500, "SELECT " + "1 + " * 9_000 + "1", "(" * 900]
)
def test_a_statement_without_end_is_refused_at_once(sql: str) -> None:
    began = time.thread_time()
    with pytest.raises(Refused):
        checked_select(sql, "postgres")
    assert time.thread_time() - began < 5
