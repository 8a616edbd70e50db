"""`bot doctor` says when a database role may do more than read."""

from __future__ import annotations

import psycopg
import pytest

from bot.services.sql_databases import DatabaseConfig, SqlDatabases
from tests.support.postgres import postgres as postgres

SETUP = (
    "CREATE EXTENSION dblink",
    "CREATE TABLE visible (id serial)",
    "CREATE FUNCTION raised() RETURNS int LANGUAGE sql SECURITY DEFINER AS 'SELECT 1'",
    "REVOKE EXECUTE ON FUNCTION raised() FROM PUBLIC",
    "REVOKE EXECUTE ON ALL FUNCTIONS IN SCHEMA public FROM PUBLIC",
    "CREATE ROLE careful LOGIN",
    "GRANT SELECT ON visible TO careful",
    *(f"CREATE ROLE r_{name.lower()} LOGIN {name}" for name in ("CREATEROLE", "CREATEDB")),
    *(f"CREATE ROLE r_{name.lower()} LOGIN {name}" for name in ("REPLICATION", "BYPASSRLS")),
    "CREATE ROLE r_member LOGIN IN ROLE pg_read_server_files, pg_execute_server_program",
    "CREATE ROLE r_writer LOGIN",
    "GRANT INSERT (id) ON visible TO r_writer",
    "CREATE ROLE r_counter LOGIN",
    "GRANT USAGE ON SEQUENCE visible_id_seq TO r_counter",
    "CREATE ROLE r_caller LOGIN",
    "GRANT EXECUTE ON FUNCTION raised() TO r_caller",
    "CREATE ROLE r_linker LOGIN",
    "GRANT EXECUTE ON FUNCTION dblink(text) TO r_linker",
    "CREATE ROLE r_maker LOGIN",
    "GRANT CREATE ON SCHEMA public TO r_maker",
)


@pytest.fixture
def roles(postgres: str) -> str:
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as admin:
        for statement in SETUP:
            admin.execute(statement.encode())
    return postgres


async def test_each_right_beyond_reading_is_named(roles: str) -> None:
    """S1: the guard is one wall; a role that may only read is the other, and doctor says so."""
    expected = {
        "postgres": "is a superuser",
        "r_createrole": "CREATEROLE",
        "r_createdb": "CREATEDB",
        "r_replication": "REPLICATION",
        "r_bypassrls": "BYPASSRLS",
        "r_member": "member of pg_execute_server_program, pg_read_server_files",
        "r_writer": "may change 1 tables, as visible",
        "r_counter": "may change 1 sequences",
        "r_caller": "1 SECURITY DEFINER functions, as raised",
        "r_linker": "extension dblink",
        "r_maker": "create objects in the schema public",
    }
    url = {role: roles.replace("//postgres@", f"//{role}@") for role in (*expected, "careful")}
    databases = SqlDatabases({role: DatabaseConfig(url=each) for role, each in url.items()})
    for role, words in expected.items():
        assert words in "; ".join(await databases.extra_privileges(role)), role
    assert await databases.extra_privileges("careful") == []
