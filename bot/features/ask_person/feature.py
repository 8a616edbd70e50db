"""The feature: the model asks its asker back, with options, and the run waits for the answer."""

from __future__ import annotations

from typing_extensions import override

from bot.core.approvals import Approval, ApprovalRecord, Verdict
from bot.core.errors import NotPermitted
from bot.features import Feature
from bot.features.ask_person import words
from bot.features.ask_person.cards import (
    CHECK,
    CHOOSE,
    FORM,
    OPEN_FORM,
    SEND_CHECKED,
    answer_form,
    checked_options,
    pressed_option,
    question_part,
    typed_text,
)
from bot.features.ask_person.question import QUESTION, PersonQuestion, chosen
from bot.features.ask_person.run_part import AskPersonPart
from bot.features.ask_person.terminal import answer_question
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.approval_kinds import WaitKind
from bot.slack.ui.parts import Part
from bot.text.languages import locale_for
from bot.text.translation import load_catalogue, reader, reader_locale


def ask_person() -> Feature:
    """Return the feature."""
    return Feature(
        "ask_person",
        run_part=AskPersonPart,
        slack_part=QuestionListeners,
        waits={QUESTION: lambda _deps: ASKED},
    )


async def _draw(record: ApprovalRecord) -> Part:
    question = PersonQuestion.in_record(record)
    texts = question.question, "\n".join((question.question, *question.options))
    locale = locale_for(texts, reader=reader_locale())
    await load_catalogue(locale)
    with reader(locale):  # the card is in one language: that of the question
        return question_part(record)


def _waiting(_approval: Approval, asker: str) -> str:
    return words.WAITING(person=asker)


ASKED = WaitKind(
    draw=_draw,
    verdicts=dict.fromkeys(CHOOSE, Verdict.APPROVED),
    waiting=_waiting,
    answer=pressed_option,
    in_thread=True,
    hints=(words.WAITS_FOR_YOUR_ANSWER, words.WAITS_FOR_YOUR_ANSWER),
    typed=answer_question,
)


class QuestionListeners(SlackPart):
    """The boxes of questions, and the forms for other answers, in one workspace."""

    def __init__(self, _app: SlackApp) -> None:
        """Keep nothing of the workspace."""

    @override
    def register(self, app: SlackApp) -> None:
        """Listen to what the buttons of one option do not cover.

        An answer is stored before it is acknowledged.
        """
        decisions = app.decisions
        app.link(CHECK)  # what is checked comes with the press of Send

        @app.button(SEND_CHECKED)
        async def send_checked(press: Press) -> None:
            shown, approval = await decisions.to_decide(press)
            places = checked_options(press.body.get("state") or {"values": {}})
            if not places:
                raise NotPermitted(words.CHOOSE())
            question = PersonQuestion.in_record(ApprovalRecord(approval))
            answer = dict(chosen(question, places))
            await decisions.answer(press, shown, approval, Verdict.APPROVED, answer)

        @app.button(OPEN_FORM)
        async def open_form(press: Press) -> None:
            shown, approval = await decisions.to_decide(press)
            await press.open(answer_form(approval, press.card(shown)))

        @app.modal(FORM)
        async def answer_in_words(form: Submitted) -> None:
            press = form.pressed
            shown, approval = await decisions.to_decide(press)
            answer = {"text": typed_text(form.view)}
            await decisions.answer(press, shown, approval, Verdict.APPROVED, answer)
