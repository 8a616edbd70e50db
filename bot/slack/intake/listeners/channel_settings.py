"""Channel settings that admins change in the Home tab."""

from __future__ import annotations

import asyncio

from bot.core.ids import new_id
from bot.slack.intake.home.channel_form import (
    CHANNEL_FORM,
    RESET,
    channel_form,
    reset_done,
    settings_of,
    target,
)
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.home.view import CHANNEL
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.ui import home_words


def register(app: SlackApp, home: HomeTab) -> None:
    """Listen to the choice of a channel, its modal, and the button that resets it to bot.toml."""
    admin = home.admin

    async def place_of(channel: str) -> str:
        return await app.access.place(channel, otherwise=home_words.CHANNEL_UNSEEN())

    @app.button(CHANNEL)
    async def chosen(press: Press) -> None:
        channel = press.value
        if not channel:
            return
        current, place = await asyncio.gather(admin.channel(press.user, channel), place_of(channel))
        await press.open(channel_form(channel, place, current, admin.general_settings))
        home.refresh(press.user, choice=new_id("choice"))

    @app.modal(CHANNEL_FORM)
    async def sent(form: Submitted) -> None:
        channel = target(form.view)
        before = await admin.channel(form.user, channel)
        settings = settings_of(
            form.view,
            before,
            admin.is_tool,
            admin.general_settings.models,
            is_priced=admin.is_priced,
            bot=app.identity.user,
        )
        await admin.change_channel(form.user, channel, settings)
        home.refresh(form.user, choice=new_id("choice"))

    @app.button(RESET)
    async def reset(press: Press) -> None:
        channel = target(press.view)
        await admin.reset_channel(press.user, channel)
        await press.update(reset_done(await place_of(channel)))
        home.refresh(press.user, choice=new_id("choice"))
