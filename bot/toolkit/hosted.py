"""Tools that the model service runs itself; nothing of them runs here."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

GROUP = "hosted"
"""What all of them are called in a list of allowed tools."""


class HostedTools(BaseModel):
    """`[hosted]` in bot.toml: which of them the model may use. The service bills each use on its own.

    `web_search` sends search words of the model to the web. `code_interpreter` runs programs in a
    container at the service. `file_search` names vector stores (`vs_…`) there, which everybody who
    may ask can then read.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    web_search: bool = False
    code_interpreter: bool = False
    file_search: tuple[str, ...] = Field(default=(), max_length=2)

    def definitions(self) -> tuple[dict[str, Any], ...]:
        """Their entries in the `tools` of a request; those that are off are left out."""
        found: list[dict[str, Any]] = []
        if self.code_interpreter:
            found.append({"type": "code_interpreter", "container": {"type": "auto"}})
        if self.file_search:
            found.append({"type": "file_search", "vector_store_ids": list(self.file_search)})
        if self.web_search:
            found.append({"type": "web_search"})
        return tuple(found)
