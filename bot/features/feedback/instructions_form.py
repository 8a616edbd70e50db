"""The form of a channel's instructions, in which an admin tries them before saving them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.errors import MalformedPayload
from bot.features.feedback import words
from bot.runs.trials import CaseRun, Comparison, TrialCase
from bot.slack.edge.text import clean, one_line
from bot.slack.ui.blocks import (
    Block,
    actions,
    button,
    field,
    modal,
    rich,
    rich_text,
    text_element,
    text_input,
)
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import context

FORM, TRY = "channel_instructions", "try_instructions"
CHOOSE = "choose_instructions"

QUESTION = "question"
_INSTRUCTIONS, _MUST_SAY, _MUST_NOT_SAY = "instructions", "must_say", "must_not_say"
_MAX_INSTRUCTIONS, _MAX_QUESTION, _MAX_TEXT = 3_000, 3_000, 1_500  # characters
_MAX_LINES, _MAX_LINE = 10, 300
_MAX_SAID, _MAX_PROBLEM = 400, 400
_CHANNEL = re.compile(r"[A-Z0-9]+")


class Draft(BaseModel):
    """What an admin wrote in the form: instructions of a channel, and a case to try them on.

    Stored as the subject of a job.
    """

    model_config = ConfigDict(frozen=True)

    channel: str
    instructions: str = ""
    case: TrialCase = TrialCase()


def instructions_form(draft: Draft, *above: Block, can_try: bool = True) -> Block:
    """Return the form with `above`, such as the result of a trial."""
    case = draft.case
    return modal(
        words.TITLE(),
        [
            *above,
            _text(_INSTRUCTIONS, words.INSTRUCTIONS(), draft.instructions, _MAX_INSTRUCTIONS),
            _text(QUESTION, words.QUESTION(), case.question, _MAX_QUESTION),
            _lines(_MUST_SAY, words.MUST_SAY(), case.must_say, words.MUST_SAY_HINT()),
            _lines(
                _MUST_NOT_SAY, words.MUST_NOT_SAY(), case.must_not_say, words.MUST_NOT_SAY_HINT()
            ),
            *([actions(button(words.TRY(), TRY, TRY))] if can_try else []),
            context(words.NOTHING_YET()).block,
        ],
        callback=FORM,
        metadata=draft.channel,
        submit=words.SAVE(),
        close=words.CLOSE(),
    )


def draft_of(view: Mapping[str, Any]) -> Draft:
    """Return what was written in a form, submitted or still open. Raises MalformedPayload."""
    values = (view.get("state") or {}).get("values") or {}

    def text(name: str, most: int) -> str:
        return clean(str((values.get(name, {}).get(name) or {}).get("value") or ""))[:most]

    def lines(name: str) -> tuple[str, ...]:
        every = (line.strip()[:_MAX_LINE] for line in text(name, _MAX_TEXT).splitlines())
        return tuple(filter(None, every))[:_MAX_LINES]

    channel = str(view.get("private_metadata") or "")
    if not _CHANNEL.fullmatch(channel):
        raise MalformedPayload("a modal with metadata that is not ours")
    case = TrialCase(
        question=text(QUESTION, _MAX_QUESTION),
        must_say=lines(_MUST_SAY),
        must_not_say=lines(_MUST_NOT_SAY),
    )
    instructions = text(_INSTRUCTIONS, _MAX_INSTRUCTIONS).strip()
    return Draft(channel=channel, instructions=instructions, case=case)


def note(text: str) -> Block:
    """Return a line above the form."""
    return context(text).block


def problem(sentence: str) -> Block:
    """Return a line that says why a trial failed."""
    return note(words.PROBLEM.format(problem=LinkGate().mrkdwn(one_line(sentence, _MAX_PROBLEM))))


def compared(comparison: Comparison) -> list[Block]:
    """Return the runs of a case, each with the beginning of its answer, and what they cost.

    It is rich text: nothing in it becomes a link, a mention or a format.
    """
    runs = [(words.BEFORE(), comparison.before)]
    if comparison.after is not comparison.before:
        runs.append((words.AFTER(), comparison.after))
    parts: list[Block] = []
    for title, run in runs:
        label = text_element(f"{title}: ", bold=True)
        parts += [
            rich("section", label, text_element(_verdict(run))),
            rich("quote", text_element(one_line(run.said, _MAX_SAID) or "…")),
        ]
    blocks: list[Block] = [rich_text(*parts)]
    if comparison.cost is not None:
        blocks.append(note(words.COST(cost=f"${comparison.cost:.4f}")))
    return blocks


def _verdict(run: CaseRun) -> str:
    return "; ".join((words.PASSES() if run.passed else words.FAILS(), *run.reasons))


def _lines(name: str, label: str, lines: tuple[str, ...], hint: str) -> Block:
    return _text(name, label, "\n".join(lines), _MAX_TEXT, hint)


def _text(name: str, label: str, value: str, longest: int, hint: str = "") -> Block:
    return field(name, label, text_input(value, longest=longest), hint=hint)
