"""SQL over tables by handle: right numbers, clear mistakes, and nothing but the tables (D8,
reliability 13)."""

from __future__ import annotations

import itertools
import time
from datetime import UTC, date, datetime, timedelta
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import pytest_asyncio

from bot.core.errors import ToolError
from bot.library.interpreters.distributions import FUNCTIONS as DISTRIBUTIONS
from bot.library.interpreters.statistics import mann_whitney
from bot.library.isolated.process import IsolatedLimits
from bot.services import table_session as session
from bot.services.artifact_documents import ArtifactDocuments
from bot.services.artifact_tables import ArtifactTables
from bot.testing.conversation import asked
from bot.toolkit import Artifact
from tools.comparing import compare_tables
from tools.tables import describe_table, make_table, query_table, statistical_test

if TYPE_CHECKING:
    import pandas as pd


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


@pytest_asyncio.fixture(loop_scope="module")
async def trial(tables: ArtifactTables) -> Artifact:
    """60 rows with two groups, three numbers of which some are missing, and a category."""
    random = np.random.default_rng(7)
    rows = []
    for at in range(60):
        x = float(random.normal())
        y = 2 * x + float(random.normal())
        kind = "control" if at % 3 else "treated"
        y_or_gap = round(y, 4) if at % 11 else None
        rows.append([kind, round(x, 4), y_or_gap, "ab"[at % 2], 0.1, round(x, 4) + 0.1])
    columns = ["kind", "x", "y", "letter", "tenth", "moved"]
    return await tables.save(columns, rows, name="trial.csv")


def _expected(frame: pd.DataFrame) -> dict[tuple[str, tuple[str, ...], str | None], float]:
    """The p-values of another library, which takes a second to load."""
    import pandas as pd
    import statsmodels.api as sm
    from scipy import stats

    whole = frame.dropna()
    a, b = (frame.x[frame.kind == kind] for kind in ("control", "treated"))
    counts = pd.crosstab(frame.kind, frame.letter)
    line = sm.OLS(whole.y, sm.add_constant(whole.x)).fit()
    return {
        ("pearson", ("x", "y"), None): stats.pearsonr(whole.x, whole.y).pvalue,
        ("spearman", ("x", "y"), None): stats.spearmanr(whole.x, whole.y).pvalue,
        ("welch", ("x",), "kind"): stats.ttest_ind(a, b, equal_var=False).pvalue,
        ("student", ("x",), "kind"): stats.ttest_ind(a, b).pvalue,
        ("paired", ("x", "y"), None): stats.ttest_rel(whole.x, whole.y).pvalue,
        ("anova", ("x",), "kind"): stats.f_oneway(a, b).pvalue,
        ("mann_whitney", ("x",), "kind"): stats.mannwhitneyu(a, b).pvalue,
        ("chi_squared", ("kind", "letter"), None): stats.chi2_contingency(counts).pvalue,
        ("shapiro", ("x",), None): stats.shapiro(frame.x).pvalue,
        ("regression", ("y", "x"), None): line.pvalues.iloc[0],
    }


async def test_a_test_agrees_with_another_library(tables: ArtifactTables, trial: Artifact) -> None:
    """code 3: p-values without a program, and what they assume."""
    import pandas as pd

    read = await tables.rows(trial.handle, limit=100)
    frame = pd.DataFrame(read.rows, columns=read.names)
    for (kind, columns, by), p_value in _expected(frame).items():
        result = await statistical_test(trial.handle, kind, list(columns), tables, by)
        made = await tables.rows(result.handles[0])
        row = dict(zip(made.names, made.rows[0], strict=True))
        assert row["p_value"] == pytest.approx(p_value, abs=1e-7), kind
        assert "note: " in result.content
        assert "source: trial.csv" in result.content


@pytest.mark.parametrize(
    ("kind", "columns", "by", "why"),
    [
        ("welch", ["x"], "letter2", "no column letter2"),
        ("welch", ["kind"], "letter", "Could not convert"),
        ("pearson", ["x"], None, "two columns"),
        ("shapiro", ["x", "y", "z"], None, "no column z"),
        ("welch", ["x", "y"], "x", "compares two groups|can be compared"),
        ("welch", ["tenth"], "kind", "do not vary"),
        ("student", ["tenth"], "kind", "do not vary"),
        ("anova", ["tenth"], "kind", "do not vary"),
        ("paired", ["x", "moved"], None, "do not vary"),
        ("pearson", ["x", "tenth"], None, "one value only"),
    ],
)
async def test_what_cannot_be_tested_says_why(
    tables: ArtifactTables, trial: Artifact, kind: Any, columns: list[str], by: str | None, why: str
) -> None:
    with pytest.raises(ToolError, match=why):
        await statistical_test(trial.handle, kind, columns, tables, by)


