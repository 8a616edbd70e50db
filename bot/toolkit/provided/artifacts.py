"""Artifacts: results that are saved outside the conversation and named by a handle.

This lets a run work with tables and documents that are larger than the context of the model.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

CHART_TYPE = "application/vnd.bot.chart+json"
"""Media type of an artifact that holds a `Chart` as JSON."""


class Column(BaseModel):
    """A column of a tabular artifact. `type` is a DuckDB type name, such as "BIGINT"."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str


class Artifact(BaseModel):
    """The metadata of an artifact. `size` is in bytes, `sha256` in hex; `raw_sha256` is that of the
    file that the content was read from, "" if there was none.

    `source_title` and `source_url` say where the content came from, for the answer's sources.
    `left_out` has a sentence for each part of the source that the artifact lacks: rows beyond a
    limit, sheets or pages that were not read, values that could not be read as dates. An artifact
    made from an incomplete one inherits these sentences, so each sentence names its source.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    handle: str
    name: str
    media_type: str
    size: int
    sha256: str
    raw_sha256: str = ""
    rows: int | None = None
    columns: tuple[Column, ...] = ()
    source_title: str = ""
    source_url: str | None = None
    left_out: tuple[str, ...] = ()
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="before")
    @classmethod
    def _read_is_cut(cls, data: Any) -> Any:
        """Read the flag `is_cut`, which earlier releases stored instead of the sentences."""
        if isinstance(data, dict) and data.get("is_cut"):
            return {"left_out": (f"{data.get('name')}: a limit left rows out",), **data}
        return data

    @property
    def gap_notes(self) -> list[str]:
        """Lines for every text made from this artifact: the parts of the source that it lacks."""
        return [f"note: not complete: {each}" for each in self.left_out]


def gaps_of(*made_of: Artifact) -> tuple[str, ...]:
    """Return the `left_out` sentences for something made from these artifacts, each once."""
    return tuple(dict.fromkeys(gap for each in made_of for gap in each.left_out))


class Artifacts(Protocol):
    """Access to the artifacts of the current request's thread, and of no other thread."""

    async def save(
        self,
        data: bytes,
        *,
        name: str,
        media_type: str,
        prefix: str = "art",
        rows: int | None = None,
        columns: tuple[Column, ...] = (),
        source_title: str = "",
        source_url: str | None = None,
        left_out: Sequence[str] = (),
        raw_sha256: str = "",
    ) -> Artifact:
        """Save `data` and return its metadata with a new handle that begins with `prefix`.

        Raises ToolError when `data` is larger than the configured limit.
        """

    async def find(self, handle: str) -> Artifact:
        """Return the metadata. Raises ToolError, naming similar handles, for an unknown handle."""

    async def all(self) -> list[Artifact]:
        """Return the metadata of all artifacts of the thread, newest first."""

    async def read(self, handle: str) -> bytes:
        """Return the whole content. Raises ToolError for an unknown or expired handle."""
