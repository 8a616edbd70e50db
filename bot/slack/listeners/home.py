"""Somebody opened the bot: its Home tab, or a direct message with it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.runs.budgets import Standing
from bot.slack.access import Access
from bot.slack.background import Background
from bot.slack.beside import channel_beside
from bot.slack.client import Clients, Identity
from bot.slack.home import home_view, suggested_prompts

UsageOf = Callable[[str, str], Awaitable[Sequence[Standing]]]
"""What a person (team, user) has used of the model service."""


def register(
    app: AsyncApp,
    identity: Identity,
    clients: Clients,
    access: Access,
    background: Background,
    usage_of: UsageOf,
) -> None:
    """Listen to the opening of either, and to what is open beside it."""

    async def suggest(direct: str, beside: str | None) -> None:
        place = await access.place(beside, otherwise="") if beside else ""
        await clients.writes.assistant_threads_setSuggestedPrompts(
            channel_id=direct, prompts=suggested_prompts(place)
        )

    async def publish(user: str) -> None:
        view = home_view(identity.name, await usage_of(identity.team, user))
        await clients.writes.views_publish(user_id=user, view=view)

    @app.event("app_home_opened")
    async def opened(event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            background.start(publish(event["user"]), "Home tab")
        elif event.get("channel"):
            background.start(suggest(event["channel"], None), "suggested prompts")

    @app.event("app_context_changed")
    async def looked_elsewhere(event: dict[str, Any]) -> None:
        beside = channel_beside(event.get("context"))
        if event.get("channel"):
            background.start(suggest(event["channel"], beside), "suggested prompts")
