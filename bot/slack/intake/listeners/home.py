"""The Home tab and its buttons, and suggested prompts in direct messages."""

from __future__ import annotations

import logging
from typing import Any

from bot.features.home.home_tab import HomeTab
from bot.features.home.view import PAUSE, RESUME, suggested_prompts
from bot.slack.edge.payloads import channel_beside
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

Event = dict[str, Any]


def register(app: SlackApp, home: HomeTab) -> None:
    """Listen to opened Home tabs and direct messages, changed app contexts, and Home buttons."""

    async def suggest(user: str, direct: str, beside: str | None) -> None:
        if await home.refusal(user):
            return
        place = await app.access.place(beside, otherwise="") if beside else ""
        await app.clients.writes.assistant_threads_setSuggestedPrompts(
            channel_id=direct, prompts=suggested_prompts(place)
        )

    @app.bolt.event("app_home_opened")
    async def opened(event: Event) -> None:
        if event.get("tab") == "home":
            home.refresh(event["user"])
        elif event.get("channel"):
            suggesting = suggest(event["user"], event["channel"], None)
            app.background.start(suggesting, "suggested prompts")

    @app.bolt.event("app_context_changed")
    async def looked_elsewhere(event: Event) -> None:
        beside = channel_beside(event.get("context"))
        if event.get("channel"):
            suggesting = suggest(event["user"], event["channel"], beside)
            app.background.start(suggesting, "suggested prompts")

    _listen_to_buttons(app, home)


def _listen_to_buttons(app: SlackApp, home: HomeTab) -> None:
    """Listen to the buttons of the Home tab, which is published again after each press."""

    @app.button(PAUSE, RESUME)
    async def switched(press: Press) -> None:
        switch = home.admin.pause if press.action == PAUSE else home.admin.resume
        try:
            await switch(press.user)
        finally:
            home.refresh(press.user)
