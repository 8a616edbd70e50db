"""Cards and modals with a question of a server to the asker.

The server wrote the question, so all its words are plain text: nothing in them is a link, a mention
or a format, and the frame that says who asks is ours.
"""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

from bot.core.approvals import Approval, ApprovalRecord
from bot.core.errors import MalformedPayload
from bot.features.server_questions import words as words
from bot.features.server_questions.forms import (
    MAX_TEXT,
    AnswerError,
    FieldKind,
    FormField,
    Question,
)
from bot.slack.ui.approval import PressedCard, card_button, decided_line, plain
from bot.slack.ui.blocks import Block, FormErrors, section, shortened, text_object, with_label
from bot.slack.ui.parts import Part, context, local_time

DECLINE_INPUT = "decline_input"
ANSWER_YES = "answer_input_yes"
ANSWER_NO = "answer_input_no"
OPEN_INPUT = "open_input"
VISIT_PAGE = "visit_input_page"

INPUT_FORM = "input_form"

_YES, _NO = "yes", "no"
_MAX_OPTION, _MAX_BUTTON, _LINE = 75, 75, 200
_INPUTS = {
    FieldKind.TEXT: "plain_text_input",
    FieldKind.EMAIL: "email_text_input",
    FieldKind.ADDRESS: "url_text_input",
    FieldKind.NUMBER: "number_input",
    FieldKind.INTEGER: "number_input",
    FieldKind.DATE: "datepicker",
    FieldKind.MOMENT: "datetimepicker",
    FieldKind.YES_NO: "radio_buttons",
    FieldKind.CHOICE: "static_select",
    FieldKind.CHOICES: "checkboxes",
}


def input_part(record: ApprovalRecord) -> Part:
    """Return the card with the question, or with what became of it."""
    approval, decision, asked = record.approval, record.decision, question_of(record.approval)
    server = plain(asked.server)
    asks = words.ASKS_TO_VISIT() if asked.url else words.ASKS()
    blocks = [section(asks.format(server=server)), _words(asked.message)]
    if asked.url:
        blocks.append(_words(words.PAGE_IS_ON(host=asked.host)))
    if decision:
        blocks.append(context(decided_line(decision, words.VERDICTS[decision.verdict])).block)
        return Part(blocks, words.NOTIFY(server=server))
    buttons = [with_label(button, server) for button in _buttons(approval, asked)]
    terms = words.TERMS(server=server, until=local_time(approval.expires))
    blocks += [{"type": "actions", "elements": buttons}, context(terms).block]
    return Part(blocks, words.NOTIFY(server=server))


def input_modal(approval: Approval, opened: PressedCard) -> Block:
    """Return the modal in which the asker answers, or from which they go to the server's page."""
    asked = question_of(approval)
    if asked.url:
        blocks = [_words(words.LEAVING(host=asked.host, server=asked.server)), _visit(asked)]
    else:
        blocks = [_words(asked.message)]
        blocks += [_input(number, field) for number, field in enumerate(asked.form.fields)]
        blocks.append(context(words.NO_SECRETS(server=plain(asked.server))).block)
    return {
        "type": "modal",
        "callback_id": INPUT_FORM,
        "private_metadata": opened.model_dump_json(),
        "title": text_object(words.PAGE_TITLE() if asked.url else words.FORM_TITLE()),
        "submit": text_object(words.VISITED() if asked.url else words.SEND()),
        "close": text_object(words.CLOSE()),
        "blocks": blocks,
    }


