"""The modal in which people set how the bot answers them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.model import ModelChoices
from bot.runs.policy.preferences import MAX_STYLE, Preferences
from bot.slack.edge.payloads import chosen, element
from bot.slack.intake.home.model_field import chosen_model, model_field
from bot.slack.ui import home_words, words
from bot.slack.ui.parts import Block, text_object

PERSONAL_FORM = "personal_settings"
_STYLE, _WHERE = "style", "where"
_THREAD, _ONLY_ME = "thread", "me"


def personal_form(current: Preferences, models: ModelChoices) -> Block:
    """Return the modal, filled in with the current preferences."""
    model = model_field(
        models,
        current.model,
        label=home_words.PERSONAL_MODEL(),
        general=home_words.MODEL_AS_CHANNEL(),
    )
    return {
        "type": "modal",
        "callback_id": PERSONAL_FORM,
        "title": text_object(home_words.PERSONAL_TITLE()),
        "submit": text_object(home_words.SAVE()),
        "close": text_object(words.CLOSE()),
        "blocks": [_style(current.style), _where(current.only_me), *model],
    }


def preferences_of(
    view: Mapping[str, Any], before: Preferences, models: ModelChoices
) -> Preferences:
    """Return the preferences `before`, changed by the input of the form.

    Raises MalformedPayload for a model that the form does not offer.
    """
    style = str(element(view, _STYLE).get("value") or "").strip()
    return Preferences(
        style=style[:MAX_STYLE],
        only_me=chosen(view, _WHERE) == _ONLY_ME,
        model=chosen_model(view, models, before.model),
    )


def _style(current: str) -> Block:
    field: Block = {
        "type": "plain_text_input",
        "action_id": _STYLE,
        "multiline": True,
        "max_length": MAX_STYLE,
        "placeholder": text_object(home_words.STYLE_EXAMPLE()),
    }
    return {
        "type": "input",
        "block_id": _STYLE,
        "optional": True,
        "label": text_object(home_words.STYLE_LABEL()),
        "hint": text_object(home_words.STYLE_HINT()),
        "element": field | ({"initial_value": current} if current else {}),
    }


def _where(only_me: bool) -> Block:
    options = [
        {"text": text_object(text), "value": value}
        for text, value in ((words.IN_THREAD(), _THREAD), (words.ONLY_ME(), _ONLY_ME))
    ]
    field = {
        "type": "radio_buttons",
        "action_id": _WHERE,
        "options": options,
        "initial_option": options[only_me],
    }
    return {
        "type": "input",
        "block_id": _WHERE,
        "label": text_object(home_words.PERSONAL_WHERE()),
        "hint": text_object(home_words.DRAFTS_HINT()),
        "element": field,
    }