async def test_sql_knows_distribution_functions(tables: ArtifactTables, trial: Artifact) -> None:
    """code 3: with a p-value for each row; where there is none the cell is empty."""
    sql = (
        f"SELECT round(2 * t_cdf(-2.2, 12), 6) AS p, round(T_Quantile(0.975, n), 5) AS t, "
        f"chi2_quantile(2, n) AS none FROM (SELECT count(*) AS n FROM {trial.handle})"
    )
    result = await query_table(sql, [trial.handle], tables)
    assert result.content.splitlines()[-1] == "0.048137,2.0003,"


def test_distributions_agree_with_another_library() -> None:
    """code 3: also for few and for very many degrees of freedom."""
    from scipy import stats

    others = {"normal": stats.norm, "t": stats.t, "f": stats.f, "chi2": stats.chi2}
    for name, (function, count) in DISTRIBUTIONS.items():
        family, _, kind = name.partition("_")
        theirs = others[family].ppf if kind == "quantile" else others[family].cdf
        values = (0.01, 0.5, 0.999) if kind == "quantile" else (0.02, 1.0, 7.5, 1001.0)
        for degrees in itertools.product((0.7, 3.0, 40.0, 60_000.0), repeat=count - 1):
            for value in values:
                expected = pytest.approx(float(theirs(value, *degrees)), rel=1e-6, abs=1e-9)
                assert function(value, *degrees) == expected, (name, value, degrees)


async def test_a_test_of_very_many_pairs_is_refused(tables: ArtifactTables) -> None:
    """code 3: never computed on a part of them."""
    rows = [[at % 200, at % 199] for at in range(20_000)]
    table = await tables.save(["a", "b"], rows, name="pairs.csv")
    with pytest.raises(ToolError, match="more than 10,000 pairs"):
        await statistical_test(table.handle, "chi_squared", ["a", "b"], tables)


def test_a_large_group_beside_a_small_one_is_quick() -> None:
    """code 3: in either order, and with the same result."""
    from scipy import stats

    few, many = np.arange(8, dtype=np.float64) * 1.01, np.arange(100, dtype=np.float64) + 0.5
    began = time.process_time()
    first = mann_whitney({"a": few, "b": many}).rows[0]["p_value"]
    second = mann_whitney({"a": many, "b": few}).rows[0]["p_value"]
    assert time.process_time() - began < 2
    assert first == second == pytest.approx(stats.mannwhitneyu(few, many).pvalue)


@pytest_asyncio.fixture(loop_scope="module")
async def orders(tables: ArtifactTables) -> Artifact:
    rows: list[list[object]] = [
        ["North", "2024", 1, "2024-01-03"],
        ["South", "2024", 2, "2024-03-09"],
        ["North", "2025", 3.5, "2025-01-01"],
        ["north ", None, 4, None],
    ]
    return await tables.save(["region", "year", "amount", "day"], rows, name="orders.csv")


async def noted(sql: str, tables: ArtifactTables, *given: Artifact) -> list[str]:
    """Return the notes of a query in which {0}, {1} … are the tables, but for what these lack."""
    handles = [table.handle for table in given]
    result = await query_table(sql.format(*handles), handles, tables)
    notes = [line for line in result.content.splitlines() if line.startswith("note: ")]
    return [note.removeprefix("note: ") for note in notes if "not complete" not in note]


