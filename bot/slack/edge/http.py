"""HTTP endpoint for Slack's signed requests, which are passed to the Bolt app.

The signature is checked before the body is parsed, so an unsigned request costs no look-up; the
body must then have the shape that Slack documents. Refused requests are counted, and logged once a
minute by reason. Slack shows neither a wrong secret nor a wrong clock to the operator; the check
tells them apart, because it verifies the signature of an old request too, which only the owner of
the secret can make.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from aiohttp import web
from slack_bolt.adapter.aiohttp import to_aiohttp_response
from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.request.internals import parse_body
from typing_extensions import override

from bot.core.errors import MalformedPayload, StoreError
from bot.slack.edge.payloads import check_payload

log = logging.getLogger(__name__)

Reason = Literal["signature", "age", "missing headers"]
OnRefused = Callable[[Reason], None]
"""Called for each refused request; must return at once."""
KeepRefusals = Callable[[Reason, int, int], Awaitable[None]]
"""Stores for `bot doctor` the reason, the number of refused requests, and the last clock skew."""

OLDEST = 300  # seconds, as Slack's guide recommends
_LOG_EVERY = 60.0  # seconds
_STORE_TIMEOUT = 2.0  # seconds
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A refused request: the reason, and its clock skew.

    `skew` is the number of seconds by which this machine's clock is ahead of the request's time.
    """

    reason: Reason
    skew: int = 0

    @override
    def __str__(self) -> str:
        if self.reason == "age":
            side = "ahead of" if self.skew > 0 else "behind"
            return (
                f"the secret is right, but this machine's clock is {abs(self.skew)} s {side} "
                "Slack's, or an old request was played back; set the machine's clock (NTP)"
            )
        if self.reason == "missing headers":
            return "they carry no signature: they do not come from Slack"
        off = f"; their time is {abs(self.skew)} s off, too" if abs(self.skew) > OLDEST else ""
        return (
            "they are not signed with SLACK_SIGNING_SECRET: copy it again from the app's Basic "
            f"Information, or they do not come from Slack{off}"
        )


def refusal_of(body: bytes, headers: Mapping[str, str], secret: str) -> RefusedRequest | None:
    """Return why a request is refused; None when Slack signed it less than five minutes ago.

    `headers` must be a case-insensitive mapping.
    """
    stamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
    if not signature or not (stamp.isascii() and stamp.isdigit()) or len(stamp) > 15:
        return RefusedRequest("missing headers")
    signed = hmac.new(secret.encode(), b"v0:%s:%s" % (stamp.encode(), body), sha256)
    skew = int(time.time()) - int(stamp)
    expected, received = f"v0={signed.hexdigest()}", signature.encode("utf-8", "replace")
    if not hmac.compare_digest(expected.encode(), received):
        return RefusedRequest("signature", skew)
    return RefusedRequest("age", skew) if abs(skew) > OLDEST else None


class Refusals:
    """A counter of refused requests, which logs each reason at most once a minute.

    `keep`, if set, stores the counts for `bot doctor`.
    """

    def __init__(self, on_refused: OnRefused) -> None:
        self.keep: KeepRefusals | None = None
        self._on_refused = on_refused
        self._unlogged: Counter[Reason] = Counter()
        self._logged_at: dict[Reason, float] = {}

    async def add(self, refused: RefusedRequest) -> None:
        """Count a refused request, and log it with what to do when a minute has passed."""
        reason = refused.reason
        self._on_refused(reason)
        self._unlogged[reason] += 1
        now = asyncio.get_running_loop().time()
        if now - self._logged_at.get(reason, -_LOG_EVERY) < _LOG_EVERY:
            return
        self._logged_at[reason], count = now, self._unlogged.pop(reason)
        log.warning("Refused %d requests under Slack's address: %s", count, str(refused))
        if self.keep is not None:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(_STORE_TIMEOUT):
                    await self.keep(reason, count, refused.skew)


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
