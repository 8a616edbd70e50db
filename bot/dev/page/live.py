"""Changes of the workspace, pushed to an open page as rendered fragments.

The browser says what it shows with `{"channel": …, "thread": …, "tab": …}` and gets a list of
operations for that: `connected` once, `watching` for each place it named, then `message`, `remove`,
`status`, `prompts`, `modals`, `home`, `step`, `sidebar`, `redraw`. Changes of one burst are sent
once, in their last state.
"""

import asyncio
import json
from contextlib import suppress
from dataclasses import replace
from typing import Any

from aiohttp import WSMsgType, web

from bot.dev.page.address import Address
from bot.dev.page.screens import Screens
from bot.dev.workspace import Change, Workspace

Json = dict[str, Any]

BURST = 0.04  # seconds for which changes are gathered, so that a stream is drawn 25 times a second
MESSAGE_KINDS = frozenset(
    {"message", "message_changed", "message_deleted", "ephemeral", "reaction", "stream", "file"}
)


class LivePage:
    """One open page: reads what it shows, and writes what changed there."""

    def __init__(
        self, ws: Workspace, screens: Screens, socket: web.WebSocketResponse, at: Address
    ) -> None:
        self._ws = ws
        self._screens = screens
        self._socket = socket
        self._at = at
        self._pending: dict[tuple[str, ...], Change] = {}
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Serve until the browser closes the socket."""
        async with self._ws.subscribe() as changes:
            gathering = asyncio.create_task(self._gather(changes))
            sending = asyncio.create_task(self._send())
            try:
                await self._socket.send_json([{"op": "connected"}])
                await self._listen()
            finally:
                gathering.cancel()
                sending.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await asyncio.gather(gathering, sending)

    async def _listen(self) -> None:
        async for frame in self._socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            with suppress(ValueError):
                showing = json.loads(frame.data)
                if isinstance(showing, dict):
                    query = {key: str(value) for key, value in showing.items()}
                    self._at = self._screens.address(query | {"user": self._at.user})
            await self._socket.send_json([{"op": "watching"}])

    async def _gather(self, changes: Any) -> None:
        async for change in changes:
            self._pending[_key(change)] = change
            self._news.set()

    async def _send(self) -> None:
        while True:
            await self._news.wait()
            await asyncio.sleep(BURST)
            self._news.clear()
            pending, self._pending = self._pending, {}
            if operations := [op for change in pending.values() for op in self._operations(change)]:
                await self._socket.send_json(operations)

    def _operations(self, change: Change) -> list[Json]:
        if change.channel is None:
            return self._personal(change)
        if change.kind == "members":
            sidebar = {"op": "sidebar", "html": self._screens.sidebar(self._at)}
            return [sidebar, *([{"op": "redraw"}] if change.channel == self._at.channel else [])]
        channel = self._ws.channels.get(change.channel)
        is_shown = change.channel == self._at.channel
        if channel is None or not is_shown or self._at.user not in channel.members:
            return []
        if change.kind in MESSAGE_KINDS:
            return self._message(change, change.channel)
        if change.kind in ("status", "session", "prompts"):
            return self._status(change.thread_ts or "")
        return []

    def _personal(self, change: Change) -> list[Json]:
        user = self._at.user
        if change.user != user:
            return []
        if change.kind.startswith("view_"):
            return [{"op": "modals", "html": self._screens.modals(user)}]
        if change.kind == "workflow":
            execution = change.data["execution"]
            html = self._screens.step(user, execution)
            return [{"op": "step", "execution": execution, "html": html}]
        return [{"op": "home", "html": self._screens.home(user)}] if change.kind == "home" else []

    def _message(self, change: Change, channel: str) -> list[Json]:
        if change.ts is None or (change.kind == "ephemeral" and change.user != self._at.user):
            return []
        message = self._find(channel, change.ts)
        where: Json = {"channel": channel, "ts": change.ts}
        if message is None:
            root = self._root(channel, change.thread_ts, change.ts)
            return [{"op": "remove", **where}, *root]
        thread = message.get("thread_ts") or ""
        operations = [{"op": "message", **where, **self._drawn(message, thread)}]
        return operations + self._root(channel, thread, change.ts)

    def _drawn(self, message: Json, thread: str) -> Json:
        """Return the message's HTML for each place; None where it is not shown."""
        is_root = not thread or thread == message["ts"]
        in_channel = is_root or message.get("subtype") == "thread_broadcast"
        shown_thread = self._at.thread_ts
        in_thread = bool(shown_thread) and shown_thread in (thread, message["ts"])
        draw = self._screens.message
        return {
            "thread": thread,
            "author": message.get("user", ""),
            "in_channel": draw(self._at, message, "channel") if in_channel else None,
            "in_thread": draw(self._at, message, "thread") if in_thread else None,
        }

    def _root(self, channel: str, thread: str | None, ts: str) -> list[Json]:
        """Return the update of a reply's root: its count of replies has changed."""
        root = self._ws.store.get(channel, thread) if thread and thread != ts else None
        if root is None:
            return []
        html = self._screens.message(self._at, root, "channel")
        where = {
            "channel": channel,
            "ts": root["ts"],
            "thread": thread,
            "author": root.get("user", ""),
        }
        return [{"op": "message", **where, "in_channel": html, "in_thread": None}]

    def _find(self, channel: str, ts: str) -> Json | None:
        store = self._ws.store
        return store.get(channel, ts) or store.ephemeral(channel, ts, self._at.user)

    def _status(self, thread_ts: str) -> list[Json]:
        at = replace(self._at, thread_ts=thread_ts)
        where: Json = {"channel": at.channel, "thread": thread_ts}
        html, inline = (self._screens.status(at, thread_ts, inline=i) for i in (False, True))
        return [
            {"op": "status", **where, "html": html, "inline": inline},
            {"op": "prompts", **where, "html": self._screens.prompts(at, thread_ts)},
        ]


def _key(change: Change) -> tuple[str, ...]:
    """Return what changes have in common when the last of them is enough."""
    if change.kind in MESSAGE_KINDS:
        kind = "message" if change.kind == "message" else "changed"
        return (kind, change.channel or "", change.ts or "")
    if change.kind == "workflow":
        return (change.kind, change.data["execution"])
    return (change.kind, change.channel or "", change.thread_ts or "", change.user or "")
