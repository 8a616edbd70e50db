"""The part of a form in which an admin tries a change on a question, before saving it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bot.runs.trials import CaseRun, Comparison, TrialCase
from bot.slack.edge.text import clean, one_line
from bot.slack.ui import words
from bot.slack.ui.blocks import (
    Block,
    actions,
    button,
    field,
    rich,
    rich_text,
    text_element,
    text_input,
)
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import context

QUESTION = "question"
_MUST_SAY, _MUST_NOT_SAY = "must_say", "must_not_say"
_MAX_QUESTION, _MAX_TEXT = 3_000, 1_500  # characters
_MAX_LINES, _MAX_LINE = 10, 300
_MAX_SAID, _MAX_PROBLEM = 400, 400


def case_fields(case: TrialCase, action: str, *, can_try: bool = True) -> list[Block]:
    """Return the fields of a case, and the button that tries it, whose press is `action`."""
    must_say = "\n".join(case.must_say), words.MUST_SAY_HINT()
    must_not_say = "\n".join(case.must_not_say), words.MUST_NOT_SAY_HINT()
    return [
        _text(QUESTION, words.TRIAL_QUESTION(), case.question, _MAX_QUESTION),
        _text(_MUST_SAY, words.MUST_SAY(), must_say[0], _MAX_TEXT, must_say[1]),
        _text(_MUST_NOT_SAY, words.MUST_NOT_SAY(), must_not_say[0], _MAX_TEXT, must_not_say[1]),
        *([actions(button(words.TRY(), action, action))] if can_try else []),
        context(words.NOTHING_YET()).block,
    ]


def case_of(view: Mapping[str, Any]) -> TrialCase:
    """Return the case in a form, submitted or still open."""

    def lines(name: str) -> tuple[str, ...]:
        text = written(view, name, _MAX_TEXT)
        every = (line.strip()[:_MAX_LINE] for line in text.splitlines())
        return tuple(filter(None, every))[:_MAX_LINES]

    return TrialCase(
        question=written(view, QUESTION, _MAX_QUESTION),
        must_say=lines(_MUST_SAY),
        must_not_say=lines(_MUST_NOT_SAY),
    )


def written(view: Mapping[str, Any], name: str, most: int) -> str:
    """Return what is written in a field of a form, in at most so many characters."""
    values = (view.get("state") or {}).get("values") or {}
    return clean(str((values.get(name, {}).get(name) or {}).get("value") or ""))[:most]


def note(text: str) -> Block:
    """Return a line above the form."""
    return context(text).block


def problem(sentence: str) -> Block:
    """Return a line that says why a trial failed."""
    return note(
        words.TRIAL_PROBLEM.format(problem=LinkGate().mrkdwn(one_line(sentence, _MAX_PROBLEM)))
    )


def compared(comparison: Comparison) -> list[Block]:
    """Return the runs of a case, each with the beginning of its answer, and what they cost.

    It is rich text: nothing in it becomes a link, a mention or a format.
    """
    runs = [(words.TRIED_BEFORE(), comparison.before)]
    if comparison.after is not comparison.before:
        runs.append((words.TRIED_AFTER(), comparison.after))
    parts: list[Block] = []
    for title, run in runs:
        label = text_element(f"{title}: ", bold=True)
        parts += [
            rich("section", label, text_element(_verdict(run))),
            rich("quote", text_element(one_line(run.said, _MAX_SAID) or "…")),
        ]
    blocks: list[Block] = [rich_text(*parts)]
    if comparison.cost is not None:
        blocks.append(note(words.TRIAL_COST(cost=f"${comparison.cost:.4f}")))
    return blocks


def _verdict(run: CaseRun) -> str:
    return "; ".join((words.PASSES() if run.passed else words.FAILS(), *run.reasons))


def _text(name: str, label: str, value: str, longest: int, hint: str = "") -> Block:
    return field(name, label, text_input(value, longest=longest), hint=hint)
