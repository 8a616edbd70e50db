"""Artifacts: results kept outside the conversation and named by a handle (D7, D8)."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Protocol

from pydantic import BaseModel, ConfigDict, Field

CHART_TYPE = "application/vnd.bot.chart+json"
"""Media type of an artifact that holds a `Chart` as JSON."""


class Column(BaseModel):
    """A column of a tabular artifact; `type` in DuckDB's names."""

    model_config = ConfigDict(frozen=True)

    name: str
    type: str


class Artifact(BaseModel):
    """What is known of an artifact without reading it. `size` in bytes; `sha256` in hex.

    `source_title` and `source_url` say where the content came from, for the answer's sources.
    `is_cut` is true of a table that a limit left rows out of, and of what was made of one.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    handle: str
    name: str
    media_type: str
    size: int
    sha256: str
    rows: int | None = None
    columns: tuple[Column, ...] = ()
    source_title: str = ""
    source_url: str | None = None
    is_cut: bool = False
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))


class Artifacts(Protocol):
    """The artifacts of the thread that the current request belongs to, and of no other."""

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
        is_cut: bool = False,
    ) -> Artifact:
        """Keep `data` and name it; the handle begins with `prefix`.

        Raises ToolError when it is larger than the configured limit.
        """

    async def find(self, handle: str) -> Artifact:
        """What is known of `handle`. Raises ToolError, naming near matches, when there is none."""

    async def all(self) -> list[Artifact]:
        """All of them, the newest first."""

    async def read(self, handle: str) -> bytes:
        """The whole content. Raises ToolError when there is none, or when it has expired."""
