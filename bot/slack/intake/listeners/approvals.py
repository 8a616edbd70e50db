"""Buttons of approval cards."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients, Identity
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.listeners.actions import tell
from bot.slack.ui import buttons
from bot.slack.ui.approval import approval_modal
from bot.slack.ui.approval_kinds import VERDICTS
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]


def register(
    app: AsyncApp,
    identity: Identity,
    clients: Clients,
    decisions: ApprovalDecisions,
    background: Background,
) -> None:
    """Listen to the buttons of approval cards.

    A decision is stored before the press is acknowledged. The run then shows it on the card.
    """

    async def decide(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            await decisions.press(press)
        except NotPermitted as refusal:
            background.start(tell(clients, press, str(refusal)), "ephemeral reply")
        await ack()

    for action_id in VERDICTS:
        app.action(action_id)(decide)

    @app.action(buttons.SHOW_ALL)
    async def show(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            _, approval = await decisions.approval_of(press)
            await open_modal(clients, body, approval_modal(approval, identity.canvas_link))
        except NotPermitted as refusal:
            background.start(tell(clients, press, str(refusal)), "ephemeral reply")
        await ack()
