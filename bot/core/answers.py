"""What a run returns: typed answers (C1, C3) and the pieces they are made of.

A model class here is at once the schema of `complete_task`, the record in the store and what a
renderer draws. Descriptions are read by the model. A new kind of answer is one class here, one
entry in `RESPONSE_TYPES` and one renderer.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field


class Source(BaseModel):
    """Where a statement comes from."""

    model_config = ConfigDict(frozen=True)

    title: str = Field(description="Name of the page, file, message or table.")
    url: str | None = Field(description="Its address as a tool gave it; null when it has none.")
    supports: str = Field(description="Which statement of the answer it supports.")


class Table(BaseModel):
    """A small table. Share a file instead of more than 50 rows."""

    model_config = ConfigDict(frozen=True)

    caption: str = Field(description="What the table shows, in a few words.")
    columns: list[str] = Field(description="Column headings.")
    rows: list[list[str]] = Field(description="Cells as text, one list per row.")


class Answer(BaseModel):
    """The answer to a question."""

    model_config = ConfigDict(frozen=True)

    summary: str = Field(
        description="The answer itself in one to three sentences of Markdown, with the numbers."
    )
    key_points: list[str] = Field(description="What supports or qualifies it; Markdown; may be [].")
    table: Table | None = Field(description="A table, if rows and columns help; else null.")
    charts: list[str] = Field(description="Handles of charts to show, as make_chart gave them.")
    sources: list[Source] = Field(description="Everything the answer rests on.")
    gaps: list[str] = Field(description="What could not be found or was left out, and why.")
    follow_ups: list[str] = Field(description="Up to three questions worth asking next.")
    confidence: Literal["high", "medium", "low"] = Field(
        description="How sure the answer is, given the sources."
    )


RESPONSE_TYPES: dict[str, type[BaseModel]] = {"Answer": Answer}
"""Response types by the name a `Request` carries."""

TEXT_FIELD: dict[str, str] = {"Answer": "summary"}
"""The field of each type that takes plain text when a model will not call complete_task (C4)."""


class Series(BaseModel):
    """One line, or one colour of bars: a value per label; null where there is none."""

    model_config = ConfigDict(frozen=True)

    name: str
    values: list[float | None]


class Chart(BaseModel):
    """A chart as data, saved as an artifact under its handle.

    `image` is the handle of a PNG of the same chart, for clients that cannot draw the data.
    """

    model_config = ConfigDict(frozen=True)

    title: str
    kind: Literal["bar", "line", "area", "pie"]
    labels: list[str]
    series: list[Series]
    x_title: str = ""
    y_title: str = ""
    image: str = ""
