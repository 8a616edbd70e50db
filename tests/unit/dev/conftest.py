"""A fresh workspace with its app's own client, and an app on Socket Mode that a test scripts."""

import asyncio
import json

import aiohttp
import pytest
from slack_sdk.web.async_client import AsyncWebClient

from bot.dev.page import mount
from bot.dev.workspace import Workspace
from bot.dev.workspace.store.state import Json
from tests.unit.dev.page_kit import COMMANDS, NOTICE, SHORTCUTS, Browser


class RawApp:
    """An app that speaks Socket Mode without a library and acknowledges when told to."""

    def __init__(self, socket: aiohttp.ClientWebSocketResponse) -> None:
        self.socket = socket
        self.hello: Json = {}

    async def envelope(self) -> Json:
        async with asyncio.timeout(5):
            return dict(json.loads((await self.socket.receive()).data))

    async def ack(self, envelope: Json, payload: Json | None = None) -> None:
        answer = {"envelope_id": envelope["envelope_id"]}
        await self.socket.send_json(answer | ({"payload": payload} if payload else {}))

    async def next(self, payload: Json | None = None) -> Json:
        """Acknowledge the next envelope and return its payload."""
        envelope = await self.envelope()
        await self.ack(envelope, payload)
        return dict(envelope["payload"])


@pytest.fixture
async def ws():
    async with Workspace.open() as workspace:
        yield workspace


@pytest.fixture
async def session():
    async with aiohttp.ClientSession() as session:
        yield session


@pytest.fixture
def client(ws, session):
    return AsyncWebClient(
        token=ws.bot_token, base_url=ws.api_url, session=session, retry_handlers=[]
    )


@pytest.fixture
async def connect(ws, session):
    """Return a function that opens one more Socket Mode connection."""

    opened: list[RawApp] = []

    async def open_one() -> RawApp:
        web = AsyncWebClient(token=ws.app_token, base_url=ws.api_url, session=session)
        url = (await web.apps_connections_open(app_token=ws.app_token))["url"]
        app = RawApp(await session.ws_connect(url))
        opened.append(app)
        app.hello = await app.envelope()
        return app

    yield open_one
    for app in opened:
        await app.socket.close()


@pytest.fixture
async def app(connect):
    return await connect()


@pytest.fixture
async def browser():
    def mounted(app: aiohttp.web.Application, ws: Workspace) -> None:
        mount(app, ws, notice=NOTICE, shortcuts=SHORTCUTS, commands=COMMANDS)

    async with (
        Workspace.open(mount=mounted) as ws,
        aiohttp.ClientSession(ws.url) as http,
    ):
        yield Browser(ws, http)
