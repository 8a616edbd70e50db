"""The check of answers stays as good as it was: a short form of `python -m tests.evidence`."""

from __future__ import annotations

import json

import pytest

from tests.evidence.corruptions import KINDS, catches
from tests.evidence.labelled import HERE, SETS, answers, entry_of, localised, score


@pytest.mark.parametrize("source", SETS)
def test_right_answers_are_seldom_flagged_and_wrong_ones_mostly(source: str) -> None:
    """Issue 23, row 4: at most 1.5 % of the claims of right answers, 1 % without head arithmetic."""
    found, alarms = score(answers(source))
    told = [f"{answer.name}: {finding.text}" for answer, finding in alarms]
    assert found.rate <= 0.015, told
    assert found.rate_without_head <= 0.01, told
    assert found.caught >= 0.9 * found.wrong


def test_the_same_answers_in_other_notations_are_seldom_flagged() -> None:
    """Locales: German, French, Swiss, Indian and Brazilian numbers, one answer in eight."""
    for source in SETS:
        found, alarms = score(localised(source)[::8])
        assert found.rate <= 0.02, [f"{answer.name}: {each.text}" for answer, each in alarms]


def test_most_corruptions_are_caught() -> None:
    """Issue 23, row 4: 90 % of all; units and signs 75 %."""
    found = {
        name: catches(answers("heldout_2")[::3], kind, tries=1) for name, kind in KINDS.items()
    }
    caught, tried = (sum(each[n] for each in found.values()) for n in (0, 1))
    assert tried > 150
    assert caught >= 0.9 * tried
    for name in ("other unit or currency", "sign turned round"):
        assert found[name][0] >= 0.75 * found[name][1]


def test_there_are_enough_answers_of_all_kinds() -> None:
    """Issue 23, row 4: at least 200, in six languages, about MCP servers, threads and pages."""
    given = [each for source in SETS for each in answers(source)]
    assert len(given) >= 200
    assert {"en", "de", "fr", "es", "pt", "ja"} <= {each.locale for each in given}
    tools = {
        entry_of(each).tool
        for path in HERE.glob("outputs/*.json")
        for each in json.loads(path.read_text("utf-8"))
    }
    assert {
        "crm__list_deals",
        "read_thread",
        "fetch_page",
        "query_table",
        "query_database",
    } <= tools
    assert {"read_file", "search_web", "calculate", "compare_tables", "read_canvas"} <= tools
