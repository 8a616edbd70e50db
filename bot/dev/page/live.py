"""Changes of the workspace, pushed to an open page as rendered fragments.

The browser says what it shows with `{"channel": …, "thread": …, "tab": …}` and gets a list of
operations for that: `message`, `remove`, `status`, `prompts`, `modals`, `home`, `step`, `sidebar`,
`kept`, `again`. Changes that come in a burst are sent once, as the workspace stands then.
"""

import asyncio
import json
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Any

from aiohttp import WSMsgType, web

from bot.dev.page.address import Address
from bot.dev.page.screens import Screens
from bot.dev.workspace import Change, Workspace

Json = dict[str, Any]

BURST = 0.04  # seconds that changes are gathered for, so that a stream is drawn 25 times a second
MESSAGE_KINDS = frozenset(
    {
        "message",
        "message_changed",
        "message_deleted",
        "ephemeral",
        "reaction",
        "pin",
        "stream",
        "file",
    }
)


class LivePage:
    """One open page: reads what it shows, writes what changed."""

    def __init__(
        self,
        ws: Workspace,
        screens: Screens,
        socket: web.WebSocketResponse,
        at: Address,
        window: str,
    ) -> None:
        self._ws = ws
        self._screens = screens
        self._socket = socket
        self._at = at
        self._window = window
        self._pending: dict[tuple[str, ...], Change] = {}
        self._news = asyncio.Event()

    async def run(self) -> None:
        """Serve until the browser closes the socket."""
        async with self._ws.subscribe() as changes:
            gathering = asyncio.create_task(self._gather(changes))
            sending = asyncio.create_task(self._send())
            try:
                await self._greet(self._modals())
                await self._listen()
            finally:
                gathering.cancel()
                sending.cancel()
                with suppress(asyncio.CancelledError, ConnectionError):
                    await asyncio.gather(gathering, sending)

    async def _greet(self, and_also: Sequence[Json] = ()) -> None:
        """From here on nothing is missed of what the page shows: up to which change it may have been."""
        watched = {"op": "watched", "changes": self._screens.changes}
        await self._socket.send_json([watched, *and_also])

    async def _listen(self) -> None:
        async for frame in self._socket:
            if frame.type is not WSMsgType.TEXT:
                continue
            with suppress(ValueError):
                asked = json.loads(frame.data)
                query = (
                    {key: str(value) for key, value in asked.items()}
                    if isinstance(asked, dict)
                    else {}
                )
                self._at = self._screens.address(query | {"user": self._at.user})
                if query.get("anew"):
                    await self._greet()

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
            operations = [op for change in pending.values() for op in self._operations(change)]
            sidebars = [op for op in operations if op["op"] == "sidebar"]
            others = [op for op in operations if op["op"] != "sidebar"]
            if operations:
                await self._socket.send_json(others + sidebars[-1:])

    def _operations(self, change: Change) -> list[Json]:
        if change.channel is None:
            return self._personal(change)
        if change.kind in ("channel", "members"):
            return self._place(change, change.channel)
        if not self._is_visible(change.channel):
            return []
        if change.kind in MESSAGE_KINDS:
            return self._message(change, change.channel)
        if change.kind in ("status", "session", "prompts") and change.channel == self._at.channel:
            return self._status(change.thread_ts or "")
        return []

    def _personal(self, change: Change) -> list[Json]:
        user = self._at.user
        if change.user != user:
            return []
        if change.kind.startswith("view_"):
            return self._modals()
        if change.kind == "workflow":
            execution = change.data["execution"]
            html = self._screens.step(user, execution)
            return [{"op": "step", "execution": execution, "html": html}]
        return [{"op": "home", "html": self._screens.home(user)}] if change.kind == "home" else []

    def _modals(self) -> list[Json]:
        """The modal on top where the person is; none in every window when there is none."""
        user = self._at.user
        if self._ws.views(user) and not self._screens.windows.is_used(user, self._window):
            return []
        return [{"op": "modals", "html": self._screens.modals(user)}]

    def _place(self, change: Change, channel: str) -> list[Json]:
        """The sidebar; and what is kept in the conversation on the screen, or all of it anew."""
        operations = [self._sidebar()]
        if channel == self._at.channel and change.kind == "members":
            operations.append({"op": "again"})
        elif channel == self._at.channel and change.kind == "channel":
            html = self._screens.kept(self._at)
            operations.append({"op": "kept", "channel": channel, "html": html})
        return operations

    def _is_visible(self, channel_id: str) -> bool:
        channel = self._ws.channels.get(channel_id)
        return channel is not None and self._at.user in channel.members

    def _message(self, change: Change, channel: str) -> list[Json]:
        if channel != self._at.channel or change.ts is None:
            return []
        if change.kind == "ephemeral" and change.user != self._at.user:
            return []
        message = self._find(channel, change.ts)
        where: Json = {"channel": channel, "ts": change.ts}
        if message is None:
            root = self._root(channel, change.thread_ts, change.ts)
            return [{"op": "remove", **where}, *root]
        thread = message.get("thread_ts") or ""
        operations = [{"op": "message", **where, **self._drawn(message, thread)}]
        return operations + self._root(channel, thread, change.ts)

    def _sidebar(self) -> Json:
        return {"op": "sidebar", "html": self._screens.sidebar(self._at)}

    def _drawn(self, message: Json, thread: str) -> Json:
        """The message in each place it appears in; None where it does not."""
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
        """The root of a reply's thread, whose count of replies has changed."""
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
    """What two changes share when the later one says it all."""
    if change.kind in MESSAGE_KINDS:
        kind = "message" if change.kind == "message" else "changed"
        return (kind, change.channel or "", change.ts or "")
    if change.kind == "workflow":
        return (change.kind, change.data["execution"])
    return (change.kind, change.channel or "", change.thread_ts or "", change.user or "")
