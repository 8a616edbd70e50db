"""A question at the terminal: its options with numbers, and one line for the answer."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from bot.core.approvals import Approval, ApprovalRecord, Decision, Verdict
from bot.core.errors import MalformedPayload
from bot.features.ask_person.question import (
    MAX_TEXT,
    PersonQuestion,
    chosen,
    named_options,
    parts_of,
)
from bot.slack.ui.approval_kinds import TypedLine
from bot.text.invisible_text import escaped
from bot.text.redaction import redacted


async def answer_question(approval: Approval, typed_line: TypedLine) -> Decision:
    """Ask the question and return what is typed; an empty line leaves it unanswered."""
    question = PersonQuestion.in_record(ApprovalRecord(approval))
    lines = [f"{number}. {option}" for number, option in enumerate(question.options, 1)]
    sys.stderr.write("".join(f"{escaped(line)}\n" for line in ("", question.question, *lines)))
    text = redacted((await typed_line(_prompt(question))).strip()[:MAX_TEXT])
    if not text:
        return Decision(verdict=Verdict.DENIED, by=approval.requester)
    answer = dict(_answer(question, text))
    return Decision(verdict=Verdict.APPROVED, by=approval.requester, answer=answer)


def _answer(question: PersonQuestion, text: str) -> Mapping[str, Any]:
    """Return what was typed, as it is stored: the options whose numbers it lists, unless an option
    reads like that, else the text."""
    if not named_options(question, text):
        places = {str(place + 1): place for place in range(len(question.options))}
        with suppress(MalformedPayload):  # not a number of an option, or too many
            return chosen(question, [places.get(part.strip("().")) for part in parts_of(text)])
    return {"text": text}


def _prompt(question: PersonQuestion) -> str:
    if not question.options:
        return "Your answer: "
    return "Numbers or your own words: " if question.several else "A number or your own words: "
