"""What searches of a case find."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from bot.toolkit import Search, WebResult


@dataclass(frozen=True, slots=True)
class CaseWebSearch:
    """In the place of the toolkit's `WebSearch`: whatever is looked for, these pages are found, each an
    excerpt by its address."""

    pages: Mapping[str, str]

    async def search(self, wanted: Search) -> list[WebResult]:
        found = [WebResult(title=url, url=url, excerpt=text) for url, text in self.pages.items()]
        return found[: wanted.limit]
