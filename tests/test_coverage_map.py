"""The page that maps requirements to tests."""

from __future__ import annotations

from tests.coverage_map import IDS, PAGE, found, page

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


def test_every_requirement_has_its_row() -> None:
    """Tested or not: what is missing is to be seen."""
    assert list(IDS) == AGENT_LOOP
    text = page()
    assert [each for each in AGENT_LOOP if f"\n| {each} | " not in text] == []


def test_the_page_is_up_to_date() -> None:
    """When this fails: `python -m tests.coverage_map`."""
    assert PAGE.read_text("utf-8") == page()


def test_what_the_loop_exists_for_is_tested() -> None:
    """Pairing, endings, guards and cancelling each have tests by name."""
    assert {"B2", "C1", "G1", "H1"} <= found().keys()
