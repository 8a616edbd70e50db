"""A chart is data that Slack draws and a PNG of the same, or a sentence on what to do first."""

from __future__ import annotations

import io

import pytest
from PIL import Image

from bot.core.errors import ToolError
from bot.services.artifact_tables import ArtifactTables
from bot.slack.ui.charts import native_chart
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import CHART_TYPE, Artifact, Chart
from tests.support.tools import draw

REGIONS = [["North", 1200.5, 3], ["South", 800, None], ["East $5 🎉", 300, 7]]


async def table(artifacts: MemoryArtifacts, rows: list[list[object]]) -> Artifact:
    columns = ["region", "total", "n"][: len(rows[0])]
    return await ArtifactTables(artifacts).save(columns, rows, name="sales.csv")


@pytest.mark.parametrize("kind", ["bar", "stacked", "line", "area", "pie", "heatmap"])
async def test_a_chart_is_data_and_a_picture(artifacts: MemoryArtifacts, kind: str) -> None:
    saved = await table(artifacts, REGIONS)
    values = ["total"] if kind == "pie" else ["total", "N"]
    result = await draw(saved.handle, kind, "Sales in $", "region", values, artifacts)
    handle, image = result.handles
    assert result.content.splitlines()[:2] == [
        f"handle: {handle} · {kind} chart · 3 labels × {len(values)} series · source: sales.csv",
        f"image: {image}",
    ]
    artifact, data = artifacts.kept[handle]
    chart = Chart.model_validate_json(data)
    assert artifact.media_type == CHART_TYPE
    assert (chart.labels, chart.image) == (["North", "South", "East $5 🎉"], image)
    assert chart.series[0].values == [1200.5, 800.0, 300.0]
    assert kind == "pie" or chart.series[1].values == [3.0, None, 7.0]
    with Image.open(io.BytesIO(artifacts.kept[image][1])) as picture:
        assert picture.format == "PNG"
        assert min(picture.size) >= 600
        assert len(picture.convert("RGB").getcolors(100_000) or []) > 50


async def test_many_long_labels_lie_on_their_side(artifacts: MemoryArtifacts) -> None:
    """The picture grows with them, so that each can be read."""
    rows: list[list[object]] = [[f"A rather long label {n}", n] for n in range(50)]
    saved = await table(artifacts, rows)
    result = await draw(saved.handle, "bar", "Many", "region", ["total"], artifacts)
    with Image.open(io.BytesIO(artifacts.kept[result.handles[1]][1])) as picture:
        assert picture.height > picture.width


async def test_the_first_rows_of_a_long_table_can_be_drawn(artifacts: MemoryArtifacts) -> None:
    saved = await table(artifacts, [[f"L{n}", n] for n in range(80)])
    with pytest.raises(ToolError, match="has 80 rows; a chart has at most 50"):
        await draw(saved.handle, "bar", "Many", "region", ["total"], artifacts)
    result = await draw(saved.handle, "line", "T", "region", ["total"], artifacts, limit=10)
    assert "the first 10 of 80 rows" in result.content


async def test_one_column_can_make_the_series(artifacts: MemoryArtifacts) -> None:
    """Rows of month, region, total become a line a region; what is not there is left out."""
    rows = [["Jan", "North", 1], ["Jan", "South", 2], ["Feb", "South", 4], ["Feb", "north", 8]]
    saved = await ArtifactTables(artifacts).save(["month", "region", "total_n"], rows, name="s.csv")
    result = await draw(
        saved.handle, "line", "T", "month", ["total_n"], artifacts, series_column="Region"
    )
    chart = Chart.model_validate_json(artifacts.kept[result.handles[0]][1])
    assert chart.labels == ["Jan", "Feb"]
    assert {each.name: each.values for each in chart.series} == {
        "North": [1.0, None],
        "South": [2.0, 4.0],
        "north": [None, 8.0],
    }
    assert (chart.x_title, chart.y_title) == ("month", "total n")


async def test_pairs_of_label_and_series_stand_once(artifacts: MemoryArtifacts) -> None:
    rows = [["Jan", "North", 1], ["Jan", "North", 2]]
    saved = await ArtifactTables(artifacts).save(["month", "region", "n"], rows, name="s.csv")
    with pytest.raises(ToolError, match="each pair of month and region has one row"):
        await draw(saved.handle, "line", "T", "month", ["n"], artifacts, series_column="region")


@pytest.mark.parametrize(
    ("kind", "rows", "columns", "why"),
    [
        ("bar", REGIONS, ["totl"], r"no column totl\. Similar: total"),
        ("bar", REGIONS, ["region"], "is VARCHAR, not numbers"),
        ("bar", [["A", 1], ["A", 2]], ["total"], "occurs in more than one row"),
        ("pie", [["A", 1], ["B", -2]], ["total"], "not negative"),
        ("pie", [["A", 0], ["B", 0]], ["total"], "not all zero"),
        ("pie", [[f"L{n}", n] for n in range(13)], ["total"], "at most 12 segments"),
        ("pie", REGIONS, ["total", "n"], "a pie has one"),
        ("line", REGIONS, ["total"] * 13, "at most 12 series"),
    ],
)
async def test_what_cannot_be_drawn_says_what_to_do(
    artifacts: MemoryArtifacts, kind: str, rows: list[list[object]], columns: list[str], why: str
) -> None:
    saved = await table(artifacts, rows)
    with pytest.raises(ToolError, match=why):
        await draw(saved.handle, kind, "T", "region", columns, artifacts)


