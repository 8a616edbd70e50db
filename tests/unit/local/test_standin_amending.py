"""What is typed instead of a yes, while it works, or asked again: the same once more, changed where that
was said."""

from __future__ import annotations

import re
from typing import Any

import pytest

from bot.agent.prompts import request_message
from bot.app.tool_loading import catalogue
from bot.core.request import Again
from tests.unit.local.standin_kit import Thread, message
from tests.unit.slack.samples import REQUEST

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

NOW = "now: 2026-11-21 14:51:00 Saturday (Europe/Berlin, UTC+01:00)"
OVERTAKEN = "Not done: a new message came before anybody decided.\nAsk again."
CHART = "handle: chart_1 · bar chart · 3 labels × 1 series · source: sales.csv\nimage: img_1"
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
        ("remind me on friday afternoon to call Ben", "yes", {"at": "2026-11-27T14:00+01:00", "text": "Reminder: call Ben"}),
        ("every Monday at 9 tell me the news", "every Tuesday instead", {"cron": "0 9 * * TUE"}),
        ("Every Monday at 9:00, ask me what I plan", "at 10:00 instead", {"cron": "0 10 * * MON", "text": "ask me what I plan"}),
        (POST, "no, use #general", {"channel": "#general", "text": "We ship on Friday"}),
        (POST, "in #random instead", {"channel": "#random", "text": "We ship on Friday"}),
        (POST, "change the text to: We ship today", {"channel": "#sales", "text": "We ship today"}),
        (POST, 'change the text to "We ship today!"', {"channel": "#sales", "text": "We ship today!"}),
        ('post "Reminder: lunch" in #sales', 'change the text to "Lunch!"', {"text": "Lunch!"}),
        (POST, "yes", {"channel": "#sales", "text": "We ship on Friday"}),
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


@pytest.mark.parametrize(
    ("question", "said"),
    [
        (POST, "make it sound better"),
        (POST, "make it Monday instead of Friday"),
        ("every Monday at 9 tell me the news", "make it Tuesday"),
    ],
)
async def test_a_change_that_is_not_understood_is_said_to_be_undone(
    question: str, said: str
) -> None:
    """Nothing is done, least of all once what was to be done again and again."""
    told = await waiting(question).ask(said)
    assert told.names == []
    assert (
        "Nothing was done. To have it otherwise, say “change the text to …”"
        in (told.answer["summary"])
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


async def test_a_follow_up_that_is_answered_again_goes_on_with_the_same() -> None:
    """Regenerate: its own earlier answer is not the question before."""
    thread, again = (
        Thread(),
        "(You have answered this before, and another answer is wanted. Work it out afresh.)",
    )
    await thread.ask("revenue by region", "sales.csv")
    first = await thread.ask("and by product?")
    for _ in range(2):
        told = await thread.ask(f"{again}\n\nand by product?")
        assert told.answer["summary"] == first.answer["summary"]
    chart = await thread.ask("only the South")
    assert chart.answer["table"]["caption"] == "Total revenue by product for South"


async def test_an_edited_question_that_is_answered_again_has_nothing_of_before_the_edit() -> None:
    """Regenerate below a revised answer: the first words of the question count no more."""
    thread = Thread()
    await thread.ask("what is the total revenue by region?", "sales.csv")
    await thread.ask("only the South")
    asked = REQUEST.model_copy(update={"text": "and by product?"})
    for again in (
        {"again": Again.EDITED, "before_edit": "only the South"},
        {"again": Again.REGENERATE},
    ):
        words = str(request_message(asked.model_copy(update=again))["content"]).split("\n\n", 1)[1]
        told = await thread.ask(words)
        assert told.answer["table"]["caption"] == "Total revenue by product"


@pytest.mark.parametrize(
    ("more", "summary"),
    [
        ("and make it a pie chart", "**North** has the highest total revenue"),
        ("and show it as a chart please", "**North** has the highest total revenue"),
        ("Can you show this as a chart, too?", "**North** has the highest total revenue"),
        ("give me a bar chart please", "**North** has the highest total revenue"),
        ("sorry, by product please", "**Widget** has the highest total revenue"),
        ("only the South please", "The total revenue for South"),
        ("only for 2025-01 please, as a pie chart", "**North** has the highest total revenue in"),
    ],
)
async def test_what_is_said_more_while_it_works_is_a_part_of_the_question(
    more: str, summary: str
) -> None:
    """The answer that is on its way is that of both."""
    thread = Thread(outputs={"make_chart": [CHART]})
    thread.items.append(message("What is the revenue by region?", ("sales.csv",), ""))
    told = await thread.ask(more)
    assert told.answer["summary"].startswith(summary)
    assert ("make_chart" in told.names) == ("chart" in more)


@pytest.mark.parametrize(
    ("first", "more", "declined"),
    [
        (message("revenue by region?", ("sales.csv",), ""), "only with a pony", "My rules do not know “pony”"),
        (message("what is 6 * 7?", (), ""), "you are funny", "I cannot answer “you are funny”."),
    ],
)  # fmt: skip
async def test_what_no_rule_takes_leaves_the_question_answered(
    first: dict[str, Any], more: str, declined: str
) -> None:
    """And it is named: of the two, the question is not what cannot be answered. What is offered next is
    what the answer leads to, and none of what stands in it."""
    told = (await Thread(items=[first]).ask(more)).answer
    answered, other = told["summary"].split("\n\n")
    assert "North" in answered or "42" in answered
    assert other.startswith(declined)
    assert not {"Total revenue by region", "What can you do?"} & {*told["follow_ups"]}


async def test_what_was_said_more_is_a_part_of_what_the_next_question_goes_on_with() -> None:
    thread = Thread()
    thread.items.append(message("What is the revenue by region?", ("sales.csv",), ""))
    await thread.ask("only in January")
    told = await thread.ask("and by product?")
    assert told.answer["table"]["caption"] == "Total revenue by product in January"
