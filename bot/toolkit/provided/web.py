"""The web services for tools: fetching pages and searching."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Recent = Literal["day", "week", "month", "year"]

MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 400
"""The limit of Brave, the strictest of the search providers."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page. `url` is the address after redirects; `media_type` has no parameters."""

    url: str
    media_type: str
    data: bytes


class Fetcher(Protocol):
    """Fetches pages of the public web."""

    async def fetch(self, url: str) -> Page:
        """Return the page at `url` after up to 5 redirects, within 5 MB and 20 seconds in total.

        Raises ToolError with a sentence that says what is wrong and what to do instead.
        """


@dataclass(frozen=True, slots=True)
class Search:
    """A web search. `site` limits it to one host, `recent` to pages no older than that."""

    query: str
    recent: Recent | None = None
    site: str | None = None
    limit: int = 8


@dataclass(frozen=True, slots=True)
class WebResult:
    """A found page. `excerpt` is plain text; `published` is the provider's text, or empty."""

    title: str
    url: str
    excerpt: str
    published: str = ""


class WebSearch(Protocol):
    """Searches the web."""

    async def search(self, search: Search) -> list[WebResult]:
        """Return up to `search.limit` results, the best first, within 20 seconds.

        Raises ToolError with a sentence for the model when the search fails.
        """
