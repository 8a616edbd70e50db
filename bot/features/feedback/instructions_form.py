"""The form of a channel's instructions, in which an admin tries them before saving them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.errors import MalformedPayload
from bot.features.feedback import words
from bot.runs.trials import TrialCase
from bot.slack.ui.blocks import Block, actions, button, field, modal, text_input
from bot.slack.ui.trials import case_fields, case_of, written

FORM, TRY, INSTEAD = "channel_instructions", "try_instructions", "instructions_instead"
CHOOSE = "choose_instructions"

_INSTRUCTIONS = "instructions"
_MAX_INSTRUCTIONS = 3_000  # characters
_CHANNEL = re.compile(r"[A-Z0-9]+")


class Draft(BaseModel):
    """What an admin wrote in the form: instructions of a channel, and a case to try them on.

    `instead` are the labels of buttons that open another form with it. Stored as the subject of a job.
    """

    model_config = ConfigDict(frozen=True)

    channel: str
    instructions: str = ""
    case: TrialCase = TrialCase()
    instead: tuple[str, ...] = ()


def instructions_form(draft: Draft, *above: Block, can_try: bool = True) -> Block:
    """Return the form with `above`, such as the result of a trial."""
    others = [button(label, f"{INSTEAD}:{n}", str(n)) for n, label in enumerate(draft.instead)]
    instructions = text_input(draft.instructions, longest=_MAX_INSTRUCTIONS)
    return modal(
        words.TITLE(),
        [
            *above,
            field(_INSTRUCTIONS, words.INSTRUCTIONS(), instructions),
            *([actions(*others)] if others else []),
            *case_fields(draft.case, TRY, can_try=can_try),
        ],
        callback=FORM,
        metadata=draft.channel,
        submit=words.SAVE(),
        close=words.CLOSE(),
    )


def draft_of(view: Mapping[str, Any]) -> Draft:
    """Return what was written in a form, submitted or still open. Raises MalformedPayload."""
    channel = str(view.get("private_metadata") or "")
    if not _CHANNEL.fullmatch(channel):
        raise MalformedPayload("a modal with metadata that is not ours")
    instructions = written(view, _INSTRUCTIONS, _MAX_INSTRUCTIONS).strip()
    return Draft(channel=channel, instructions=instructions, case=case_of(view))
