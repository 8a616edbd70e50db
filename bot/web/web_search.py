"""Web search with the provider that the operator chose.

Sources, as of November 2026: Brave's Web Search API reference; Tavily's Python client; SearXNG's
"Search API", which does not document a time range of a week, so that a month is used.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pydantic import AnyHttpUrl, BaseModel, ConfigDict, model_validator

from bot.core.errors import TemporaryError, ToolError
from bot.toolkit.provided.web import Search, WebResult

if TYPE_CHECKING:
    import aiohttp

_SECONDS = 20.0
_MAX_RETRY_AFTER = 86_400.0  # seconds; a provider may say "inf"
_MAX_BYTES = 2_000_000
_ADDRESSES = {"brave": "https://api.search.brave.com", "tavily": "https://api.tavily.com"}
_LIMITED = frozenset({402, 429, 432, 433})  # the last two are Tavily's: the plan is used up


class WebSearchConfig(BaseModel):
    """`[web_search]` in bot.toml; the key comes from WEB_SEARCH_API_KEY. `url` is the address of your
    own SearXNG, or another address of a provider."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    provider: Literal["brave", "tavily", "searxng"]
    url: AnyHttpUrl | None = None

    @model_validator(mode="after")
    def _is_somewhere(self) -> WebSearchConfig:
        if self.provider not in _ADDRESSES and self.url is None:
            raise ValueError('set url to where your SearXNG is, as "http://localhost:8080"')
        return self

    @property
    def needs_key(self) -> bool:
        return self.provider in _ADDRESSES

    @property
    def address(self) -> str:
        return str(self.url or _ADDRESSES[self.provider]).rstrip("/")


@dataclass(frozen=True, slots=True)
class _Request:
    """A request to a provider."""

    path: str
    headers: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] | None = None
    body: Mapping[str, Any] | None = None


class ProviderWebSearch:
    """Web search with one provider."""

    def __init__(self, config: WebSearchConfig, key: str) -> None:
        self._config = config
        self._build_request, self._parse_results = _PROVIDERS[config.provider]
        self._key = key

    async def search(self, search: Search) -> list[WebResult]:
        """Return up to `search.limit` results, the best first, within 20 seconds.

        Raises ToolError for the model when a search fails, TemporaryError if another may succeed.
        """
        try:
            async with asyncio.timeout(_SECONDS):
                found = self._parse_results(
                    await self._fetch(self._build_request(search, self._key))
                )
        except TimeoutError:
            raise ToolError(
                f"The web search took more than {_SECONDS:g} s. Try it once more, or go on without."
            ) from None
        except (LookupError, TypeError, AttributeError, ValueError):
            raise ToolError("The web search gave an answer that cannot be read.") from None
        return [each for each in found if each.url.startswith(("http://", "https://"))][
            : search.limit
        ]

    async def _fetch(self, request: _Request) -> Any:
        """Send the request and return the JSON of the response."""
        import aiohttp  # takes 0.4 s, which a process that does not search should not pay

        try:
            async with (
                aiohttp.ClientSession(trust_env=False) as session,
                self._send(session, request) as response,
            ):
                return await _json(response, self._config.provider)
        except (aiohttp.ClientError, OSError):
            raise TemporaryError(
                "The web search cannot be reached. Go on without it, and say so."
            ) from None

    def _send(
        self, session: aiohttp.ClientSession, request: _Request
    ) -> aiohttp.client._RequestContextManager:
        return session.request(
            "GET" if request.body is None else "POST",
            f"{self._config.address}{request.path}",
            params=request.parameters,
            json=request.body,
            headers={"Accept": "application/json", **request.headers},
            allow_redirects=False,  # no other address may see the key
        )


def _retry_after(response: aiohttp.ClientResponse) -> float:
    """Return the seconds until the next search may be made, by the response headers; 1 by default."""
    headers = response.headers
    header = headers.get("Retry-After") or headers.get("X-RateLimit-Reset") or ""
    try:
        return min(
            max(0.0, float(header.split(",")[0])), _MAX_RETRY_AFTER
        )  # max makes 0.0 of "nan"
    except ValueError:
        return 1.0


async def _json(response: aiohttp.ClientResponse, provider: str) -> Any:
    if response.status == 200:
        body = bytearray()
        async for chunk in response.content.iter_chunked(65_536):
            body += chunk
            if len(body) > _MAX_BYTES:
                raise ToolError("The web search sent too much. Ask it for fewer results.")
        return json.loads(body)
    message = _error_message(response, provider)
    if response.status == 429:
        raise TemporaryError(message, after=_retry_after(response))
    raise ToolError(message)


def _error_message(response: aiohttp.ClientResponse, provider: str) -> str:
    """Return why there are no results, for the model and the person it answers."""
    status = response.status
    if status == 403 and provider == "searxng":
        return (
            "The web search gives no JSON: its operator has to add json to search.formats in "
            "settings.yml. Go on without it, and say so."
        )
    if status in (401, 403):
        return (
            "The web search does not take its key; whoever runs the bot has to set another "
            "WEB_SEARCH_API_KEY. Go on without it, and say so."
        )
    if status == 429:
        return f"The web search wants a pause of {_retry_after(response):.0f} s. Go on without it for now."
    if status in _LIMITED:
        return "What may be searched in this period is used up. Go on without it, and say so."
    if status in (400, 422):
        return "The web search does not take this query. Make it shorter and simpler."
    return f"The web search does not work now ({status}). Go on without it, and say so."


def _with_site(search: Search) -> str:
    return f"{search.query} site:{search.site}" if search.site else search.query


def _brave_request(search: Search, key: str) -> _Request:
    parameters = {
        "q": _with_site(search),
        "count": str(search.limit),
        "result_filter": "web",
        "text_decorations": "false",
    }
    if search.recent:
        parameters["freshness"] = f"p{search.recent[0]}"
    return _Request("/res/v1/web/search", {"X-Subscription-Token": key}, parameters)


def _brave_results(answer: Any) -> list[WebResult]:
    return [
        WebResult(
            each["title"], each["url"], each.get("description") or "", _date(each, "page_age")
        )
        for each in (answer.get("web") or {}).get("results") or ()
    ]


def _tavily_request(search: Search, key: str) -> _Request:
    body: dict[str, Any] = {"query": search.query, "max_results": search.limit}
    if search.recent:
        body["time_range"] = search.recent
    if search.site:
        body["include_domains"] = [search.site]
    return _Request("/search", {"Authorization": f"Bearer {key}"}, body=body)


def _tavily_results(answer: Any) -> list[WebResult]:
    return [
        WebResult(
            each["title"], each["url"], each.get("content") or "", _date(each, "published_date")
        )
        for each in answer["results"]
    ]


def _searxng_request(search: Search, key: str) -> _Request:
    parameters = {"q": _with_site(search), "format": "json"}
    if search.recent:
        parameters["time_range"] = "month" if search.recent == "week" else search.recent
    return _Request("/search", {"Authorization": f"Bearer {key}"} if key else {}, parameters)


def _searxng_results(answer: Any) -> list[WebResult]:
    return [
        WebResult(
            each["title"], each["url"], each.get("content") or "", _date(each, "publishedDate")
        )
        for each in answer["results"]
    ]


def _date(result: dict[str, Any], key: str) -> str:
    return str(result.get(key) or "")[:10]


_Provider = tuple[Callable[[Search, str], _Request], Callable[[Any], list[WebResult]]]

_PROVIDERS: dict[str, _Provider] = {
    "brave": (_brave_request, _brave_results),
    "tavily": (_tavily_request, _tavily_results),
    "searxng": (_searxng_request, _searxng_results),
}
