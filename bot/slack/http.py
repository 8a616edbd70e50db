"""Events over HTTP: Slack's signed requests, handed to bolt while somebody takes them.

The signature is looked at before anything of the body is: what nobody has signed is neither parsed
nor looked up, as to which workspace it is about.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response, to_bolt_request
from slack_bolt.async_app import AsyncApp
from slack_sdk.signature import SignatureVerifier

EVENTS_PATH = "/slack/events"
"""Where Slack sends events, interactions and commands alike."""

MAX_BODY = 4 * 1024 * 1024  # bytes; Slack's own payloads stay far below

_DRAIN = 5.0  # seconds for what was received to be stored and acknowledged
_BODY = 10.0  # seconds for a request to be sent whole; Slack gives up on an answer after three


class SlackRequests:
    """Slack's requests. Before and after somebody takes them the answer is 503, so that Slack
    sends them again."""

    def __init__(self) -> None:
        self.route = web.post(EVENTS_PATH, self._handle)
        self._taken: tuple[AsyncApp, SignatureVerifier] | None = None
        self._handling: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def taken_by(self, app: AsyncApp, signing_secret: str) -> AsyncGenerator[None]:
        """Hand those signed with the secret to `app`, which answers url_verification; those under
        way at the end are answered first."""
        self._taken = app, SignatureVerifier(signing_secret)
        try:
            yield
        finally:
            self._taken = None
            if self._handling:
                await asyncio.wait(set(self._handling), timeout=_DRAIN)

    async def _handle(self, request: web.Request) -> web.Response:
        taken, task = self._taken, asyncio.current_task()
        if taken is None or task is None:
            return web.Response(status=503)
        app, verifier = taken
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        try:
            async with asyncio.timeout(_BODY):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=408, headers={"Connection": "close"})
        if not _is_signed(body, request, verifier):
            return web.Response(status=401)
        return await to_aiohttp_response(await app.async_dispatch(await to_bolt_request(request)))


def _is_signed(body: bytes, request: web.Request, verifier: SignatureVerifier) -> bool:
    try:
        return verifier.is_valid_request(body, dict(request.headers))
    except (ValueError, TypeError):  # a time that is no number, letters that no digest has
        return False
