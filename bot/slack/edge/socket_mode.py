"""Socket Mode with two connections: each is replaced when it stays down, and drained on close."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from aiohttp import ClientWebSocketResponse, WSMessage
from slack_bolt.adapter.socket_mode.aiohttp import AsyncSocketModeHandler
from slack_bolt.async_app import AsyncApp
from slack_sdk.errors import SlackApiError
from slack_sdk.socket_mode.aiohttp import SocketModeClient
from slack_sdk.socket_mode.request import SocketModeRequest
from slack_sdk.socket_mode.response import SocketModeResponse
from slack_sdk.web.async_client import AsyncWebClient
from typing_extensions import override

from bot.core.errors import ConfigurationError, MalformedPayload
from bot.slack.edge.client import TRANSPORT_ERRORS, error_code
from bot.slack.edge.payloads import check_payload

log = logging.getLogger(__name__)

_WRONG_TOKEN = {"invalid_auth", "not_authed", "not_allowed_token_type", "account_inactive"}
_CHECK_UP, _CHECK_DOWN = 0.5, 0.05  # seconds between checks of a connection
_PING = 3.0  # seconds between the SDK's checks whether to reconnect; its default is ten
_DRAIN = 5.0  # seconds for received events to be stored and acknowledged


class _Connection(AsyncSocketModeHandler):
    """One Socket Mode connection, which keeps references to the tasks that handle its events.

    The SDK keeps none, so a task could be garbage-collected while it awaits.
    """

    def __init__(self, app: AsyncApp, app_token: str, web_client: AsyncWebClient) -> None:
        super().__init__(app, app_token, web_client=web_client, ping_interval=_PING)
        self.client.proxy = None
        self.client.on_message_listeners.append(self._on_message)
        self._enqueue = self.client.enqueue_message
        self.client.enqueue_message = self._enqueue_frame  # type: ignore[method-assign]
        self._handling: set[asyncio.Task[object]] = set()
        self._draining = False
        self._greeted_session: ClientWebSocketResponse | None = None

    async def is_up(self) -> bool:
        """Return whether Slack has sent a message on this connection, and answers pings.

        A connection that opens and stays silent delivers no events either.
        """
        session = self._greeted_session
        is_greeted = session is not None and session is self.client.current_session
        return is_greeted and await self.client.is_connected()

    async def _on_message(self, _message: WSMessage) -> None:
        self._greeted_session = self.client.current_session

    async def _enqueue_frame(self, message: str) -> None:
        """Drop malformed frames, for which the SDK would log a traceback each."""
        try:
            frame = json.loads(message) if message.startswith("{") else {}
        except (ValueError, RecursionError):
            frame = None
        if frame is None or ("envelope_id" in frame and not isinstance(frame.get("payload"), dict)):
            log.warning(
                "Ignored, as Slack sends no such thing: a frame without a JSON object in it"
            )
        else:
            await self._enqueue(message)

    @override
    async def handle(self, client: SocketModeClient, req: SocketModeRequest) -> None:  # type: ignore[override]  # Bolt's own signature
        task = asyncio.current_task()
        if self._draining or task is None:
            return  # not acknowledged: Slack delivers the event to another connection, or later
        self._handling.add(task)
        try:
            check_payload(req.payload)
        except MalformedPayload as error:
            log.warning("Acknowledged and ignored, as Slack sends no such thing: %s", error)
            await client.send_socket_mode_response(SocketModeResponse(envelope_id=req.envelope_id))
        else:
            await super().handle(client, req)
        finally:
            self._handling.discard(task)

    async def drain_and_close(self) -> None:
        """Refuse new events, wait until the current ones are acknowledged, then close."""
        self._draining = True
        if self._handling:
            await asyncio.wait(set(self._handling), timeout=_DRAIN)
        await self.close_async()  # type: ignore[no-untyped-call]  # Bolt's


class SocketMode:
    """The state of the Socket Mode connections, each in a numbered slot."""

    def __init__(self, app: AsyncApp, app_token: str, web_client: AsyncWebClient) -> None:
        self._app = app
        self._app_token = app_token
        self._web_client = web_client
        self._up: set[int] = set()
        self._changed = asyncio.Condition()

    @property
    def connected(self) -> int:
        """The number of connections that are up."""
        return len(self._up)

    async def is_connected(self) -> bool:
        """Return whether at least one connection is up."""
        return self.connected > 0

    async def wait_connected(self, count: int) -> None:
        """Wait until `count` connections are up."""
        async with self._changed:
            await self._changed.wait_for(lambda: self.connected >= count)

    async def keep_connected(self, slot: int, patience: float) -> None:
        """Keep the connection of a slot open; replace it after `patience` seconds without one."""
        while True:
            connection = _Connection(self._app, self._app_token, self._web_client)
            connecting = asyncio.create_task(connection.connect_async())  # type: ignore[no-untyped-call]  # Bolt's
            try:
                await self._watch_until_down(connection, slot, patience)
            finally:
                await self._set_up(slot, is_up=False)
                connecting.cancel()
                await asyncio.gather(connecting, return_exceptions=True)
                await connection.drain_and_close()
            log.warning("Socket Mode connection %d was down for %.0f s: rebuilt", slot, patience)

    async def _watch_until_down(self, connection: _Connection, slot: int, patience: float) -> None:
        loop = asyncio.get_running_loop()
        last_up = loop.time()
        while loop.time() - last_up < patience:
            is_up = await connection.is_up()
            if is_up:
                last_up = loop.time()
            else:  # an address works once, but the SDK would retry a refused one forever
                connection.client.wss_uri = None
            if is_up != (slot in self._up):
                await self._set_up(slot, is_up=is_up)
            await asyncio.sleep(_CHECK_UP if is_up else _CHECK_DOWN)

    async def _set_up(self, slot: int, *, is_up: bool) -> None:
        (self._up.add if is_up else self._up.discard)(slot)
        async with self._changed:
            self._changed.notify_all()


@asynccontextmanager
async def socket_mode(
    app: AsyncApp,
    app_token: str,
    *,
    web_client: AsyncWebClient,
    connections: int = 2,
    patience: float = 30.0,
) -> AsyncGenerator[SocketMode]:
    """Receive events over Socket Mode, with two connections because Slack closes each regularly.

    `patience` is the number of seconds after which a connection that is down is replaced. Yields
    when the first connection is up, or after 10 s. Raises ConfigurationError for a wrong app token.
    """
    await _check_token(web_client, app_token)
    sockets = SocketMode(app, app_token, web_client)
    tasks = [
        asyncio.create_task(sockets.keep_connected(slot, patience), name=f"socket mode {slot}")
        for slot in range(connections)
    ]
    try:
        try:
            async with asyncio.timeout(10):
                await sockets.wait_connected(1)
        except TimeoutError:
            log.warning("Socket Mode is not connected yet; still trying")
        yield sockets
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _check_token(web_client: AsyncWebClient, app_token: str) -> None:
    """Raise ConfigurationError for a wrong token, with which the SDK would retry forever."""
    try:
        await web_client.apps_connections_open(app_token=app_token)
    except SlackApiError as error:
        if error_code(error) in _WRONG_TOKEN:
            raise ConfigurationError(
                f"SLACK_APP_TOKEN: Slack refuses this token ({error_code(error)}). Create an "
                "app-level token with the scope connections:write; it starts with xapp-."
            ) from None
        log.warning("Socket Mode could not be opened yet: %s", error_code(error))
    except TRANSPORT_ERRORS as error:
        log.warning("Slack could not be reached yet: %s", type(error).__name__)
