"""HTTP endpoint for Slack's signed requests, which are passed to the Bolt app.

The signature is checked before the body is parsed, so an unsigned request costs no look-up. A
signed body must then have the shape that Slack documents.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.request.internals import parse_body

from bot.core.errors import MalformedPayload
from bot.slack.edge.payloads import check_payload
from bot.slack.edge.signatures import OnRefused, Refusals, refusal_of

log = logging.getLogger(__name__)

EVENTS_PATH = "/slack/events"
"""Where Slack sends events, interactions and commands alike."""

MAX_BODY = 4 * 1024 * 1024  # bytes; Slack's own payloads stay far below

_DRAIN = 5.0  # seconds for what was received to be stored and acknowledged
_BODY = 10.0  # seconds for a request to be sent whole; Slack gives up on an answer after three


class SlackRequests:
    """The route that receives Slack's requests.

    Outside `taken_by` it answers 503, so that Slack delivers the request again.
    """

    def __init__(self, on_refused: OnRefused = lambda _reason: None) -> None:
        self.route = web.post(EVENTS_PATH, self._handle)
        self.refusals = Refusals(on_refused)
        self._taken: tuple[AsyncApp, str] | None = None
        self._handling: set[asyncio.Task[object]] = set()

    @asynccontextmanager
    async def taken_by(self, app: AsyncApp, signing_secret: str) -> AsyncGenerator[None]:
        """Pass requests signed with the secret to `app`, which also answers url_verification.

        Leaving waits up to five seconds for the requests that are under way.
        """
        self._taken = app, signing_secret
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
        app, secret = taken
        self._handling.add(task)
        task.add_done_callback(self._handling.discard)
        try:
            async with asyncio.timeout(_BODY):
                body = await request.read()
        except TimeoutError:
            return web.Response(status=408, headers={"Connection": "close"})
        if refusal := refusal_of(body, request.headers, secret):
            await self.refusals.add(refusal)
            return web.Response(status=401)
        try:
            bolt_request = _read(body, request)
        except MalformedPayload as error:
            log.warning("Answered with 400, as Slack sends no such thing: %s", error)
            return web.Response(status=400, headers={"X-Slack-No-Retry": "1"})
        return await to_aiohttp_response(await app.async_dispatch(bolt_request))


def _read(body: bytes, request: web.Request) -> AsyncBoltRequest:
    """Return the Bolt request of a signed body. Raises MalformedPayload for an unknown shape."""
    try:
        text = body.decode()
        check_payload(parse_body(text, request.content_type))
    except (ValueError, RecursionError):
        raise MalformedPayload("a body that is neither JSON nor a form") from None
    return AsyncBoltRequest(
        body=text,
        query=request.query_string,
        headers=request.headers,  # type: ignore[arg-type]  # Bolt takes any mapping
    )
