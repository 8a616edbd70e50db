"""Hosted tools: tools that the model service runs on its own machines."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field

GROUP = "hosted"
"""The group of all hosted tools in a list of allowed tools."""


class HostedTools(BaseModel):
    """`[hosted]` in bot.toml: the hosted tools that the model may use. The service bills each use.

    `web_search` sends the model's search words to the web. `code_interpreter` runs programs in a
    container at the service. `file_search` names vector stores (`vs_…`) at the service; everybody
    who may use the bot can then read them.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    web_search: bool = False
    code_interpreter: bool = False
    file_search: tuple[str, ...] = Field(default=(), max_length=2)

    def definitions(self) -> tuple[dict[str, Any], ...]:
        """Return the entries of the enabled tools for the `tools` of a request."""
        found: list[dict[str, Any]] = []
        if self.code_interpreter:
            found.append({"type": "code_interpreter", "container": {"type": "auto"}})
        if self.file_search:
            found.append({"type": "file_search", "vector_store_ids": list(self.file_search)})
        if self.web_search:
            found.append({"type": "web_search"})
        return tuple(found)
