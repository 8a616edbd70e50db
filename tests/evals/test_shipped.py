"""The shipped cases are right: the catalogue serves every question, from real files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

import pytest

from bot.evals.cases import Case, read_cases
from bot.evals.models import WALKTHROUGH, model_for_cases
from bot.evals.running import evaluate
from bot.settings import Settings

CASES = read_cases([Path(__file__).parent])


def covering(cases: Sequence[Case]) -> list[Case]:
    """Return few cases that together have every tool, kind of file and kind of material."""
    left, chosen = set().union(*map(traits, cases)), list[Case]()
    while left:
        chosen.append(max(cases, key=lambda case: len(traits(case) & left)))
        left -= traits(chosen[-1])
    return chosen


def traits(case: Case) -> set[str]:
    """Return what a case needs of the bot."""
    files = [path.suffix for path in (*case.files, *case.databases.values())]
    tools = [name for call in case.walkthrough.calls for name in call]
    material = (
        "before",
        "thread",
        "channels",
        "canvases",
        "web",
        "instructions",
        "response_schema",
    )
    return {case.response, *files, *tools, *(name for name in material if getattr(case, name))}


@pytest.mark.timeout(180)  # dozens of runs, each with processes that read files
async def test_every_case_can_be_answered_with_the_tools_there_are() -> None:
    """Files, databases and threads hold what is expected, tools bring it out, and checks find it:
    for most cases the answer is what the tools returned, or refers to it. Usually of the cases that
    together have every tool and kind of file; with BOT_ALL_CASES=1 of all."""
    cases = CASES if os.environ.get("BOT_ALL_CASES") == "1" else covering(CASES)
    async with model_for_cases(WALKTHROUGH, Settings(), cases) as settings:
        done = await evaluate(settings, cases, parallel=4, repeat=1, on_result=lambda _: None)
    assert {each.case: each.reasons for each in done.results if not each.passed} == {}
    assert [each.case for each in done.results] == [each.name for each in cases]


def test_the_cases_cover_what_people_ask() -> None:
    """About thirty, over all kinds of files, response types, and hostile content."""
    assert len(CASES) >= 30
    kinds = {path.suffix for case in CASES for path in (*case.files, *case.databases.values())}
    assert kinds >= {".csv", ".xlsx", ".pdf", ".docx", ".json", ".log", ".sqlite"}
    assert {case.response for case in CASES} == {
        *("Answer", "ThreadSummary", "ActionItems", "DraftReply"),
    }
    answers = [str(case.walkthrough.answer) for case in CASES if case.walkthrough.answer]
    typed = [answer for answer in answers if "{{$" not in answer]
    assert len(typed) < len(CASES) / 3
    assert len(answers) - len(typed) >= len(CASES) / 3
