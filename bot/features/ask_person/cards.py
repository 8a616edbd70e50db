"""The card of a question in its thread, and the form for an answer in one's own words.

The model wrote the question and its options, and the asker the answer, so all three are plain text:
nothing in them is a link, a mention or a format.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from bot.core.approvals import Approval, ApprovalRecord
from bot.core.errors import MalformedPayload
from bot.features.ask_person import words
from bot.features.ask_person.question import MAX_TEXT, PersonAnswer, PersonQuestion, chosen
from bot.slack.edge.text import clean
from bot.slack.ui.approval import PressedCard, card_button, decided_line, plain
from bot.slack.ui.blocks import (
    Block,
    FormErrors,
    actions,
    boxes_input,
    field,
    modal,
    plain_section,
    rich,
    rich_text,
    shortened,
    text_element,
    text_input,
)
from bot.slack.ui.parts import Part, context
from bot.text.redaction import redacted

CHOOSE = tuple(f"answer_option_{number}" for number in range(1, 6))
"""The buttons of the options, in their order."""

CHECK, SEND_CHECKED = "check_options", "answer_options"
OPEN_FORM, FORM = "open_question_form", "question_form"

_MAX_SHOWN = 1_000  # characters of an answer on the card
_BOXES, _FIELD = "options", "answer"


def question_part(record: ApprovalRecord) -> Part:
    """Return the card: the question, and its options or the answer."""
    question, decision = PersonQuestion.in_record(record), record.decision
    blocks = [plain_section(question.question)]
    if decision is None:
        blocks += _open(record.approval, question)
    elif decision.allows:
        answer = PersonAnswer.of(question, decision)
        blocks.append(rich_text(rich("quote", text_element(_shown(answer)))))
        blocks.append(context(decided_line(decision, words.ANSWERED)).block)
    else:
        sentence = words.VERDICTS[decision.verdict]
        assumed = plain(question.otherwise)
        blocks.append(context(decided_line(decision, sentence, otherwise=assumed)).block)
    return Part(blocks, plain(question.question))


def _open(approval: Approval, question: PersonQuestion) -> list[Block]:
    own_words = words.ELSE() if question.options else words.ANSWER()
    form = card_button(approval, own_words, OPEN_FORM)
    if not (question.several and question.options):
        buttons = (
            card_button(approval, option, action)
            for option, action in zip(question.options, CHOOSE, strict=False)
        )
        return [actions(*buttons, form)]
    boxes = boxes_input({str(place): label for place, label in enumerate(question.options)})
    checked = actions(boxes | {"action_id": CHECK}) | {"block_id": _BOXES}
    return [checked, actions(card_button(approval, words.SEND(), SEND_CHECKED, "primary"), form)]


def _shown(answer: PersonAnswer) -> str:
    files = [file.name for file in answer.files]
    return shortened("\n".join((clean(answer.in_words), *files)), _MAX_SHOWN) or "…"


def pressed_option(approval: Approval, action: str) -> dict[str, Any]:
    """Return the answer that the button `action` of a card gives.

    Raises MalformedPayload for a button that the card does not have.
    """
    question = PersonQuestion.in_record(ApprovalRecord(approval))
    if question.several:
        raise MalformedPayload("one of several options, by a button")
    return dict(chosen(question, [CHOOSE.index(action)]))


def checked_options(state: Mapping[str, Any]) -> Sequence[str]:
    """Return the values of the boxes that are checked on a card, by the `state` of its press.

    Raises MalformedPayload for a state that Slack does not send.
    """
    try:
        boxes = state["values"].get(_BOXES, {}).get(CHECK, {})
        return [str(option["value"]) for option in boxes.get("selected_options") or ()]
    except (AttributeError, KeyError, TypeError):
        raise MalformedPayload("a press without the boxes of its card") from None


def answer_form(approval: Approval, card: PressedCard) -> Block:
    """Return the modal in which the asker answers in their own words."""
    question = PersonQuestion.in_record(ApprovalRecord(approval))
    return modal(
        words.FORM_TITLE(),
        [
            plain_section(question.question),
            field(_FIELD, words.FORM_TITLE(), text_input(longest=MAX_TEXT), optional=False),
        ],
        close=words.CLOSE(),
        callback=FORM,
        submit=words.SEND(),
        metadata=card.model_dump_json(),
    )


def typed_text(view: Mapping[str, Any]) -> str:
    """Return what the asker wrote into the form. Raises FormErrors for nothing that can be seen, and
    MalformedPayload for another form."""
    try:
        value = view["state"]["values"][_FIELD][_FIELD].get("value")
    except (AttributeError, KeyError, TypeError):
        raise MalformedPayload("an answer without its field") from None
    text = redacted(clean(str(value or ""))[:MAX_TEXT]).strip()
    if not text:
        raise FormErrors({_FIELD: words.NO_WORDS()})
    return text
