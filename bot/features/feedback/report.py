"""What operators read of ratings: a table, and a file of cases for `bot eval`."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import yaml

from bot.features.feedback.ratings import Feedback, RatedQuestion

_HEADING = """\
# Cases from feedback, for `bot eval`. People wrote the questions; keep this file as private as they are.
# A case that expects nothing is not finished: write under `expect` what its answer must say.
"""


def rating_lines(ratings: Sequence[Feedback]) -> list[str]:
    """Return a table of ratings, at least one."""
    lines = [f"{'when (UTC)':<17} {'verdict':<8} {'who':<12} {'channel':<12} {'run':<21} comment"]
    for rating in ratings:
        who = f"{rating.verdict:<8} {rating.user:<12} {rating.channel:<12} {rating.run_id:<21}"
        comment = " ".join(rating.comment.split())
        lines.append(f"{rating.at:%Y-%m-%d %H:%M}  {who} {comment}".rstrip())
    good = sum(rating.verdict == "good" for rating in ratings)
    return [*lines, f"{good} good, {len(ratings) - good} bad."]


def cases_file(questions: Iterable[RatedQuestion]) -> tuple[str, int]:
    """Return a YAML file with a case for each question, and how many it has.

    Cases that an admin finished in an earlier release come first, those that they accepted before
    the others. A question that several people asked is there once.
    """
    cases: dict[str, str] = {}
    for rated in sorted(questions, key=_is_unfinished):
        question = rated.case.question if rated.case.can_run else rated.question
        if question and question not in cases:
            cases[question] = _case(rated, question)
    return "\n".join([_HEADING, *cases.values()]), len(cases)


def _is_unfinished(rated: RatedQuestion) -> tuple[bool, bool]:
    return not rated.case.can_run, rated.state != "accepted"


def _case(rated: RatedQuestion, question: str) -> str:
    """Return a case in YAML, with what was wrong as comments above it."""
    name = "".join(letter if letter.isalnum() else "-" for letter in rated.id.casefold())
    case: dict[str, Any] = {"name": f"feedback-{name}", "question": question}
    if rated.instruction and rated.state == "accepted":
        case["instructions"] = rated.instruction
    case |= {"live": True, "expect": rated.case.expected}
    wrong = [f"# {' '.join(comment.split())}" for comment in rated.comments.values()]
    text = yaml.safe_dump([case], sort_keys=False, allow_unicode=True, width=100)
    return "\n".join([*wrong, text])
