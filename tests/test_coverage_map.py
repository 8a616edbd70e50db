"""docs/requirements.md says what the agent loop does and which tests hold it to that."""

from __future__ import annotations

from tests.coverage_map import PAGE, ROWS, found, page

AGENT_LOOP = [
    "A1",
    "A2",
    "A3",
    "A4",
    "A5",
    "A6",
    "A7",
    "B1",
    "B2",
    "B3",
    "B4",
    "B5",
    "B6",
    "B7",
    "B8",
    "B9",
    "C1",
    "C2",
    "C3",
    "C4",
    "C5",
    "C6",
    "C7",
    "C8",
    "D1",
    "D2",
    "D3",
    "D4",
    "D5",
    "D6",
    "D7",
    "D8",
    "D9",
    "D10",
    "E1",
    "E2",
    "E3",
    "E4",
    "G1",
    "G2",
    "G3",
    "G4",
    "G5",
    "G6",
    "H1",
    "H2",
    "H3",
    "H4",
    "H5",
    "I1",
    "I2",
    "I3",
    "I4",
    "I5",
    "I6",
]


def test_every_requirement_is_one_plain_sentence() -> None:
    """With a name, and without codes of other pages."""
    assert list(ROWS) == AGENT_LOOP
    wrong = [name for name, said in ROWS.items() if not said.endswith(".") or ". " in said]
    assert wrong == []


def test_every_requirement_has_a_test() -> None:
    """One that no test names is a promise that nobody holds the project to."""
    tests = found()
    assert [name for name in ROWS if not tests.get(name)] == []


def test_the_page_is_up_to_date() -> None:
    """When this fails: `python -m tests.coverage_map`."""
    assert PAGE.read_text("utf-8") == page()
