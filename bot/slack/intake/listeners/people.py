"""Changes of people: a new name or role counts at once, and who leaves loses their accounts."""

from __future__ import annotations

from typing import Any

from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Listen to changes of people."""

    @app.bolt.event("user_change")
    async def changed(event: dict[str, Any]) -> None:
        user = event["user"]
        app.people.forget(user["id"])
        if user.get("deleted"):
            for part in app.parts:
                await part.person_left(user["id"])
