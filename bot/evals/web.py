"""Web search of a case."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.toolkit import Search, WebResult


@dataclass(frozen=True, slots=True)
class CaseWebSearch:
    """The toolkit's `WebSearch` for a case: every search finds all `pages` (excerpts by address)."""

    pages: Mapping[str, str]

    async def search(self, wanted: Search) -> list[WebResult]:
        found = [WebResult(title=url, url=url, excerpt=text) for url, text in self.pages.items()]
        return found[: wanted.limit]
