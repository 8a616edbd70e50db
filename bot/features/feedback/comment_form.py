"""The modal that asks what was wrong with an answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.features.feedback import words
from bot.slack.edge.payloads import element
from bot.slack.edge.text import cap, clean
from bot.slack.ui.blocks import Block, boxes_input, field, modal, text_input
from bot.slack.ui.parts import context

COMMENT = "feedback_comment"
_COMMENT, _SHOW = "question", "show_question"
_MAX_COMMENT = 2_000


def comment_form(metadata: str, *, private: bool) -> Block:
    """Return the modal; its submission returns `metadata`.

    It says what operators read. Under a private answer they read the question only if its asker
    wants.
    """
    comment = text_input(longest=_MAX_COMMENT, placeholder=words.COMMENT_HINT())
    show = field(_SHOW, words.COMMENT_QUESTION(), boxes_input({_SHOW: words.COMMENT_SHOW()}))
    note = words.COMMENT_PRIVATE() if private else words.COMMENT_READERS()
    return modal(
        words.COMMENT_TITLE(),
        [
            field(_COMMENT, words.COMMENT_LABEL(), comment),
            *([show] if private else []),
            context(note).block,
        ],
        callback=COMMENT,
        metadata=metadata,
        submit=words.COMMENT_SUBMIT(),
        close=words.COMMENT_SKIP(),
    )


def comment_of(view: Mapping[str, Any]) -> str:
    """Return the text of a submitted modal."""
    return cap(clean(str(element(view, _COMMENT).get("value") or "")), _MAX_COMMENT)


def shows_question(view: Mapping[str, Any]) -> bool:
    """Return whether the person lets operators read the question of a private answer."""
    state = view["state"]["values"].get(_SHOW, {}).get(_SHOW) or {}
    return bool(state.get("selected_options"))
