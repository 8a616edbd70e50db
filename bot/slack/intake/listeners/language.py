"""The language in which the bot speaks to whoever pressed, typed a command or opened something."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from slack_bolt.context.async_context import AsyncBoltContext
from slack_bolt.response import BoltResponse

from bot.slack.edge.people_and_channels import (
    People,
)
from bot.slack.intake.slack_app import SlackApp
from bot.text.translation import speak

_SPOKEN_TO = {"app_home_opened", "app_context_changed", "agent_session_stopped"}
"""Events after which the bot speaks to their person; `Intake` does it for messages to the bot."""
_OTHERWISE = "en-US"
_SECONDS = 1.0  # Slack waits three for a modal


def register(app: SlackApp) -> None:
    """Run the listeners of interactions in the language of their person.

    Other events are not looked at, as most messages in a channel are not for the bot.
    """

    @app.bolt.middleware
    async def in_their_language(
        body: dict[str, Any],
        context: AsyncBoltContext,
        next_: Callable[[], Awaitable[BoltResponse]],
    ) -> BoltResponse:
        event, user = body.get("event"), context.user_id
        is_spoken_to = user and (not event or event.get("type") in _SPOKEN_TO)
        # Bolt runs the listener after this has returned, in the same task.
        speak(await _locale(app.people, user) if user and is_spoken_to else _OTHERWISE)
        return await next_()


async def _locale(people: People, user: str) -> str:
    try:
        async with asyncio.timeout(_SECONDS):
            return await people.locale(user)
    except TimeoutError:
        return _OTHERWISE
