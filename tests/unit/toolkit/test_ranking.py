"""Finding the tools that fit some words (D1)."""

from __future__ import annotations

import pytest

from bot.toolkit.ranking import Ranking

TEXTS = [
    "list_invoices: invoices of a customer, newest first",
    "createIssue: open an issue in the tracker",
    "send_message: post a message to a channel",
    "search_calendar: appointments between two dates",
    "list_customers: all customers of the shop",
]
RANKING = Ranking([((each, 1.0),) for each in TEXTS])


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("invoice", 0),
        ("Which invoices has Ada not paid?", 0),
        ("new issues", 1),
        ("create", 1),  # a name of several words in one
        ("MESSAGE", 2),
        ("the appointment on Monday", 3),
        ("shop customers", 4),
    ],
)
def test_other_forms_of_a_word_find_it(words: str, found: int) -> None:
    """D1: people do not ask in the words of a tool's author."""
    assert RANKING.best(words, 3)[0] == found


def test_words_that_occur_nowhere_find_nothing() -> None:
    """D1: no guess is better than a wrong one."""
    assert RANKING.best("weather forecast", 3) == []
    assert RANKING.best("", 3) == []
    assert Ranking([]).best("invoice", 3) == []


def test_a_heavier_field_counts_for_more() -> None:
    """D1: a tool that is named so comes before one that mentions it."""
    ranking = Ranking([(("notes", 3), ("mentions reports", 1)), (("reports", 3), ("of all", 1))])
    assert ranking.best("report", 2)[0] == 1


def test_no_more_than_asked_for() -> None:
    """D1: however many fit."""
    assert len(Ranking([(("same words", 1),)] * 20).best("same words", 5)) == 5
