"""Changes of people: a new name or role counts at once, and who leaves loses their accounts."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp

from bot.slack.edge.people import People
from bot.slack.intake.slack_part import SlackPart

Body = dict[str, Any]

OnLeft = Callable[[str], Awaitable[None]]
"""Called with the id of a person whose Slack account has ended."""


async def nothing_to_end(_user: str) -> None:
    """Do nothing: people have no accounts that could outlive them."""


def register(app: AsyncApp, people: People, on_left: OnLeft, features: Sequence[SlackPart]) -> None:
    """Listen to changes of people."""

    @app.event("user_change")
    async def changed(event: Body) -> None:
        user = event["user"]
        people.forget(user["id"])
        if user.get("deleted"):
            await on_left(user["id"])
            for feature in features:
                await feature.person_left(user["id"])