async def test_a_line_over_times_runs_in_their_order(artifacts: MemoryArtifacts) -> None:
    """However its rows are sorted; a month without a row is a gap, and not joined with the others.
    Bars stand as their rows do."""
    months: list[list[object]] = [["2026-04", 9], ["2025-12", 7], ["2026-01", 5], ["2026-03", 6]]
    saved = await table(artifacts, months)
    drawn = {}
    for kind in ("line", "bar"):
        result = await draw(saved.handle, kind, "Total", "region", ["total"], artifacts)
        chart = Chart.model_validate_json(artifacts.kept[result.handles[0]][1])
        drawn[kind] = dict(zip(chart.labels, chart.series[0].values, strict=True))
    assert list(drawn["bar"]) == ["2026-04", "2025-12", "2026-01", "2026-03"]
    assert list(drawn["line"].items()) == [
        ("2025-12", 7.0), ("2026-01", 5.0), ("2026-02", None), ("2026-03", 6.0), ("2026-04", 9.0),
    ]  # fmt: skip


@pytest.mark.parametrize("value", [1e308, -1e308, 1e40])
async def test_values_beyond_measure_hold_nobody_up(
    artifacts: MemoryArtifacts, value: float
) -> None:
    """S2: the picture is drawn inside the bot, where nothing can end it; a file may hold anything."""
    saved = await table(artifacts, [["a", value], ["b", 1.0]])
    with pytest.raises(ToolError, match="beyond 1e\\+18"):
        await draw(saved.handle, "bar", "T", "region", ["total"], artifacts)


async def test_a_scatter_has_a_point_for_each_row_and_a_line(artifacts: MemoryArtifacts) -> None:
    """code 3: each pair of numbers, several with the same number across, in one or several series."""
    rows: list[list[object]] = [["a" if at % 2 else "b", at // 2, at * 3.0] for at in range(60)]
    saved = await table(artifacts, [*rows, ["a", 1, None]])
    one = await draw(saved.handle, "scatter", "All", "n", ["total"], artifacts)
    chart = Chart.model_validate_json(artifacts.kept[one.handles[0]][1])
    assert (len(chart.labels), chart.x_title, chart.y_title) == (60, "n", "total")
    assert native_chart(chart) is None
    two = await draw(
        saved.handle, "scatter", "All", "n", ["total"], artifacts, series_column="region"
    )
    chart = Chart.model_validate_json(artifacts.kept[two.handles[0]][1])
    assert [series.name for series in chart.series] == ["b", "a"]
    with Image.open(io.BytesIO(artifacts.kept[two.handles[1]][1])) as picture:
        assert len(picture.convert("RGB").getcolors(100_000) or []) > 50


async def test_a_histogram_counts_round_ranges_and_slack_draws_it(
    artifacts: MemoryArtifacts,
) -> None:
    """code 3: of all rows, however many; each value once, empty ranges too."""
    saved = await table(artifacts, [["x", value] for value in [*range(100), 400, None]])
    result = await draw(saved.handle, "histogram", "Sizes", "total", ["total"], artifacts)
    chart = Chart.model_validate_json(artifacts.kept[result.handles[0]][1])
    assert chart.labels[:2] == ["0 – 50", "50 – 100"]
    assert [series.values for series in chart.series] == [[50.0, 50.0, *[0.0] * 6, 1.0]]
    assert native_chart(chart) is not None


async def test_a_box_plot_has_five_numbers_for_each_group(artifacts: MemoryArtifacts) -> None:
    rows: list[list[object]] = [["a" if at < 5 else "b", at] for at in range(11)]
    saved = await table(artifacts, rows)
    result = await draw(saved.handle, "box", "Spread", "region", ["total"], artifacts)
    chart = Chart.model_validate_json(artifacts.kept[result.handles[0]][1])
    assert chart.labels == ["a", "b"]
    assert [series.values[0] for series in chart.series] == [0.0, 1.0, 2.0, 3.0, 4.0]
    with Image.open(io.BytesIO(artifacts.kept[result.handles[1]][1])) as picture:
        assert picture.format == "PNG"


@pytest.mark.parametrize("kind", ["histogram", "box", "scatter"])
async def test_what_has_no_numbers_says_so(artifacts: MemoryArtifacts, kind: str) -> None:
    saved = await table(artifacts, [["x", "y", 1], ["z", "w", 2]])
    with pytest.raises(ToolError, match=r"has no numbers|has 0 groups|not numbers"):
        await draw(saved.handle, kind, "None", "total", ["total"], artifacts)
