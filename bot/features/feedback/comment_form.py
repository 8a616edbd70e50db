"""The modal that asks what was wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.features.feedback import words
from bot.slack.edge.payloads import element
from bot.slack.edge.text import cap, clean
from bot.slack.ui.blocks import Block, text_object
from bot.slack.ui.parts import context

COMMENT = "feedback_comment"
_COMMENT, _SHOW = "question", "show_question"
_MAX_COMMENT = 2_000


def comment_form(metadata: str, *, private: bool) -> Block:
    """Return the modal; its submission returns `metadata`.

    It says what operators read. Under a private answer they read the question only if its asker
    wants.
    """
    field = {
        "type": "plain_text_input",
        "action_id": _COMMENT,
        "multiline": True,
        "max_length": _MAX_COMMENT,
        "placeholder": text_object(words.COMMENT_HINT()),
    }
    note = words.COMMENT_PRIVATE() if private else words.COMMENT_READERS()
    return {
        "type": "modal",
        "callback_id": COMMENT,
        "private_metadata": metadata,
        "title": text_object(words.COMMENT_TITLE()),
        "submit": text_object(words.COMMENT_SUBMIT()),
        "close": text_object(words.COMMENT_SKIP()),
        "blocks": [
            _optional(_COMMENT, words.COMMENT_LABEL(), field),
            *([_show_question()] if private else []),
            context(note).block,
        ],
    }


def comment_of(view: Mapping[str, Any]) -> str:
    """Return the text of a submitted modal."""
    return cap(clean(str(element(view, _COMMENT).get("value") or "")), _MAX_COMMENT)


def shows_question(view: Mapping[str, Any]) -> bool:
    """Return whether the person lets operators read the question of a private answer."""
    state = view["state"]["values"].get(_SHOW, {}).get(_SHOW) or {}
    return bool(state.get("selected_options"))


def _show_question() -> Block:
    option = {"text": text_object(words.COMMENT_SHOW()), "value": _SHOW}
    field = {"type": "checkboxes", "action_id": _SHOW, "options": [option]}
    return _optional(_SHOW, words.COMMENT_QUESTION(), field)


def _optional(name: str, label: str, field: Block) -> Block:
    return {
        "type": "input",
        "block_id": name,
        "optional": True,
        "label": text_object(label),
        "element": field,
    }
