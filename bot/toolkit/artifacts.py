"""Artifacts: results kept outside the conversation and named by a handle (D7, D8)."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, Field, model_validator

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
    `left_out` has a sentence for each thing that is in the source and not in the artifact: rows beyond
    a limit, sheets or pages that were not read, values that are no date. What is made of an
    incomplete artifact inherits its sentences, so each names the source that it is about.
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
    left_out: tuple[str, ...] = ()
    created: datetime = Field(default_factory=lambda: datetime.now(UTC))

    @model_validator(mode="before")
    @classmethod
    def _read_is_cut(cls, data: Any) -> Any:
        """Artifacts of earlier releases have a flag in place of the sentences."""
        if isinstance(data, dict) and data.get("is_cut"):
            return {"left_out": (f"{data.get('name')}: a limit left rows out",), **data}
        return data

    @property
    def gap_notes(self) -> list[str]:
        """Lines that every text made of this artifact must have: what it lacks of its source."""
        return [f"note: not complete: {each}" for each in self.left_out]


def gaps_of(*made_of: Artifact) -> tuple[str, ...]:
    """Return what is left out of something that is made of these artifacts."""
    return tuple(dict.fromkeys(gap for each in made_of for gap in each.left_out))


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
        left_out: Sequence[str] = (),
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
