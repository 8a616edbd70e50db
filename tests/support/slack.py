"""The whole bot, as `bot serve` runs it, in the stand-in workspace with a scripted model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from pydantic import SecretStr

from bot.app.process import bot
from bot.dev.model import ResponsesServer
from bot.dev.workspace import Workspace
from bot.settings import Settings
from bot.slack.settings import CatchUpSettings
from bot.slack.ui.buttons import MENU

GENERAL = "C0GENERAL1"


@dataclass(frozen=True, slots=True)
class Place:
    """A workspace with the bot in it, and the model service behind the bot."""

    slack: Workspace
    api: ResponsesServer

    def mention(self, text: str) -> str:
        return f"<@{self.slack.bot_user_id}> {text}"

    def posted(self) -> list[dict[str, Any]]:
        """What the bot posted or began to stream, as calls of Slack's Web API, in order."""
        begun = ("chat.postMessage", "chat.startStream")
        return [each.args for each in self.slack.effects if each.method in begun and each.ok]

    async def answered(self, thread: str, text: str, *, channel: str = GENERAL) -> dict[str, Any]:
        """The bot's message in the thread, or below it in a direct message, once it holds `text`."""

        def found() -> dict[str, Any] | None:
            replies = self.slack.messages(channel, thread)[1:]
            if channel.startswith("D"):
                every = self.slack.messages(channel)
                replies += [each for each in every if float(each["ts"]) > float(thread)]
            return next((each for each in replies if text in str(each.get("blocks"))), None)

        message = await self.slack.until(found)
        assert message is not None
        return message


async def choose(slack: Workspace, user: str, channel: str, ts: str, action: str) -> None:
    """Choose the entry with this action in the menu under an answer."""
    message = slack.store.ephemeral(channel, ts, user) or slack.store.get(channel, ts) or {}
    await slack.click(user, channel, ts, MENU, value=entry_of(message, action)["value"])


def entry_of(message: dict[str, Any], action: str) -> dict[str, Any]:
    """The entry with this action in the menu under an answer."""
    elements = [each for block in message["blocks"] for each in block.get("elements", ())]
    [menu] = [each for each in elements if each.get("action_id") == MENU]
    found: dict[str, Any] = next(
        each for each in menu["options"] if each["value"].startswith(f"{action} ")
    )
    return found


def chosen(message: dict[str, Any], action: str) -> dict[str, Any]:
    """What Slack sends in `actions` when that entry is chosen."""
    return {"type": "overflow", "action_id": MENU, "selected_option": entry_of(message, action)}


@asynccontextmanager
async def bot_in_slack(
    brain: Callable[..., Any], redis_url: str, *, port: int | None = None, **more: Any
) -> AsyncGenerator[Place]:
    """Over Socket Mode, or over HTTP when a `port` is given; `more` are other settings."""
    async with Workspace.open() as slack, ResponsesServer.open(brain=brain) as api:
        settings = Settings(
            slack_bot_token=SecretStr(slack.bot_token),
            slack_app_token=None if port else SecretStr(slack.app_token),
            slack_signing_secret=SecretStr(slack.signing_secret),
            slack_api_url=slack.api_url,
            openai_api_key=SecretStr(api.api_key),
            openai_base_url=api.url,
            openai_model="gpt-5.4-mini",
            redis_url=redis_url,
            port=port,
            catch_up=CatchUpSettings(every_minutes=0),
            **more,
        )
        async with bot(settings):
            if port:
                await slack.listen_over_http(f"http://127.0.0.1:{port}/slack/events")
            yield Place(slack, api)
