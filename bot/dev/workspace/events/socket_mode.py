"""Socket Mode: tickets, up to ten connections, envelopes and their acknowledgements."""

import asyncio
import json
import secrets
from contextlib import suppress

from aiohttp import WSMsgType, web

from bot.dev.workspace.errors import NotAnswered
from bot.dev.workspace.store.clock import Clock
from bot.dev.workspace.store.state import Json, State

MAX_CONNECTIONS = 10
TICKET_LIFETIME = 30.0
GRACE = 0.5  # seconds an app has to leave a connection it was asked to leave


class _Connection:
    def __init__(self, socket: web.WebSocketResponse, request: web.Request) -> None:
        self.socket = socket
        self.request = request
        self.waiting: dict[str, asyncio.Future[Json]] = {}
        self.gone = asyncio.Event()

    async def receive(self) -> None:
        """Pass acknowledgements to the senders that wait for them, until the socket closes."""
        async for message in self.socket:
            if message.type is not WSMsgType.TEXT:
                continue
            with suppress(json.JSONDecodeError):
                ack = json.loads(message.data)
                waiter = self.waiting.get(ack.get("envelope_id"))
                if waiter and not waiter.done():
                    waiter.set_result(ack.get("payload") or {})

    def lose(self) -> None:
        """Fail every sender that waits on this connection."""
        for waiter in self.waiting.values():
            if not waiter.done():
                waiter.set_exception(NotAnswered("connection_failed"))

    def abort(self) -> None:
        """Cut the connection without closing it, as a network failure does."""
        if self.request.transport is not None:
            self.request.transport.abort()


class SocketMode:
    """The server's side of Socket Mode; each envelope goes to one connection, in turn."""

    def __init__(self, state: State, clock: Clock) -> None:
        self._state = state
        self._clock = clock
        self.to_refuse = 0
        self.to_mute = 0
        self.grace = GRACE
        self._tickets: dict[str, float] = {}
        self._connections: list[_Connection] = []

    @property
    def count(self) -> int:
        """The number of open connections."""
        return len(self._connections)

    def new_url(self) -> str:
        """Return a WebSocket URL that works once."""
        ticket = secrets.token_hex(8)
        self._tickets[ticket] = self._clock.now()
        base = self._state.url.replace("http", "ws", 1)
        return f"{base}link/?ticket={ticket}&app_id={self._state.app_id}"

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Serve one connection for as long as it lasts."""
        born = self._tickets.pop(request.query.get("ticket", ""), None)
        if self.to_refuse:
            self.to_refuse -= 1
            raise web.HTTPServiceUnavailable
        if born is None or self._clock.now() > born + TICKET_LIFETIME:
            raise web.HTTPUnauthorized(text="stale ticket")
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        if self.to_mute:
            self.to_mute -= 1
            await _Connection(socket, request).receive()
            return socket
        if self.count >= MAX_CONNECTIONS:
            await socket.send_json(
                {"type": "disconnect", "reason": "too_many_websockets", "debug_info": {}}
            )
            await socket.close()
            return socket
        await self._serve(_Connection(socket, request))
        return socket

    async def send(
        self, kind: str, payload: Json, *, within: float, retry: int = 0, reason: str | None = None
    ) -> Json:
        """Send one envelope and wait for its acknowledgement. Raises NotAnswered."""
        if not self._connections:
            raise NotAnswered("no_connection")
        connection = self._connections.pop(0)
        self._connections.append(connection)
        envelope_id = f"{secrets.token_hex(4)}-{secrets.token_hex(6)}"
        envelope: Json = {
            "envelope_id": envelope_id,
            "type": kind,
            "accepts_response_payload": kind != "events_api",
            "payload": payload,
        }
        if kind == "events_api":
            envelope |= {"retry_attempt": retry, "retry_reason": reason or ""}
        return await self._exchange(connection, envelope, within)

    async def refresh(self, reason: str = "refresh_requested") -> None:
        """Ask every connection to reconnect; with "warning", only announce it.

        Otherwise a connection gets no more envelopes, and is closed if the app does not close it in
        time.
        """
        notice = {"type": "disconnect", "reason": reason, "debug_info": {"host": "local"}}
        for connection in list(self._connections):
            await connection.socket.send_json(notice)
        if reason == "warning":
            return
        leaving, self._connections = self._connections, []
        await asyncio.gather(*(self._retire(connection) for connection in leaving))

    def drop(self) -> None:
        """Cut every connection without a close frame."""
        for connection in list(self._connections):
            connection.abort()
            self._forget(connection)

    async def close(self) -> None:
        """Close every connection."""
        for connection in list(self._connections):
            await connection.socket.close()

    async def _serve(self, connection: _Connection) -> None:
        self._connections.append(connection)
        hello = {
            "type": "hello",
            "num_connections": self.count,
            "debug_info": {"host": "local", "approximate_connection_time": 18060},
            "connection_info": {"app_id": self._state.app_id},
        }
        try:
            await connection.socket.send_json(hello)
            await connection.receive()
        except ConnectionError:
            pass  # the app's end is gone, which counts as a close
        finally:
            self._forget(connection)

    def _forget(self, connection: _Connection) -> None:
        if connection in self._connections:
            self._connections.remove(connection)
        connection.gone.set()
        connection.lose()

    async def _retire(self, connection: _Connection) -> None:
        try:
            async with asyncio.timeout(self.grace):
                await connection.gone.wait()
        except TimeoutError:
            await connection.socket.close()

    async def _exchange(self, connection: _Connection, envelope: Json, within: float) -> Json:
        envelope_id = envelope["envelope_id"]
        waiter: asyncio.Future[Json] = asyncio.get_running_loop().create_future()
        connection.waiting[envelope_id] = waiter
        try:
            async with asyncio.timeout(within):
                await connection.socket.send_json(envelope)
                return await waiter
        except TimeoutError:
            raise NotAnswered("timeout") from None
        except ConnectionError:
            raise NotAnswered("connection_failed") from None
        finally:
            del connection.waiting[envelope_id]
            if waiter.done() and not waiter.cancelled():
                waiter.exception()  # retrieved, so that asyncio does not log it
