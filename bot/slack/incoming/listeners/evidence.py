"""*Show evidence* and the pages of its modal."""

from __future__ import annotations

import re
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import MalformedPayload, NotPermitted
from bot.slack.actions.button_payload import ButtonPress
from bot.slack.actions.modals import notice_modal
from bot.slack.actions.open_modal import open_modal
from bot.slack.actions.show_evidence import EvidenceDialog
from bot.slack.incoming.listeners.actions import tell
from bot.slack.render import buttons, evidence_words
from bot.slack.transport.background_tasks import Background
from bot.slack.transport.client import Clients
from bot.slack.transport.payloads import value_of, view_of

Body = dict[str, Any]


def register(
    app: AsyncApp, clients: Clients, dialog: EvidenceDialog, background: Background
) -> None:
    """Listen to the button of an answer, and to Back and Next.

    Each press checks the rights again.
    """

    @app.action(buttons.EVIDENCE)
    async def show(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            view = await dialog.page(press.value, 0, press.user)
        except NotPermitted as refusal:
            background.start(tell(clients, press, str(refusal)), "ephemeral reply")
        else:
            await open_modal(clients, body, view)
        await ack()

    @app.action(re.compile(f"^{buttons.EVIDENCE_PAGE}_(back|next)$"))
    async def turn(body: Body, action: Body, ack: AsyncAck) -> None:
        run_id, _, number = value_of(action).rpartition(":")
        if not number.isdecimal():
            raise MalformedPayload("a page of evidence without a number")
        try:
            view = await dialog.page(run_id, int(number), body["user"]["id"])
        except NotPermitted as refusal:
            view = notice_modal(evidence_words.TITLE(), str(refusal))
        await clients.writes.views_update(view_id=view_of(body)["id"], view=view)
        await ack()
