"""The feature: an MCP server asks the asker something during a call, and gets the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from typing_extensions import override

from bot.core.approvals import ApprovalRecord, Verdict
from bot.features import Feature
from bot.features.server_questions import words
from bot.features.server_questions.cards import (
    ANSWER_NO,
    ANSWER_YES,
    DECLINE_INPUT,
    INPUT_FORM,
    OPEN_INPUT,
    VISIT_PAGE,
    input_modal,
    input_part,
    pressed_answer,
    typed_answer,
)
from bot.features.server_questions.hook import INPUT, InputHook
from bot.features.server_questions.terminal import answer_question
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.approval_kinds import WaitKind
from bot.slack.ui.parts import Part

if TYPE_CHECKING:
    from mcp import MCPError
    from mcp.types import CallToolResult, InputRequiredResult

    from bot.features.server_questions.questions import LiveQuestions
    from bot.mcp.doors import Call


def server_questions() -> Feature:
    """Return the feature."""
    return Feature(
        "server_questions",
        run_part=QuestionsPart,
        slack_part=QuestionListeners,
        waits={INPUT: lambda _deps: QUESTION},
        mcp_doors=lambda _pins, _stores: {"questions": AskerQuestions()},
    )


async def _draw(record: ApprovalRecord) -> Part:
    return input_part(record)


QUESTION = WaitKind(
    draw=_draw,
    verdicts={
        DECLINE_INPUT: Verdict.DENIED,
        ANSWER_YES: Verdict.APPROVED,
        ANSWER_NO: Verdict.APPROVED,
    },
    waiting=lambda _approval, asker: words.WAITING_FOR_INPUT(person=asker),
    answer=pressed_answer,
    typed=answer_question,
)


class QuestionsPart(RunPart):
    """The part of one run: its asker is asked, and the call is made again."""

    def __init__(self, run: Run) -> None:
        self.asking = self.asker = InputHook(run.waits)


class AskerQuestions:
    """What puts questions of servers to people, as `bot.mcp` uses it. See
    `bot.mcp.doors.ServerQuestions`. The SDK is loaded at first use."""

    async def answered_call(self, server: str, call: Call, *, may_ask: bool) -> CallToolResult:
        """Make a call with all that its asker has answered so far. Raises PersonNeeded."""
        from bot.features.server_questions.questions import call_with_answers

        return await call_with_answers(server, call, may_ask=may_ask)

    def live(self, server: str, seconds: float) -> LiveQuestions:
        """Return the questions of one call that has `seconds`, without those of its asker."""
        from bot.features.server_questions.questions import LiveQuestions

        return LiveQuestions(server, seconds)

    def asked_in(self, error: MCPError) -> InputRequiredResult | None:
        """Return the questions in an error of a server, None if it has none."""
        from bot.features.server_questions.questions import pages_to_open

        return pages_to_open(error)


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
        app.link(VISIT_PAGE)

        @app.button(OPEN_INPUT)
        async def open_input(press: Press) -> None:
            shown, approval = await decisions.to_decide(press)
            await press.open(input_modal(approval, press.card(shown)))

        @app.modal(INPUT_FORM)
        async def answer_input(form: Submitted) -> None:
            press = form.pressed
            shown, approval = await decisions.to_decide(press)
            filled_in = typed_answer(approval, form.view)
            await decisions.answer(press, shown, approval, Verdict.APPROVED, filled_in)
