"""SQL over tables by handle: right numbers, clear mistakes, and nothing but the tables (D8,
reliability 13)."""

from __future__ import annotations

import pytest
import pytest_asyncio

from bot.core.errors import ToolError
from bot.library.isolated.process import IsolatedLimits
from bot.services import table_session as session
from bot.services.artifact_tables import ArtifactTables
from bot.testing.conversation import asked
from bot.toolkit import Artifact
from tools.tables import describe_table, query_table


@pytest_asyncio.fixture(loop_scope="module")
async def sales(tables: ArtifactTables) -> Artifact:
    rows = [["North", 10, "2026-01-03"], ["South", 5, "2026-01-09"], ["North", 2.5, None]]
    return await tables.save(["region", "amount", "day"], rows, name="sales.csv")


async def test_a_query_gives_a_handle_columns_and_rows(
    tables: ArtifactTables, sales: Artifact
) -> None:
    result = await query_table(
        f"SELECT region, sum(amount) AS total FROM {sales.handle} GROUP BY 1 ORDER BY 2 DESC -- all",
        [sales.handle],
        tables,
    )
    [handle] = result.handles
    assert result.content.splitlines() == [
        f"handle: {handle} · 2 rows × 2 columns · source: sales.csv",
        "columns: region VARCHAR, total DOUBLE",
        "region,total",
        "North,12.5",
        "South,5.0",
    ]
    again = await query_table(f"SELECT count(*) AS n FROM {handle}", [handle], tables)
    assert again.content.endswith("n\n2")


async def test_a_table_answers_to_its_file_name(tables: ArtifactTables, sales: Artifact) -> None:
    result = await query_table('SELECT max(day) AS d FROM "sales.csv"', [sales.handle], tables)
    assert result.content.endswith("d\n2026-01-09")


async def test_of_a_long_result_50_rows_are_shown(tables: ArtifactTables, sales: Artifact) -> None:
    sql = f"SELECT range AS n FROM range(1234), {sales.handle} WHERE amount = 5"
    result = await query_table(sql, [sales.handle], tables)
    assert "1,234 rows × 1 columns" in result.content
    assert "[rows 1–50 of 1,234 shown;" in result.content


@pytest.mark.parametrize(
    ("sql", "why"),
    [
        ("SELECT regon FROM {t}", r"Similar columns: region"),
        ("SELECT regon FROM {t}", r"has: region VARCHAR, amount DOUBLE, day DATE"),
        ("SELECT * FROM nothing", "nothing does not exist"),
        ("SELEC 1", "syntax error"),
        ("", "One SELECT"),
        ("DROP VIEW {t}", "One SELECT"),
        ("SELECT 1; DROP VIEW {t}", "One SELECT"),
        ("COPY {t} TO '/tmp/stolen.csv'", "One SELECT"),
        ("ATTACH '/etc/passwd'", "One SELECT"),
        ("SET memory_limit = '99GB'", "One SELECT"),
        ("SELECT * FROM read_text('/etc/passwd')", "is not allowed here"),
        ("SELECT * FROM read_csv('/etc/passwd')", "is not allowed here"),
        ("SELECT * FROM '/etc/passwd'", "does not exist"),
        ("SELECT * FROM glob('/*')", "is not allowed here"),
        ("SELECT 1) TO '/tmp/x'; DROP VIEW {t}; --", "syntax error|One SELECT"),
    ],
)
async def test_what_cannot_be_run_says_why(
    tables: ArtifactTables, sales: Artifact, sql: str, why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        await query_table(sql.format(t=sales.handle), [sales.handle], tables)


@pytest.mark.parametrize(
    ("sql", "shown"),
    [
        ("SELECT sum(n) AS s FROM {t}", "s BIGINT\ns\n6"),
        ("SELECT sum(n * 9000000000000000000::HUGEINT) AS s FROM {t}", "s DOUBLE\ns\n5.4e+19"),
        ("SELECT a.n, b.n FROM {t} a JOIN {t} b ON a.n = b.n WHERE a.n = 1", "\n1,1"),
        ("SELECT [n] AS l, {{'a': n}} AS s FROM {t} WHERE n = 1", "[1],{{'a': 1}}"),
        (
            "SELECT TIMESTAMPTZ '2026-01-02 03:04:05+01' AS t FROM {t} LIMIT 1",
            "2026-01-02 02:04:05+00",
        ),
        (
            "SELECT TIMESTAMP '2026-01-02' + (n - 1) * INTERVAL 1 HOUR AS t FROM {t}",
            "\n2026-01-02 00:00:00\n2026-01-02 01:00:00",
        ),
        ("SELECT TIMESTAMP '2026-01-02' AS t FROM {t} LIMIT 1", "t\n2026-01-02"),
        ("SELECT * FROM {t} WHERE n > 5", "0 rows × 1 columns"),
        ("FROM {t} SELECT max(n) AS m", "m\n3"),
    ],
)
async def test_results_of_all_kinds_are_shown(tables: ArtifactTables, sql: str, shown: str) -> None:
    """Sums of integers are integers; nested values and time zones are text; the times of a column
    are in one form."""
    saved = await tables.save(["n"], [[1], [2], [3]], name="n.csv")
    result = await query_table(sql.format(t=saved.handle), [saved.handle], tables)
    assert shown.replace("{{", "{").replace("}}", "}") in result.content


async def test_a_query_without_end_is_stopped(
    tables: ArtifactTables, sales: Artifact, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that ran it is gone, and the next query gets another (S2)."""
    monkeypatch.setattr(session, "_LIMITS", IsolatedLimits(seconds=1))
    sql = "SELECT max(a.range * b.range) FROM range(999999) a, range(999999) b"  # needs no memory
    with pytest.raises(ToolError, match="stopped after 1 s"):
        await query_table(sql, [sales.handle], tables)
    assert "1" in (await query_table("SELECT 1 AS one", [sales.handle], tables)).content


async def test_odd_characters_do_no_harm(tables: ArtifactTables) -> None:
    """Null bytes, lone surrogates and quotes in names, cells and statements."""
    rows = [["a\x00b\ud800", 1]]
    saved = await tables.save(['x"\x00', "n"], rows, name='we"ird\x00\ud800.csv')
    result = await query_table(
        f"SELECT *, '\x00\udfff' AS s FROM {saved.handle}", [saved.handle], tables
    )
    assert result.content.endswith('"x""",n,s\nab\ufffd,1,\ufffd')


async def test_less_is_shown_when_context_runs_short(
    tables: ArtifactTables, sales: Artifact
) -> None:
    """Beyond 70 % of the window (D9)."""
    with asked(usage_ratio=0.8):
        sql = f"SELECT range FROM range(99), {sales.handle} WHERE amount = 5"
        result = await query_table(sql, [sales.handle], tables)
    assert "[rows 1–15 of 99 shown;" in result.content


async def test_a_document_is_no_table(tables: ArtifactTables) -> None:
    saved = await tables.artifacts.save(b"x", name="a.txt", media_type="text/plain", prefix="doc")
    with pytest.raises(ToolError, match="is no table"):
        await query_table("SELECT 1", [saved.handle], tables)


async def test_a_profile_counts_nulls_and_ranges(tables: ArtifactTables, sales: Artifact) -> None:
    result = await describe_table(sales.handle, tables)
    assert "day,DATE,1,2,2026-01-03,2026-01-09" in result.content
