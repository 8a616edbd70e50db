"""A browser's requests to the page, over real sockets."""

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import aiohttp

from bot.dev.workspace import ADA, Workspace

GENERAL, SALES, FINANCE = "C0GENERAL1", "C0SALES001", "C0FINANCE1"
NOTICE = "This is a demo."
SHORTCUTS = [
    {"name": "Ask about this…", "type": "message", "callback_id": "ask_about", "description": "d"},
    {"name": "Ask…", "type": "global", "callback_id": "ask_global", "description": "d"},
]
COMMANDS = [{"command": "/ask", "description": "Ask a question", "usage_hint": "question"}]


@dataclass
class Browser:
    """A browser's requests to the page, and the workspace behind it."""

    ws: Workspace
    http: aiohttp.ClientSession

    async def text(self, path: str, **query: str) -> str:
        async with self.http.get(path, params=query) as answer:
            assert answer.status == 200
            text: str = await answer.text()
            return text

    async def do(self, **body: Any) -> tuple[int, dict[str, Any]]:
        async with self.http.post("/page/do", json={"user": ADA, **body}) as answer:
            return answer.status, await answer.json()

    async def say(self, text: str, channel: str = GENERAL, user: str = ADA, files=(), **more: str):
        fields = {"user": user, "channel": channel, "text": text, **more}
        form = aiohttp.FormData(fields, quote_fields=False, default_to_multipart=True)
        for name, content in files:
            form.add_field("file", content, filename=name)
        async with self.http.post("/page/say", data=form) as answer:
            return answer.status, await answer.json()

    async def slack(self, method: str, **body: Any) -> dict[str, Any]:
        """Call a method of Slack's Web API as the app."""
        headers = {"Authorization": f"Bearer {self.ws.bot_token}"}
        async with self.http.post(f"/api/{method}", json=body, headers=headers) as answer:
            found: dict[str, Any] = await answer.json()
            assert found["ok"], found
            return found

    @asynccontextmanager
    async def live(self, user: str = ADA, **showing: str):
        async with self.http.ws_connect("/page/live", params={"user": user, **showing}) as socket:
            yield Live(socket)


@dataclass
class Live:
    """The operations an open page receives."""

    socket: aiohttp.ClientWebSocketResponse

    async def until(self, wanted: str, **fields: str) -> dict[str, Any]:
        """Return the next operation of this kind with these fields."""
        async with asyncio.timeout(5):
            while True:
                for op in await self.socket.receive_json():
                    if op["op"] == wanted and all(op.get(k) == v for k, v in fields.items()):
                        found: dict[str, Any] = op
                        return found
