"""Channel settings that admins change in the Home tab."""

from __future__ import annotations

import asyncio
import logging
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.core.ids import new_id
from bot.slack.edge.client import Clients
from bot.slack.edge.membership import ChannelMembership
from bot.slack.edge.payloads import view_of
from bot.slack.intake.home.channel_form import (
    CHANNEL_FORM,
    RESET,
    WrongField,
    channel_form,
    reset_done,
    settings_of,
    target,
)
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.home.view import CHANNEL
from bot.slack.ui import home_words
from bot.slack.ui.open_modal import open_modal

log = logging.getLogger(__name__)

Body = dict[str, Any]


def register(app: AsyncApp, clients: Clients, access: ChannelMembership, home: HomeTab) -> None:
    """Listen to the choice of a channel, its modal, and the button that resets it to bot.toml."""
    admin = home.admin

    async def form(user: str, channel: str) -> Body:
        current, place = await asyncio.gather(
            admin.channel(user, channel),
            access.place(channel, otherwise=home_words.CHANNEL_UNSEEN()),
        )
        return channel_form(channel, place, current, admin.general_settings)

    @app.action(CHANNEL)
    async def chosen(body: Body, action: Body, ack: AsyncAck) -> None:
        channel = action.get("selected_conversation")
        try:
            if channel:
                view = await form(body["user"]["id"], channel)
                await open_modal(clients, body, view)
                home.refresh(body["user"]["id"], choice=new_id("choice"))
        except NotPermitted:  # a forged payload: nobody but admins has the choice
            log.warning("%s asked for the settings of a channel", body["user"]["id"])
        await ack()

    @app.view(CHANNEL_FORM)
    async def sent(body: Body, view: Body, ack: AsyncAck) -> None:
        user, channel = body["user"]["id"], target(view)
        try:
            before = await admin.channel(user, channel)
            wanted = settings_of(
                view,
                before,
                admin.is_tool,
                admin.general_settings.models,
                is_priced=admin.is_priced,
                bot=home.identity.user,
            )
            await admin.change_channel(user, channel, wanted)
            home.refresh(user, choice=new_id("choice"))
        except WrongField as wrong:
            await ack(response_action="errors", errors=wrong.errors)
            return
        except NotPermitted:
            log.warning("%s sent the settings of a channel", user)
        await ack()

    @app.action(RESET)
    async def reset(body: Body, ack: AsyncAck) -> None:
        user, view = body["user"]["id"], view_of(body)
        try:
            await admin.reset_channel(user, target(view))
            done = reset_done(
                await access.place(target(view), otherwise=home_words.CHANNEL_UNSEEN())
            )
            await clients.writes.views_update(view_id=view["id"], view=done)
            home.refresh(user, choice=new_id("choice"))
        except NotPermitted:
            log.warning("%s reset the settings of a channel", user)
        await ack()
