"""Providers of web searches over a real socket, as strict as their documents say: a key that is not
theirs, a parameter that they do not know or a value that they do not take is refused."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from aiohttp import web
from aiohttp.test_utils import BaseTestServer, TestServer

from bot.web.web_search import ProviderWebSearch, WebSearchConfig

KEY = "key-of-the-search"
PAGES = [
    {"title": f"Page {n}", "url": f"https://site{n}.example/a", "text": f"Excerpt {n}."}
    for n in range(30)
]
BRAVE = {
    "q", "count", "offset", "freshness", "result_filter", "text_decorations", "country",
    "search_lang", "ui_lang", "safesearch", "extra_snippets",
}  # fmt: skip
TAVILY = {
    "query", "max_results", "time_range", "include_domains", "exclude_domains", "search_depth",
    "topic", "include_answer", "include_raw_content",
}  # fmt: skip
SEARXNG = {"q", "format", "time_range", "categories", "engines", "language", "pageno", "safesearch"}


@dataclass
class Provider:
    """`seen` are the parameters of each search that was taken. `orders` answer the next requests
    instead; with `found` 0 nothing is found."""

    name: Literal["brave", "tavily", "searxng"]
    server: BaseTestServer | None = None
    seen: list[dict[str, Any]] = field(default_factory=list)
    asked: int = 0
    orders: list[web.Response] = field(default_factory=list)
    pages: list[dict[str, str]] = field(default_factory=lambda: PAGES)

    @property
    def url(self) -> str:
        assert self.server is not None
        return str(self.server.make_url(""))

    def config(self) -> WebSearchConfig:
        return WebSearchConfig.model_validate({"provider": self.name, "url": self.url})

    def search(self, key: str = KEY) -> ProviderWebSearch:
        return ProviderWebSearch(self.config(), key)

    async def handle(self, request: web.Request) -> web.Response:
        self.asked += 1
        if self.orders:
            return self.orders.pop(0)
        answers = {"brave": self._brave, "tavily": self._tavily, "searxng": self._searxng}
        return await answers[self.name](request)

    async def _brave(self, request: web.Request) -> web.Response:
        if request.headers.get("X-Subscription-Token") != KEY:
            return web.json_response({"type": "ErrorResponse"}, status=401)
        given = dict(request.query)
        wrong = (
            request.path != "/res/v1/web/search"
            or request.method != "GET"
            or given.keys() - BRAVE
            or not 1 <= len(given.get("q", "")) <= 400
            or not 1 <= int(given.get("count", 20)) <= 20
            or given.get("freshness", "pd") not in ("pd", "pw", "pm", "py")
        )
        if wrong:
            return web.json_response({"type": "ErrorResponse"}, status=422)
        self.seen.append(given)
        found = [
            {
                "title": each["title"],
                "url": each["url"],
                "description": each["text"],
                "page_age": "2026-11-20T08:00:00",
            }
            for each in self.pages[: int(given["count"])]
        ]
        return web.json_response({"type": "search", "web": {"results": found}} if found else {})

    async def _tavily(self, request: web.Request) -> web.Response:
        if request.headers.get("Authorization") != f"Bearer {KEY}":
            return web.json_response({"detail": {"error": "Unauthorized"}}, status=401)
        given = await request.json()
        wrong = (
            (request.method, request.path) != ("POST", "/search")
            or given.keys() - TAVILY
            or not given.get("query")
            or not 0 <= given.get("max_results", 5) <= 20
            or given.get("time_range", "day") not in ("day", "week", "month", "year")
            or not isinstance(given.get("include_domains", []), list)
        )
        if wrong:
            return web.json_response({"detail": {"error": "Bad request"}}, status=400)
        self.seen.append(given)
        found = [
            {"title": each["title"], "url": each["url"], "content": each["text"], "score": 0.9}
            for each in self.pages[: given["max_results"]]
        ]
        return web.json_response({"query": given["query"], "results": found})

    async def _searxng(self, request: web.Request) -> web.Response:
        given = dict(request.query)
        if given.get("format") != "json":
            return web.Response(status=403)
        if given.keys() - SEARXNG or given.get("time_range", "day") not in ("day", "month", "year"):
            return web.Response(status=400)
        self.seen.append(given)
        found = [
            {
                "title": each["title"],
                "url": each["url"],
                "content": each["text"],
                "publishedDate": None,
            }
            for each in self.pages
        ]
        return web.json_response({"query": given["q"], "results": found})


@asynccontextmanager
async def provider(name: Literal["brave", "tavily", "searxng"]) -> AsyncGenerator[Provider]:
    """One of them for the length of the context."""
    made = Provider(name)
    application = web.Application()
    application.router.add_route("*", "/{path:.*}", made.handle)
    async with TestServer(application) as server:
        made.server = server
        yield made