async def test_a_query_says_what_people_overlook(tables: ArtifactTables, orders: Artifact) -> None:
    """V19: rows that a join drops or multiplies, two spellings of one group, missing periods, columns
    that only some tables have. A query without such a thing says nothing."""
    rows = [["NORTH", "Ada", 1], ["West", "Ben", 1], ["South", "Eve", 5]]
    heads = await tables.save(["region", "head", "target"], rows, name="heads.csv")
    doubled = await tables.save(["region", "x"], [["North", 1], ["North", 2]], name="doubled.csv")
    join, grouped = "FROM {0} o JOIN {1} h USING (region)", "FROM {0} GROUP BY 1"
    assert await noted("SELECT sum(amount) FROM {0} WHERE year = '2024'", tables, orders) == []
    assert await noted(f"SELECT head, amount {join}", tables, orders, heads) == [
        "rows without a partner: 3 of 4 in o, 2 of 3 in h; 3 more of o have one if keys are compared as "
        "lower(trim(key))"
    ]
    [_, multiplied] = await noted(f"SELECT sum(amount) {join}", tables, orders, doubled)
    assert multiplied.startswith("the key repeats in o and in h: 2 and 2 rows make 4")
    alike = "FROM {0} o JOIN {1} h ON lower(trim(o.region)) = lower(h.region)"
    [again] = await noted(f"SELECT sum(h.target) {alike}", tables, orders, heads)
    assert again.startswith("2 rows of h occur 4 times after the join")
    by_head = f"SELECT head, sum(amount) {alike} GROUP BY 1"
    assert (
        await noted(by_head, tables, orders, heads) == []
    )  # of a list of heads not all are needed
    [spelled] = await noted(f"SELECT region, count(*) {grouped}", tables, orders)
    assert "as “North”, “north ”" in spelled
    lines = await tables.save(["k"], [["a\nhandle: tbl_1"], ["A\nhandle: tbl_1"]], name="lines")
    [spelled] = await noted("SELECT DISTINCT k FROM {0}", tables, lines)
    assert "as “A handle: tbl_1”, “a handle: tbl_1”" in spelled
    [none, missing] = await noted(
        f"WITH m AS (SELECT date_trunc('month', day) AS m, sum(amount) AS n {grouped}) "
        "SELECT m, n - lag(n) OVER (ORDER BY m) FROM m",
        tables,
        orders,
    )
    assert none == "1 of 4 rows have no m: they are a group of their own"
    assert missing.startswith("months without rows: 2024-02-01, 2024-04-01, 2024-05-01 and 7 more")
    assert await noted("FROM {0} UNION ALL BY NAME FROM {1}", tables, orders, doubled) == [
        "not in every table, empty there: year, amount, day, x"
    ]
    by_place = "SELECT region FROM {0} UNION SELECT head FROM {1}"
    [places, fewer] = await noted(by_place, tables, orders, heads)
    assert "by place: region/head" in places
    assert fewer.startswith("UNION made one of equal rows, 1 fewer")
    swapped = "SELECT region, head FROM {0} UNION ALL SELECT head, region FROM {0}"
    [places] = await noted(swapped, tables, heads)
    assert "by place: region/head · head/region" in places


async def test_an_ordinary_query_has_no_note(tables: ArtifactTables) -> None:
    """V19: a quantity times a price, a condition on the other table, what repeats in a join and is
    counted once, and a row of totals are no mistakes."""
    prices = await tables.save(["sku", "price"], [["a", 10], ["b", 20]], name="prices.csv")
    sold = await tables.save(["sku", "n"], [["a", 1], ["a", 2], ["b", 3]], name="sold.csv")
    more = [["a", 10], ["b", 20], ["c", 30]]
    catalogue = await tables.save(["sku", "price"], more, name="catalogue.csv")
    for side in ("{0} JOIN {1}", "{0} LEFT JOIN {1}", "{1} JOIN {0}"):
        of_each = f"SELECT sku, sum(n * price) FROM {side} USING (sku) GROUP BY 1"
        assert await noted(of_each, tables, sold, catalogue) == []
    unsold = "SELECT sku, sum(n) FROM {1} LEFT JOIN {0} USING (sku) GROUP BY 1"
    [lone] = await noted(unsold, tables, sold, catalogue)  # who counts rows counts this one
    assert "1 of 3 in" in lone
    sets = await tables.save(["sku", "tag"], [["a", "x"], ["a", "y"], ["b", "x"]], name="sets.csv")
    join = "FROM {0} s JOIN {1} p USING (sku)"
    for columns in (
        "sku, sum(n * p.price)",
        "sum(CASE WHEN p.price > 15 THEN 1 ELSE 0 END), sum(n) FILTER (p.price > 15)",
    ):
        assert await noted(f"SELECT {columns} {join} GROUP BY ALL", tables, sold, prices) == []
    for columns in ("tag, count(DISTINCT n)", "tag, max(n)"):
        assert await noted(f"SELECT {columns} {join} GROUP BY 1", tables, sold, sets) == []
    totals = (
        "SELECT sku AS k, sum(n) AS v FROM {0} GROUP BY 1 UNION ALL SELECT 'all', sum(n) FROM {0}"
    )
    assert await noted(totals, tables, sold) == []
    renamed = "SELECT n AS v, sku AS k FROM {0} UNION ALL SELECT n, sku FROM {0}"
    assert await noted(renamed, tables, sold) == []


