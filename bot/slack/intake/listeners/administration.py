"""Buttons of admins that raise a budget."""

from __future__ import annotations

import re
from typing import Any

from pydantic import ValidationError
from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.budgets import OverBudget
from bot.core.errors import NotPermitted
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients
from bot.slack.edge.payloads import value_of
from bot.slack.intake.home.admin import Admin
from bot.slack.ui import buttons, words
from bot.slack.ui.button_payload import channel_of, thread_of

_STEP = re.compile(f"^{buttons.RAISE}_({'|'.join(buttons.RAISE_TIMES)})$")

Body = dict[str, Any]


def register(app: AsyncApp, clients: Clients, admin: Admin, background: Background) -> None:
    """Listen to the buttons, and announce a raised budget in the thread.

    Under a private answer only the person who pressed sees the announcement.
    """

    @app.action(_STEP)
    async def pressed(body: Body, action: Body, ack: AsyncAck) -> None:
        private = bool((body.get("container") or {}).get("is_ephemeral"))
        try:
            notice = await _raised(admin, body, action)
        except NotPermitted as refusal:
            notice, private = str(refusal), True
        background.start(tell(body, notice, private=private), "saying that a budget was raised")
        await ack()

    async def tell(body: Body, notice: str, *, private: bool) -> None:
        channel, thread = channel_of(body), thread_of(body)
        if private:
            await clients.writes.chat_postEphemeral(
                channel=channel, user=body["user"]["id"], thread_ts=thread, text=notice
            )
        else:
            await clients.writes.chat_postMessage(
                channel=channel,
                thread_ts=thread,
                text=notice,
                unfurl_links=False,
                unfurl_media=False,
            )


async def _raised(admin: Admin, body: Body, action: Body) -> str:
    step = str(action["action_id"]).rpartition("_")[2]
    try:
        over = OverBudget.model_validate_json(value_of(action))
    except ValidationError:
        raise NotPermitted(words.NOT_OURS()) from None
    return await admin.raise_budget(
        body["user"]["id"], channel_of(body), over, buttons.RAISE_TIMES[step]
    )
