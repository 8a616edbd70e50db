"""Personal settings in the Home tab."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.slack.intake.home.personal_form import PERSONAL_FORM, personal_form, preferences_of
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.home.view import SETTINGS
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]


def register(app: AsyncApp, home: HomeTab) -> None:
    """Listen to the button and its modal, which change the settings of the person who acts."""
    team, models = home.identity.team, home.admin.general_settings.models

    @app.action(SETTINGS)
    async def pressed(body: Body, ack: AsyncAck) -> None:
        now = await home.preferences.of(team, body["user"]["id"])
        await open_modal(home.clients, body, personal_form(now, models))
        await ack()

    @app.view(PERSONAL_FORM)
    async def sent(body: Body, view: Body, ack: AsyncAck) -> None:
        user = body["user"]["id"]
        before = await home.preferences.of(team, user)
        await home.preferences.change(team, user, preferences_of(view, before, models))
        home.refresh(user)
        await ack()
