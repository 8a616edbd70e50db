"""Questions of servers: the modals in which people answer them. Cards decide like all others."""

from __future__ import annotations

from typing_extensions import override

from bot.core.approvals import Verdict
from bot.features.server_questions.cards import (
    INPUT_FORM,
    Opened,
    input_modal,
    opened_by,
    typed_answer,
)
from bot.slack.intake.press import ButtonPress, Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui import buttons


class QuestionListeners(SlackPart):
    """The modals of questions in one workspace."""

    def __init__(self, _app: SlackApp) -> None:
        """Keep nothing of the workspace."""

    @override
    def register(self, app: SlackApp) -> None:
        """Listen to the button that opens the modal of a question, and to what it submits.

        An answer is stored before the submission is acknowledged.
        """
        decisions = app.decisions
        app.link(buttons.VISIT_PAGE)

        @app.button(buttons.OPEN_INPUT)
        async def open_input(press: Press) -> None:
            shown, approval = await decisions.approval_of(press)
            await decisions.check_may_decide(approval, press.user)
            opened = Opened(shown=shown, channel=press.channel, message=press.message, at=press.at)
            await press.open(input_modal(approval, opened))

        @app.modal(INPUT_FORM)
        async def answer_input(form: Submitted) -> None:
            press = _submitted(opened_by(form.view), form.user)
            shown, approval = await decisions.approval_of(press)
            filled_in = typed_answer(approval, form.view)
            await decisions.answer(press, shown, approval, Verdict.APPROVED, filled_in)


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
