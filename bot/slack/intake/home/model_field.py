"""The field in which people choose a model from the operator's list."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.core.errors import MalformedPayload
from bot.model import ModelChoices
from bot.slack.edge.payloads import chosen
from bot.slack.ui import home_words
from bot.slack.ui.parts import Block, shortened, text_object

_MODEL = "model"
_GENERAL, _CHOICE = "general", "choice:"
_MAX_OPTION = 75  # characters, Slack's limit


def model_field(
    models: ModelChoices, current: str, *, label: str, general: str, hint: str = ""
) -> list[Block]:
    """Return the field, filled in with the choice `current`; no field if there is nothing to choose.

    `general` is the text of the first option, for people who choose nothing.
    """
    if not models.choices:
        return []
    options = {"": _option(general, _GENERAL)}
    options |= {each.name: _option(each.label, _CHOICE + each.name) for each in models.choices}
    field: Block = {
        "type": "input",
        "block_id": _MODEL,
        "label": text_object(label),
        "element": {
            "type": "radio_buttons",
            "action_id": _MODEL,
            "options": list(options.values()),
            "initial_option": options[models.first_of(current)],
        },
    }
    return [field | ({"hint": text_object(hint)} if hint else {})]


def chosen_model(view: Mapping[str, Any], models: ModelChoices, before: str) -> str:
    """Return the name of the submitted choice, "" for none; `before` if the form had no such field.

    Raises MalformedPayload for a choice that the operator does not offer.
    """
    if _MODEL not in view["state"]["values"]:
        return before
    value = chosen(view, _MODEL)
    name = value.removeprefix(_CHOICE)
    if value == _GENERAL:
        return ""
    if value == name or not models.first_of(name):
        raise MalformedPayload("a model that the form does not offer")
    return name


def shown_model(models: ModelChoices, choice: str) -> str:
    """Return a person's choice for the Home tab; "" where there is nothing to choose."""
    labels = {each.name: each.label for each in models.choices}
    return labels.get(choice, home_words.MODEL_AS_CHANNEL()) if labels else ""


def _option(text: str, value: str) -> Block:
    return {"text": {"type": "plain_text", "text": shortened(text, _MAX_OPTION)}, "value": value}
