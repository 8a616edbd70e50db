"""Events over HTTP: Slack's signed requests, handed to bolt while somebody takes them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp

EVENTS_PATH = "/slack/events"
"""Where Slack sends events, interactions and commands alike."""

MAX_BODY = 4 * 1024 * 1024  # bytes; Slack's own payloads stay far below

_DRAIN = 5.0  # seconds for what was received to be stored and acknowledged


class SlackRequests:
    """Slack's requests. Before and after somebody takes them the answer is 503, so that Slack
    sends them again."""

    def __init__(self) -> None:
        self.route = web.post(EVENTS_PATH, self._handle)
        self._app: AsyncApp | None = None
        self._handling: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def taken_by(self, app: AsyncApp) -> AsyncGenerator[None]:
        """Hand them to `app`, which checks the signature and answers url_verification; those under
        way at the end are answered first."""
        self._app = app
        try:
            yield
        finally:
            self._app = None
            if self._handling:
                await asyncio.wait(set(self._handling), timeout=_DRAIN)

    async def _handle(self, request: web.Request) -> web.Response:
        app, task = self._app, asyncio.current_task()
        if app is None or task is None:
            return web.Response(status=503)
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))
