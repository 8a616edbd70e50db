"""Tables and charts, with the limits of https://docs.slack.dev/reference/block-kit/blocks"""

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bot.dev.workspace.blocks.parts import Part
from bot.dev.workspace.blocks.rich_text import LayoutBlock, RichText


class RawText(Part):
    """A cell of plain text."""

    type: Literal["raw_text"]
    text: Annotated[str, Field(min_length=1)]


Cell = Annotated[RawText | RichText, Field(discriminator="type")]
Row = Annotated[list[Cell], Field(min_length=1, max_length=20)]


class ColumnSettings(Part):
    """How a column looks."""

    align: Literal["left", "center", "right"] | None = None
    is_wrapped: bool | None = None


class Table(LayoutBlock):
    """A table of at most 100 rows of 20 cells."""

    type: Literal["table"]
    rows: Annotated[list[Row], Field(min_length=1, max_length=100)]
    column_settings: Annotated[list[ColumnSettings | None], Field(max_length=20)] | None = None

    @model_validator(mode="after")
    def _is_small(self) -> "Table":
        _check_same_width(self.rows)
        _check_total_length(self.rows)
        return self


class Point(Part):
    """A value with its label."""

    label: Annotated[str, Field(min_length=1, max_length=20)]
    value: float


class Segment(Part):
    """A segment of a pie; none is empty."""

    label: Annotated[str, Field(min_length=1, max_length=20)]
    value: Annotated[float, Field(gt=0)]


class Pie(Part):
    """A pie of at most six segments."""

    type: Literal["pie"]
    segments: Annotated[list[Segment], Field(min_length=1, max_length=6)]


class Series(Part):
    """Values along the axis."""

    name: Annotated[str, Field(min_length=1, max_length=20)]
    data: Annotated[list[Point], Field(min_length=1, max_length=20)]


class Axis(Part):
    """The categories of the x axis, and the titles of both axes."""

    categories: Annotated[
        list[Annotated[str, Field(min_length=1, max_length=20)]], Field(min_length=1, max_length=20)
    ]
    x_label: Annotated[str, Field(max_length=50)] | None = None
    y_label: Annotated[str, Field(max_length=50)] | None = None


class Plot(Part):
    """A chart of at most six series over the same categories."""

    type: Literal["bar", "line", "area"]
    series: Annotated[list[Series], Field(min_length=1, max_length=6)]
    axis_config: Axis

    @model_validator(mode="after")
    def _fits_its_axis(self) -> "Plot":
        names = [one.name for one in self.series]
        if len(set(names)) < len(names):
            raise ValueError("series names must be unique")
        for one in self.series:
            if sorted(p.label for p in one.data) != sorted(self.axis_config.categories):
                raise ValueError("data labels must match the axis categories")
        return self


class DataVisualization(LayoutBlock):
    """A chart."""

    type: Literal["data_visualization"]
    title: Annotated[str, Field(min_length=1, max_length=50)]
    chart: Annotated[Pie | Plot, Field(discriminator="type")]


def _check_same_width(rows: list[list[Any]]) -> None:
    if len({len(row) for row in rows}) > 1:
        raise ValueError("all rows must have the same number of cells")


def _check_total_length(rows: list[list[Any]]) -> None:
    if sum(_size(cell) for row in rows for cell in row) > 10_000:
        raise ValueError("must be less than 10001 characters in all")


def _size(cell: RawText | RichText) -> int:
    return len(cell.text) if isinstance(cell, RawText) else _length(cell.model_dump())


def _length(part: Any) -> int:
    """Return the length of all texts in rich text, as people read them."""
    if isinstance(part, list):
        return sum(map(_length, part))
    if not isinstance(part, dict):
        return 0
    return len(str(part.get("text") or "")) + sum(_length(each) for each in part.values())