def typed_answer(approval: Approval, view: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the asker filled in, as the server gets it.

    Raises FormErrors for what does not fit, and MalformedPayload for a modal that is not ours.
    """
    form, values = question_of(approval).form, view["state"]["values"]
    given = {
        field.name: _given(field, values.get(_block(number), {}).get(_block(number)))
        for number, field in enumerate(form.fields)
    }
    try:
        return form.answer(given)
    except AnswerError as error:
        wrong = {
            _block(number): words.MISTAKES.get(field.kind, words.MISTAKE)()
            for number, field in enumerate(form.fields)
            if field.name in error.fields
        }
        raise FormErrors(wrong) from None


def pressed_answer(approval: Approval, action: str) -> dict[str, Any] | None:
    """Return the answer that the button `action` of a card gives, None for no answer.

    Raises MalformedPayload for a button that the card does not have.
    """
    if action == DECLINE_INPUT:
        return None
    asked = question_of(approval)
    if asked.url or not asked.form.is_yes_no:
        raise MalformedPayload("a yes or no to a question that is none")
    return {field.name: action == ANSWER_YES for field in asked.form.fields}


def question_of(approval: Approval) -> Question:
    """Return the question that the approval is about."""
    return Question.model_validate(approval.details)


def _buttons(approval: Approval, asked: Question) -> list[Block]:
    decline = card_button(approval, words.DECLINE(), DECLINE_INPUT)
    if asked.url:
        return [card_button(approval, words.VISIT(), OPEN_INPUT, "primary"), decline]
    if not asked.form.is_yes_no:
        return [card_button(approval, words.ANSWER(), OPEN_INPUT, "primary"), decline]
    yes = card_button(approval, words.YES(), ANSWER_YES, "primary")
    if not asked.form.fields:  # there is nothing to fill in: no is a refusal
        return [yes, card_button(approval, words.NO(), DECLINE_INPUT)]
    return [yes, card_button(approval, words.NO(), ANSWER_NO), decline]


def _visit(asked: Question) -> Block:
    button: Block = {
        "type": "button",
        "action_id": VISIT_PAGE,
        "text": text_object(shortened(words.GO_TO(host=asked.host), _MAX_BUTTON)),
        "url": asked.url,
    }
    return {"type": "actions", "elements": [button]}


def _words(text: str) -> Block:
    """Return a paragraph without any markup."""
    return {"type": "section", "text": text_object(text or "…")}


def _input(number: int, field: FormField) -> Block:
    block: Block = {
        "type": "input",
        "block_id": _block(number),
        "label": text_object(field.label),
        "element": {
            "type": _INPUTS[field.kind],
            "action_id": _block(number),
            **_limits(field),
            **_filled_in(field),
        },
        "optional": not field.required,
    }
    return block | ({"hint": text_object(field.hint)} if field.hint else {})


def _limits(field: FormField) -> Block:
    """Return what Slack checks itself before it sends the form."""
    least, most = field.least, field.most
    match field.kind:
        case FieldKind.TEXT:
            longest = min(MAX_TEXT, max(1, int(MAX_TEXT if most is None else most)))
            lines = {"multiline": longest > _LINE}
            return {**lines, "min_length": min(longest, int(least or 0)), "max_length": longest}
        case FieldKind.NUMBER | FieldKind.INTEGER:
            bounds = (("min_value", least), ("max_value", most))
            digits = {key: _digits(value) for key, value in bounds if value is not None}
            return {"is_decimal_allowed": field.kind is FieldKind.NUMBER, **digits}
        case _:
            options = _options(field)
            return {"options": options} if options else {}


def _filled_in(field: FormField) -> Block:
    """Return what is filled in already."""
    default = field.default
    if default is None:
        return {}
    if options := _options(field):
        values = default if isinstance(default, tuple) else (default,)
        known = (
            (True, False) if field.kind is FieldKind.YES_NO else [o.value for o in field.options]
        )
        chosen = [option for value, option in zip(known, options, strict=True) if value in values]
        several = field.kind is FieldKind.CHOICES
        return {"initial_options": chosen} if several else {"initial_option": chosen[0]}
    if field.kind is FieldKind.DATE:
        return {"initial_date": default}
    return {"initial_value": _digits(default) if isinstance(default, float | int) else str(default)}


def _options(field: FormField) -> list[Block]:
    """Return the options; their values are places, as those of the server may be too long."""
    labels = {str(place): option.label for place, option in enumerate(field.options)}
    if field.kind is FieldKind.YES_NO:
        labels = {_YES: words.YES(), _NO: words.NO()}
    return [
        {"text": text_object(shortened(label, _MAX_OPTION)), "value": value}
        for value, label in labels.items()
    ]


def _given(field: FormField, state: Mapping[str, Any] | None) -> object:
    """Return what the person filled in.

    Raises MalformedPayload for what the form does not offer.
    """
    if state is None:
        raise MalformedPayload(f"a form without its field {field.name}")
    match field.kind:
        case FieldKind.YES_NO:
            chosen = state.get("selected_option")
            return None if chosen is None else chosen.get("value") == _YES
        case FieldKind.CHOICE:
            chosen = state.get("selected_option")
            return None if chosen is None else _chosen(field, chosen)
        case FieldKind.CHOICES:
            return [_chosen(field, option) for option in state.get("selected_options") or ()]
        case FieldKind.DATE:
            return state.get("selected_date")
        case FieldKind.MOMENT:
            return state.get("selected_date_time")
        case _:
            return str(state.get("value") or "").strip()


def _chosen(field: FormField, option: Mapping[str, Any]) -> str:
    try:
        return field.options[int(option["value"])].value
    except (KeyError, ValueError, IndexError, TypeError):
        raise MalformedPayload("an option that the form does not offer") from None


def _block(number: int) -> str:
    return f"field-{number}"


def _digits(value: float) -> str:
    """Write a number out: Slack takes no exponent, and no decimal point in integers."""
    digits = f"{Decimal(repr(value)):f}"
    return digits.rstrip("0").rstrip(".") if "." in digits else digits
