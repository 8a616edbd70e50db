"""Questions of servers: the modals in which people answer them. Cards decide like all others."""

from __future__ import annotations

from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.approvals import Verdict
from bot.core.errors import NotPermitted
from bot.features.server_questions import words as input_words
from bot.features.server_questions.cards import (
    INPUT_FORM,
    Opened,
    WrongInput,
    input_modal,
    opened_by,
    typed_answer,
)
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import Clients
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.listeners.actions import tell
from bot.slack.ui import buttons
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.modals import notice_modal
from bot.slack.ui.open_modal import open_modal

Body = dict[str, Any]


def register(
    app: AsyncApp, clients: Clients, decisions: ApprovalDecisions, background: Background
) -> None:
    """Listen to the button that opens the modal of a question, and to what it submits.

    An answer is stored before the submission is acknowledged.
    """

    @app.action(buttons.OPEN_INPUT)
    async def open_input(body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            shown, approval = await decisions.approval_of(press)
            await decisions.check_may_decide(approval, press.user)
            opened = Opened(shown=shown, channel=press.channel, message=press.message, at=press.at)
            await open_modal(clients, body, input_modal(approval, opened))
        except NotPermitted as refusal:
            background.start(tell(clients, press, str(refusal)), "ephemeral reply")
        await ack()

    @app.view(INPUT_FORM)
    async def answer_input(body: Body, view: Body, ack: AsyncAck) -> None:
        press = _submitted(opened_by(view), str(body["user"]["id"]))
        try:
            shown, approval = await decisions.approval_of(press)
            filled_in = typed_answer(approval, view)
            await decisions.answer(press, shown, approval, Verdict.APPROVED, filled_in)
        except WrongInput as wrong:
            await ack(response_action="errors", errors=wrong.errors)
        except NotPermitted as refusal:
            notice = notice_modal(input_words.FORM_TITLE(), str(refusal))
            await ack(response_action="update", view=notice)
        else:
            await ack()

    @app.action(buttons.VISIT_PAGE)
    async def visit(ack: AsyncAck) -> None:
        """Acknowledge the press of a link, which the browser opens by itself."""
        await ack()


def _submitted(opened: Opened, user: str) -> ButtonPress:
    """Return a submitted modal as a press on the card from which it was opened."""
    return ButtonPress(
        action=INPUT_FORM,
        value=opened.shown.model_dump_json(),
        user=user,
        channel=opened.channel,
        thread=None,
        message=opened.message,
        at=opened.at,
    )
