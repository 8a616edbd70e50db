"""The public web, as tools see it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, Protocol

Recent = Literal["day", "week", "month", "year"]

MAX_RESULTS = 20
MAX_QUERY_CHARACTERS = 400
"""Brave's limit, the strictest of the providers."""


@dataclass(frozen=True, slots=True)
class Page:
    """A fetched page. `url` is the last address after redirects; `media_type` has no parameters."""

    url: str
    media_type: str
    data: bytes


class Fetcher(Protocol):
    """Fetches pages of the public web."""

    async def fetch(self, url: str) -> Page:
        """Return the page at `url`, after up to 5 redirects: 5 MB and 20 seconds in all.

        Raises ToolError with a sentence that says what is wrong and what to do instead.
        """


@dataclass(frozen=True, slots=True)
class Search:
    """A web search, limited to `site` and to pages no older than `recent` where they are given."""

    query: str
    recent: Recent | None = None
    site: str | None = None
    limit: int = 8


@dataclass(frozen=True, slots=True)
class WebResult:
    """A found page. `excerpt` is plain text; `published` as the provider says it, or empty."""

    title: str
    url: str
    excerpt: str
    published: str = ""


class WebSearch(Protocol):
    """Searches the web."""

    async def search(self, search: Search) -> list[WebResult]:
        """Return up to `search.limit` results, the best first, within 20 seconds.

        Raises ToolError, in words for the model, when the search fails.
        """
