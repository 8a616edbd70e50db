"""*Show evidence* and the pages of its modal."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import partial
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from typing_extensions import override

from bot.core.errors import MalformedPayload, NotPermitted
from bot.features.evidence import words
from bot.features.evidence.dialog import EvidenceDialog
from bot.features.evidence.modal import PAGE, SHOW
from bot.runs.context.run_loader import read_before
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients
from bot.slack.edge.payloads import value_of, view_of
from bot.slack.intake.listeners.actions import tell
from bot.slack.intake.slack_part import SlackPart, SlackPartDeps
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.modals import notice_modal
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]


@dataclass(frozen=True, slots=True)
class EvidenceListeners(SlackPart):
    """The listeners of one workspace. Each press checks the rights again."""

    dialog: EvidenceDialog
    clients: Clients
    background: Background

    @classmethod
    def of(cls, deps: SlackPartDeps) -> EvidenceListeners:
        """Return the listeners of a workspace."""
        slack, stores = deps.slack, deps.stores
        dialog = EvidenceDialog(
            slack.identity.team,
            deps.questions,
            slack.access,
            answer_of=stores.runs.answer,
            ledger_of=partial(read_before, stores),
        )
        return cls(dialog, slack.clients, deps.background)

    @override
    def register(self, app: AsyncApp) -> None:
        """Listen to the button of an answer, and to Back and Next."""
        app.action(SHOW)(self._show)
        app.action(re.compile(f"^{PAGE}_(back|next)$"))(self._turn)

    async def _show(self, body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            view = await self.dialog.page(press.value, 0, press.user)
        except NotPermitted as refusal:
            self.background.start(tell(self.clients, press, str(refusal)), "ephemeral reply")
        else:
            await open_modal(self.clients, body, view)
        await ack()

    async def _turn(self, body: Body, action: Body, ack: AsyncAck) -> None:
        run_id, _, number = value_of(action).rpartition(":")
        if not number.isdecimal():
            raise MalformedPayload("a page of evidence without a number")
        try:
            view = await self.dialog.page(run_id, int(number), body["user"]["id"])
        except NotPermitted as refusal:
            view = notice_modal(words.TITLE(), str(refusal))
        await self.clients.writes.views_update(view_id=view_of(body)["id"], view=view)
        await ack()
