"""Cells of tables, as files hold them."""

from __future__ import annotations

import csv
import io

import pytest

from bot.library.documents.spreadsheets import csv_file
from bot.slack.ui.tables import as_csv

FORMULAS = [
    *(f"{sign}1+1" for sign in "=+-@＝＋－＠﹦﹢﹣﹫⁼⁺"),
    " =1+1",
    "\u00a0=1+1",
    "\u3000＝1+1",
    "\t=1+1",
    "\r=1+1",
    "\n=1+1",
    "\u200b=1+1",
    "\ufeff=1+1",
    "\u2060 \u200b =1+1",
    "\u2800=1+1",
    "\x1b=1+1",
    "\tx",
]


@pytest.mark.parametrize("text", FORMULAS)
def test_no_cell_of_a_csv_file_is_run_as_a_formula(text: str) -> None:
    """However the sign is spelled, and whatever invisible characters stand before it."""
    for data in (csv_file([text], [[text]]), as_csv([[text], [text]])):
        rows = list(csv.reader(io.StringIO(data.decode("utf-8-sig"), newline="")))
        assert [row[0][:1] for row in rows] == ["'", "'"]


@pytest.mark.parametrize(
    "text", ["-3", "+1,234.5", "-2.5e-07", "-12%", "a=1", "– dash", "−5", "'=1"]
)
def test_what_is_no_formula_stays_as_it_is(text: str) -> None:
    """Negative numbers above all."""
    for data in (csv_file([text], [[text]]), as_csv([[text], [text]])):
        assert list(csv.reader(io.StringIO(data.decode("utf-8-sig")))) == [[text], [text]]


def test_numbers_stay_numbers() -> None:
    """Also those that are written with an exponent or are infinite."""
    assert csv_file(["n"], [[-1e-300], [float("-inf")]]).decode("utf-8-sig").split() == [
        "n",
        "-1e-300",
        "-inf",
    ]
