"""The whole bot, as `bot serve` builds it, in a stand-in workspace with a scripted model service."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from inspect import isawaitable
from typing import Any

from pydantic import SecretStr

from bot.app.process import bot
from bot.dev.model import ModelRequest, ResponsesServer
from bot.dev.workspace import Workspace
from bot.evals.trials import run_trial_case
from bot.settings import Settings
from bot.slack.settings import CatchUpSettings

MODEL = "gpt-5.4-mini"
A_MOMENT = 1.2
"""Seconds after which a run has its message: one that ends before posts its answer alone."""
_SHOWN = ("chat.postMessage", "chat.update", "chat.postEphemeral")


@dataclass(frozen=True)
class Deployment:
    """A running bot and the two stand-ins it works with."""

    ws: Workspace
    api: ResponsesServer

    async def ask(
        self, user: str, channel: str, text: str, thread: str | None = None, **more: Any
    ) -> str:
        """Mention the bot; returns the ts of the message."""
        said = await self.ws.say(user, channel, f"<@{self.ws.bot_user_id}> {text}", thread, **more)
        return str(said["ts"])

    def own(self, channel: str, thread: str) -> list[dict[str, Any]]:
        """What the bot has standing in a thread; in a direct message also what it wrote there since."""
        there = self.ws.messages(channel, thread)
        if channel.startswith("D"):
            there += [m for m in self.ws.messages(channel) if float(m["ts"]) > float(thread)]
        return [m for m in there if m.get("user") == self.ws.bot_user_id]

    def terminals(self, channel: str, thread: str) -> list[dict[str, Any]]:
        """Messages of the bot in a thread that are no progress: first parts of a run's end."""
        return [m for m in self.own(channel, thread) if is_terminal(m)]

    async def answered(
        self, channel: str, thread: str, count: int = 1, seconds: float = 15
    ) -> list[dict[str, Any]]:
        """The terminals of a thread, once there are `count`."""

        def enough() -> list[dict[str, Any]]:
            found = self.terminals(channel, thread)
            return found if len(found) >= count else []

        return await self.ws.until(enough, seconds)

    def sent(self) -> Iterator[dict[str, Any]]:
        """The arguments of every call that showed or could show something to people."""
        for effect in self.ws.effects:
            yield effect.args


def is_terminal(message: dict[str, Any]) -> bool:
    """True for the first message of a run that is over."""
    metadata = message.get("metadata") or {}
    payload = metadata.get("event_payload") or {}
    kinds = {block["type"] for block in message.get("blocks") or ()}
    return metadata.get("event_type") == "run" and payload.get("part") == 0 and "plan" not in kinds


@asynccontextmanager
async def deployed(
    brain: Callable[..., Any], redis_url: str, **settings: Any
) -> AsyncGenerator[Deployment]:
    """A bot that answers in a fresh workspace with what `brain` decides. Raises at the end what that
    raised: a run that fails for it does nothing wrong, and would let tests pass."""
    raised: list[Exception] = []
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=_watched(brain, raised)) as api,
        bot(configured(ws, api, redis_url, **settings), run_case=run_trial_case),
    ):
        yield Deployment(ws, api)
    for error in raised:
        raise error


def _watched(brain: Callable[..., Any], raised: list[Exception]) -> Callable[..., Any]:
    async def think(request: ModelRequest) -> Any:
        try:
            reply = brain(request)
            return await reply if isawaitable(reply) else reply
        except Exception as error:
            raised.append(error)
            raise

    return think


def configured(ws: Workspace, api: ResponsesServer, redis_url: str, **more: Any) -> Settings:
    """Settings of a bot between the two stand-ins."""
    values: dict[str, Any] = {
        "slack_bot_token": SecretStr(ws.bot_token),
        "slack_app_token": SecretStr(ws.app_token),
        "slack_signing_secret": SecretStr(ws.signing_secret),
        "slack_api_url": ws.api_url,
        "openai_api_key": SecretStr(api.api_key),
        "openai_base_url": api.url,
        "openai_model": MODEL,
        "redis_url": redis_url,
        "catch_up": CatchUpSettings(every_minutes=0),  # tests count calls
    }
    return Settings(_env_file=None, **(values | more))
