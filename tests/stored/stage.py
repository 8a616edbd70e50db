"""A bot in processes of its own, installed through OAuth, for recordings and for the test on them."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import aiohttp

from bot.dev.model import ResponsesServer
from bot.dev.workspace import ADA, Workspace
from tests.faults.processes import environment, started
from tests.stored.model import Model
from tests.support.commands import Command, start
from tests.support.deployment import Deployment
from tests.support.ports import free_port
from tests.support.redis_process import redis_process

GENERAL, SALES, PARTNERS = "C0GENERAL1", "C0SALES001", "C0PARTNER1"
KEY = "c3RvcmVkLW5hbWVzLWFyZS1hbi1pbnRlcmZhY2UtMDE="
"""Encrypts and seals in recordings; it protects nothing."""


@dataclass
class Stage:
    """Local services, a Redis, and the settings of a bot between them."""

    ws: Workspace
    api: ResponsesServer
    model: Model
    redis_url: str
    folder: Path
    settings: dict[str, str]

    def use_secrets(self) -> None:
        """Give the bot the secrets that the workspace has by now."""
        self.settings |= {
            "SLACK_CLIENT_ID": self.ws.oauth.client_id,
            "SLACK_CLIENT_SECRET": self.ws.oauth.client_secret,
            "SLACK_SIGNING_SECRET": self.ws.signing_secret,
        }

    @property
    def bot(self) -> Deployment:
        return Deployment(self.ws, self.api)

    @property
    def log(self) -> Path:
        return self.folder / "log"

    def order(self, failpoint: str) -> Path:
        """Have the process killed when it comes by; returns the mark of its doing."""
        (self.folder / "orders" / failpoint).write_text("kill")
        return self.folder / "orders" / f"{failpoint}.taken"

    @asynccontextmanager
    async def serving(self) -> AsyncGenerator[Command]:
        """`bot serve`, which takes events over HTTP; killed at the end."""
        async with started("serve", self.settings, self.log) as process:
            await self.ws.listen_over_http(f"{self.base}/slack/events")
            yield process

    async def run(self, *arguments: str, **more: str) -> tuple[int, str]:
        """A command of the bot's, with some settings of its own; its exit code and output."""
        out = self.folder / "out"
        out.unlink(missing_ok=True)
        own = {key.upper(): value for key, value in more.items()}
        environment = {"PATH": os.environ["PATH"], **self.settings, **own}
        process = start(
            *arguments, environment=environment, folder=Path.cwd(), out=out, err=self.log
        )
        code = await process.wait()
        return code, out.read_text()

    async def install(self) -> None:
        """Have Ada install the app with a browser."""
        jar = aiohttp.CookieJar(unsafe=True)
        async with aiohttp.ClientSession(cookie_jar=jar) as browser:
            async with browser.get(f"{self.base}/slack/install") as page:
                [url] = re.findall(r'href="(http[^"]*authorize[^"]*)"', await page.text())
            cookies = {each.key: each.value for each in jar}
            header = "; ".join(f"{name}={value}" for name, value in cookies.items())
            back = self.ws.allow(unescape(url), ADA)
            async with browser.get(back, headers={"Cookie": header}) as page:
                assert page.status == 200, await page.text()

    @property
    def base(self) -> str:
        return f"http://127.0.0.1:{self.settings['PORT']}"


@asynccontextmanager
async def stage(model: Model, folder: Path, toml: str, *, lease: float) -> AsyncGenerator[Stage]:
    """A stage with nothing on it; `toml` is the bot's, with `{python}`, `{folder}` and `{lease}` to be
    filled in."""
    (folder / "orders").mkdir()
    filled = toml.replace("{python}", sys.executable).replace("{folder}", str(folder))
    filled = filled.replace("{lease}", str(lease))
    (folder / "bot.toml").write_text(filled)
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=model) as api,
        redis_process(folder, appendonly="no") as redis,
    ):
        port = free_port()
        ws.oauth.redirect_url = f"http://127.0.0.1:{port}/slack/oauth_redirect"
        settings = environment(
            ws,
            api,
            folder,
            slack_bot_token="",
            slack_app_token="",
            redis_url=redis.url,
            port=str(port),
            bot_public_url=f"http://127.0.0.1:{free_port()}",
            bot_failpoints=str(folder / "orders"),
            bot_encryption_keys=KEY,
        )
        made = Stage(ws, api, model, redis.url, folder, settings)
        made.use_secrets()
        yield made
