"""A file of people, as somebody from a personnel department tries it."""

from __future__ import annotations

import pytest

from bot.services.tables import tables
from tests.support.conversation import asked
from tests.unit.local.standin_kit import Thread

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

COLUMNS = ["Name", "Department", "Salary", "Start date", "Bounce rate"]
FIRST = ("Ada", "Ben", "Chloe", "Dan", "Eve", "Finn", "Gus")
STAFF = [
    [f"{first} {last}", "Sales" if at % 2 else "IT", 40_000 + 5_000 * at, f"20{20 + at % 5}-03-0{1 + at}", at / 10]
    for at, (first, last) in enumerate(zip(FIRST * 2, ("Ito",) * 7 + ("King",) * 7, strict=True))
    if at < 9
] + [[f"{first} Lopez", "IT", 30_000, "2024-05-06", 0.5] for first in FIRST]  # fmt: skip


@pytest.fixture
async def thread() -> Thread:
    made = Thread()
    with asked("who works here?"):
        saved = await tables.save_rows(made.artifacts, COLUMNS, STAFF, name="staff.csv")
        made.outputs["read_file"] = [await tables.describe(made.artifacts, saved)] * 9
    return made


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ("How many people are in Sales?", "There are **4** people for Sales."),
        (
            "How many people are in each department?",
            "**IT** has the highest number of people: **12**",
        ),
        ("Who is in Sales?", "Here are all 4 people for Sales."),
        ("How many people started in 2024?", "There are **8** people in 2024."),
        ("salary of Gus King", "My rules do not know “Gus” and “King”"),
        ("salary of Gus Ito", "The total Salary for Gus Ito is **70,000**."),
        ("Who earns more than 70000?", "**2** Names have total Salary over 70,000: **Ben King**"),
        ("Which department has the worst bounce rate?", "My rules do not understand"),
        ("Who earns the most?", "**Ben King** has the highest total Salary: **80,000**"),
        ("Which department sold the most?", "My rules do not understand"),
    ],
)
async def test_people_are_asked_about(thread: Thread, question: str, told: str) -> None:
    """By names that the profile does not list, too; what is best of rates is not guessed."""
    answer = (await thread.ask(question, "staff.csv")).answer
    assert answer["summary"].startswith(told)


async def test_averages_are_no_parts_of_a_pie(thread: Thread) -> None:
    told = await thread.ask("average salary by department as a pie chart", "staff.csv")
    assert told.given("make_chart")["kind"] == "bar"
    assert any("parts of a whole" in gap for gap in told.answer["gaps"])


async def test_the_first_few_are_no_whole_pie(thread: Thread) -> None:
    """Their slices would be read as shares of everything."""
    told = await thread.ask("top 3 names by total salary as a pie chart", "staff.csv")
    assert told.given("make_chart")["kind"] == "bar"
