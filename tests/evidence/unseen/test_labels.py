"""The unseen labelled answers are what their labels say."""

from __future__ import annotations

from collections import Counter

from tests.evidence.unseen.labelled import right, wrong
from tests.evidence.unseen.verify import faults


def test_every_label_agrees_with_the_outputs() -> None:
    """Whoever measures with this set can rely on its labels."""
    assert list(faults()) == []


def test_there_are_enough_answers_of_each_kind_and_language() -> None:
    """A share that is measured with this set means something."""
    assert min(Counter(answer.language for answer in right()).values()) >= 25
    kinds = Counter(answer.kind for answer in wrong())
    assert min(kinds["other row"], kinds["other row by reference"]) >= 100
    assert min(kinds["invented quote"], kinds["invented address"] + kinds["invented id"]) >= 100
    assert kinds["from memory"] >= 40


def test_there_are_enough_answers_of_the_third_author() -> None:
    """A share that is measured with part 2 means something."""
    assert min(Counter(answer.language for answer in right(2)).values()) >= 14
    kinds = Counter(answer.kind for answer in wrong(2))
    assert min(kinds["other row"], kinds["other row by reference"], kinds["invented quote"]) >= 40
    assert min(kinds["invented address"], kinds["invented id"]) >= 30
    assert kinds["from memory"] >= 20