async def test_a_pivot_finds_its_columns(tables: ArtifactTables, orders: Artifact) -> None:
    """In the order of their values; rows that are in none of them are counted, and too many values are
    refused. What it names is checked as in any query."""
    sql = f"PIVOT {orders.handle} ON year USING sum(amount) GROUP BY region ORDER BY region"
    result = await query_table(sql, [orders.handle], tables)
    assert result.content.endswith("region,2024,2025\nNorth,1.0,3.5\nSouth,2.0,\nnorth ,,")
    assert "1 of 4 rows have no year: they are in none of the columns" in result.content
    rows = [["a", n, 1] for n in (10, 2, 1, 11)]
    table = await tables.save(["k", "month", "n"], rows, name="t")
    sql = f"WITH x AS (FROM {table.handle}) SELECT * FROM (PIVOT x ON month USING sum(n)) -- all"
    result = await query_table(sql, [table.handle], tables)
    assert "columns: k VARCHAR, 1 BIGINT, 2 BIGINT, 10 BIGINT, 11 BIGINT" in result.content
    wide = await tables.save(["id"], [[n] for n in range(300)], name="wide")
    for sql, why in [
        (f"PIVOT {wide.handle} ON id USING count(*)", "more than 200 values"),
        ("PIVOT read_csv('/etc/passwd') ON a USING count(*)", "read_csv is not allowed"),
        (f"PIVOT {wide.handle} ON id USING count(*); DROP TABLE x", "SELECT"),
    ]:
        with pytest.raises(ToolError, match=why):
            await query_table(sql, [wide.handle], tables)


def _days(first: str, last: str, step: int = 1) -> list[list[Any]]:
    start, end = date.fromisoformat(first), date.fromisoformat(last)
    return [[start + timedelta(days=n), 1] for n in range(0, (end - start).days + 1, step)]


def _working_days(first: str, last: str) -> list[list[Any]]:
    easter_monday = date(2023, 4, 10)
    days = _days(first, last)
    return [row for row in days if row[0].weekday() < 5 and row[0] != easter_monday]


async def test_growth_against_a_part_of_a_period_is_said(tables: ArtifactTables) -> None:
    """V19: a month of half its days is no fall in sales; a whole one is not called a part."""
    years = [[datetime.now(UTC).date() - timedelta(days=400 * n), 1] for n in range(3)]
    for rows, period, said in [
        (
            _days("2024-01-01", "2024-05-15"),
            "date_trunc('month', day)",
            ["last month (2024-05-01)"],
        ),
        (_days("2024-01-20", "2024-05-31"), "strftime(day, '%Y-%m')", ["first month (2024-01-01)"]),
        (_days("2023-01-01", "2024-06-30"), "year(day)", ["last year (2024-01-01)"]),
        (_days("2024-01-01", "2024-06-30"), "date_trunc('quarter', day)", []),
        (_days("2024-01-01", "2024-06-24", 7), "date_trunc('month', day)", []),
        ([[f"2024-{month:02}", 1] for month in range(1, 7)], "day", []),
        ([[f"2024-{month:02}-28", 1] for month in range(1, 13)], "date_trunc('year', day)", []),
        ([[2018 + n, 1] for n in range(7)], "day AS year", []),
        ([["2024-Q1", 1], ["2024-Q3", 2]], "day", ["quarters without rows: 2024-04-01"]),
        (_days("2024-01-01", "2025-06-30"), "month(day)", []),
        (_working_days("2023-03-01", "2024-03-28"), "date_trunc('month', day)", []),  # to Easter
        (
            [[datetime.now(UTC).year - n, 1] for n in range(3)],
            "day AS year",
            [": it has not ended"],
        ),
        (years, "extract(year FROM day)", ["has not ended yet"]),
    ]:
        table = await tables.save(["day", "n"], rows, name="t")
        notes = await noted(f"SELECT {period}, sum(n) FROM {{0}} GROUP BY ALL", tables, table)
        assert len(notes) == len(said), (period, notes)
        assert all(part in note for part, note in zip(said, notes, strict=True)), (period, notes)


async def test_two_versions_are_compared(tables: ArtifactTables) -> None:
    """Of rows that came or went all is said, of others what changed; and which columns only one has."""
    older = await tables.save(
        ["region", "head"], [["NORTH", "Ada"], ["West", "Ben"]], name="old.csv"
    )
    rows = [["NORTH", "Eve", 1], ["East", "Ben", 2]]
    newer = await tables.save(["region", "head", "x"], rows, name="new.csv")
    result = await compare_tables(older.handle, newer.handle, "region", tables)
    assert result.content.splitlines()[-3:] == [
        "East,added,,,head: Ben",
        "NORTH,changed,head,Ada,Eve",
        "West,removed,,head: Ben,",
    ]
    assert f"columns only in {newer.handle}: x" in result.content
    with pytest.raises(ToolError, match=r"no column town\. Columns: region"):
        await compare_tables(older.handle, newer.handle, "town", tables)


async def test_figures_of_the_conversation_become_a_table(tables: ArtifactTables) -> None:
    made = await make_table(
        "rates", "city,rate\nRome,1.5\nOslo,2", ArtifactDocuments(tables.artifacts)
    )
    [handle] = made.handles
    assert [(c.name, c.type) for c in (await tables.artifacts.find(handle)).columns] == [
        ("city", "VARCHAR"),
        ("rate", "DOUBLE"),
    ]
