"""What is typed instead of a yes: the stand-in asks for the same once more, changed where that was said."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from bot.runners import catalogue
from tests.unit.local.standin_kit import Thread, message, shop

NOW = "now: 2026-11-21 14:51:00 Saturday (Europe/Berlin, UTC+01:00)"
OVERTAKEN = "Not done: a new message came before anybody decided.\nAsk again."
POST = "post 'We ship on Friday' in #sales"
REMIND = "remind me tomorrow at 10 to call Ben"


def waiting(question: str) -> Thread:
    """A thread in which the question's call was overtaken by what is said next."""
    names = ("post_message", "schedule_prompt", "cancel_schedule", "create_canvas", "current_time")
    tools = [catalogue().get(name) for name in names]
    thread = Thread(extra=[tool.definition() for tool in tools if tool])
    thread.items.append(message(question, (), ""))
    while (name := thread.think()[0][0]) in ("current_time", "acquire_tools"):
        thread.items[-1]["output"] = NOW
    assert name != "complete_task"
    thread.items[-1]["output"] = OVERTAKEN
    thread.outputs = {name: ["made: F1 · link: x"], "current_time": [NOW]}
    return thread


@pytest.mark.parametrize(
    ("question", "said", "changed"),
    [
        (REMIND, "make it 10:30 instead", {"at": "2026-11-22T10:30+01:00", "text": "Reminder: call Ben"}),
        (REMIND, "no, on Tuesday please", {"at": "2026-11-24T10:00+01:00"}),
        (REMIND, "in 2 hours", {"at": "2026-11-21T16:51+01:00"}),
        (REMIND, "Chloe, not Ben", {"text": "Reminder: call Chloe"}),
        ("every Monday at 9 tell me the news", "make it Tuesday", {"cron": "0 9 * * TUE"}),
        (POST, "no, use #general", {"channel": "#general", "text": "We ship on Friday"}),
        (POST, "change the text to: We ship today", {"channel": "#sales", "text": "We ship today"}),
        (POST, 'make it "We ship today" instead', {"channel": "#sales", "text": "We ship today"}),
        (POST, "make it Monday instead of Friday", {"text": "We ship on Monday"}),
        ('post "Standup moves to 10:15 tomorrow" in #sales', "make that 10:30", {"text": "Standup moves to 10:30 tomorrow"}),
        (POST, 'no: "We ship today"', {"text": "We ship today"}),
        ('ok post "Lunch is served" to #sales', "yes", {"channel": "#sales", "text": "Lunch is served"}),
        ("remind me on friday afternoon to call Ben", "yes", {"at": "2026-11-27T14:00+01:00", "text": "Reminder: call Ben"}),
        ("Every Monday at 9:00, ask me what I plan", "yes", {"cron": "0 9 * * MON", "text": "ask me what I plan"}),
        (POST, "no, #random please", {"channel": "#random", "text": "We ship on Friday"}),
        (POST, 'change the text to "We ship today!"', {"channel": "#sales", "text": "We ship today!"}),
        ('post "Reminder: lunch" in #sales', 'change the text to "Lunch!"', {"text": "Lunch!"}),
        (POST, "yes", {"channel": "#sales", "text": "We ship on Friday"}),
        ("create a canvas about our launch in #sales", "change the title to Big day", {"title": "Big day"}),
    ],
)  # fmt: skip
async def test_a_change_is_asked_a_yes_for(
    question: str, said: str, changed: dict[str, Any]
) -> None:
    """Same tool, same arguments but for what was said."""
    told = await waiting(question).ask(said)
    [(_, given)] = [call for call in told.calls if call[0] != "current_time"]
    assert {name: given[name] for name in changed} == changed


async def test_what_is_called_off_is_left_undone() -> None:
    told = await waiting(POST).ask("no, don't")
    assert told.names == []
    assert told.answer["summary"] == "All right, I leave it. Nothing was done."


async def test_a_change_that_is_not_understood_is_said_to_be_undone() -> None:
    told = await waiting(POST).ask("make it sound better")
    assert told.names == []
    assert told.answer["summary"].startswith(
        "Nothing was done, as my rules do not know this change."
    )


async def test_the_advised_words_work_after_a_change_that_was_not_understood() -> None:
    thread = waiting(POST)
    await thread.ask("make it sound better")
    told = await thread.ask("change the text to: We ship today")
    assert told.given("post_message")["text"] == "We ship today"


async def test_another_question_is_answered_and_the_first_is_said_to_be_undone() -> None:
    told = await waiting(POST).ask("what is 12 * 12?")
    assert told.names == ["calculate"]
    first, second = told.answer["summary"].split("\n\n")
    assert first.startswith("It was not posted in #sales: you wrote again")
    assert second.startswith("12 × 12 = **144**")


async def test_a_change_of_what_was_scheduled_cancels_it() -> None:
    """Nobody is reminded twice."""
    thread = waiting(REMIND)
    line = "Reminder: call Ben"
    thread.outputs |= {
        "schedule_prompt": [
            f"scheduled: s1 · once Sun 2026-11-22 10:00 CET · {line}",
            f"scheduled: s2 · once Sun 2026-11-22 11:30 CET · {line}",
        ],
        "cancel_schedule": [f"cancelled: s1 · once Sun 2026-11-22 10:00 CET · {line}"],
    }
    await thread.ask("yes")
    told = await thread.ask("make it 11:30")
    assert told.given("schedule_prompt")["at"] == "2026-11-22T11:30+01:00"
    assert told.given("cancel_schedule") == {"id": "s1"}


async def test_a_question_that_is_narrowed_before_its_answer_has_one_answer() -> None:
    thread = Thread()
    thread.items.append(message("total revenue by region", ("sales.csv",), ""))
    told = await thread.ask("Only for North please")
    assert "lower(\"region\") IN ('north')" in told.given("query_table")["sql"]
    assert "South" not in told.answer["summary"]
    assert "highest" not in told.answer["summary"]


async def test_a_question_to_a_database_is_narrowed_before_its_answer(tmp_path: Path) -> None:
    thread = Thread(databases=shop(tmp_path / "shop.db"))
    thread.items.append(message("total amount by customer as a chart", (), ""))
    told = await thread.ask("and please only for the North region")
    assert "**Ada**" in told.answer["summary"] or "Ada" in str(told.answer["table"])
    assert "Bob" not in str(told.answer)
    assert "make_chart" in told.names


async def test_an_answer_is_sent_on_and_not_looked_for_elsewhere() -> None:
    """ "Post that to #sales" orders something, and moves no question."""
    tool = catalogue().get("post_message")
    assert tool is not None
    outputs = {"post_message": ["posted. link: x"]}
    thread = Thread(extra=[tool.definition()], outputs=outputs, place="#random")
    thread.said("Ben", "Nordpack wants 4% more from January.")
    await thread.ask("what did Ben say about Nordpack?")
    given = (await thread.ask("post that to #sales")).given("post_message")
    assert given["channel"] == "#sales"
    assert "Nordpack wants 4% more" in given["text"]


async def test_messages_that_are_asked_anew_together_are_answered_each() -> None:
    """As Regenerate and an edit ask what one answer covered; the second follows from the first."""
    told = await Thread().ask("what is 6 * 7?\n\n---\n\nand 8 * 9?")
    assert {"42", "72"} <= set(re.findall(r"\d+", str(told.answer)))
