"""What is done for people once they allow it, now or later: the plain sentences work, and of anything
else nothing is done."""

from __future__ import annotations

from typing import Any

import pytest

from bot.app.tool_loading import catalogue
from tests.unit.local.standin_kit import Thread

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

CANVAS = "canvas: F1 · title: Launch plan\nhandle: doc_1 · 2 lines · source: Launch plan <https://slack.example/docs/F1>\n\n# Goals\n\n- Ship in May"
NOW = "now: 2026-11-21 14:51:00 Saturday (Europe/Berlin, UTC+01:00)"
URL = "https://slack.example/docs/F1"
DONE = {
    "post_message": "posted in #sales · link: https://slack.example/1",
    "schedule_message": "scheduled: m1",
    "schedule_prompt": "scheduled: s1",
    "list_schedules": "s1 · every Monday at 09:00, next Mon 2026-11-23 09:00 CET · tell me the news",
    "cancel_schedule": "cancelled: s1",
    "list_scheduled_messages": "0 waiting · times in Europe/Berlin",
    "cancel_scheduled_message": "cancelled",
    "read_canvas": CANVAS,
    "create_canvas": f"made: F1 · link: {URL}",
    "edit_canvas": f"edited: F1 · link: {URL}",
    "current_time": NOW,
}
LOOKS = {
    *("current_time", "list_schedules", "list_scheduled_messages", "read_canvas", "acquire_tools")
}
"""Tools that change nothing."""


NONE = "No question or reminder is scheduled. Messages that wait to be posted are told by list_scheduled_messages."
WAITS = "1 waiting · times in Europe/Berlin\nQ1 · Mon 2026-11-23 09:00 in #sales · good morning\neverybody"


def thread(**said: str) -> Thread:
    """A thread in which whatever is done works; tools with a text in `said` say that."""
    tools = [catalogue().get(name) for name in DONE if name != "current_time"]
    listed = {name: [text] * 9 for name, text in (DONE | said).items()}
    return Thread(extra=[tool.definition() for tool in tools if tool], outputs=listed)


@pytest.mark.parametrize(
    ("text", "tool", "given", "said"),
    [
        ("post Lunch at noon to #sales", "post_message", {"channel": "#sales", "text": "Lunch at noon"}, "posted in **#sales**"),
        ("tell #sales that Lunch at noon", "post_message", {"text": "Lunch at noon"}, "posted"),
        ("post “hi and #bye” in #general", "post_message", {"channel": "#general", "text": "hi and #bye"}, "posted"),
        ("post in #general: see #help and #dev!", "post_message", {"text": "see #help and #dev!"}, "posted"),
        ("post '*bold* ~old~ 2*3*4 `*a*`' in #general", "post_message", {"text": "**bold** ~~old~~ 2*3*4 `*a*`"}, "posted"),
        ("send a message to #general saying hello there", "post_message", {"channel": "#general", "text": "hello there"}, "posted"),
        ("announce in <#C0123ABCD|x> that we ship", "post_message", {"channel": "C0123ABCD", "text": "we ship"}, "posted in **that channel**"),
        ("set a reminder for tomorrow at 9 to call Ben", "schedule_prompt", {"text": "Reminder: call Ben"}, "at 09:00"),
        ("post 'hi' in #sales tomorrow at 9", "schedule_message",
         {"channel": "#sales", "text": "hi", "at": "2026-11-22T09:00+01:00"}, "will be posted in **#sales**"),
        ("post tomorrow at 9 in #sales: hi", "schedule_message",
         {"channel": "#sales", "text": "hi", "at": "2026-11-22T09:00+01:00"}, "will be posted in **#sales**"),
        ("tomorrow at 9 please post 'hi #dev' in #sales", "schedule_message",
         {"channel": "#sales", "text": "hi #dev", "at": "2026-11-22T09:00+01:00"}, "will be posted in **#sales**"),
        ("announce Friday lunch in #sales", "post_message", {"text": "Friday lunch"}, "posted in **#sales**"),
        ("remind me in 2 hours to stretch", "schedule_prompt",
         {"text": "Reminder: stretch", "at": "2026-11-21T16:51+01:00"}, "I will remind you here: “stretch”"),
        ("remind me to send it on Friday at 3pm", "schedule_prompt",
         {"text": "Reminder: send it", "at": "2026-11-27T15:00+01:00"}, "Friday, 27 November at 15:00"),
        ("remind me on 3 January to call Bob", "schedule_prompt", {"at": "2027-01-03T09:00+01:00"}, "Sunday, 3 January at 09:00"),
        ("remind me every weekday at 9 to stretch", "schedule_prompt", {"cron": "0 9 * * MON-FRI"}, "It is scheduled"),
        ("make a canvas “Launch plan” in #sales: Ship in May. Tell everybody.", "create_canvas",
         {"title": "Launch plan", "text": "Ship in May.\n\nTell everybody.", "channel": "sales"}, f"[Launch plan]({URL}) is made"),
        ("add to the canvas: *buy* cake", "edit_canvas", {"text": "**buy** cake"}, "I added"),
        ("make a canvas “L”: *Ship* it.", "create_canvas", {"text": "**Ship** it."}, "is made"),
        ("add to the canvas: buy cake", "edit_canvas", {"change": "append", "text": "buy cake"}, "I added “buy cake”"),
        ("replace May by June in the canvas", "edit_canvas",
         {"section": "- Ship in May", "text": "- Ship in June"}, "“Ship in June” stands now where “Ship in May” was"),
    ],
)  # fmt: skip
async def test_what_is_said_plainly_is_done(
    text: str, tool: str, given: dict[str, str], said: str
) -> None:
    """Exactly as it was said, bold as bold, at the asker's own time, and told in words."""
    told = await thread().ask(text)
    assert {name: told.given(tool)[name] for name in given} == given
    assert said in told.answer["summary"]


async def test_what_is_bold_in_a_canvas_stays_bold() -> None:
    """Also what is written in its place."""
    bold = CANVAS.replace("- Ship in May", "**Ship** in May")
    told = await thread(read_canvas=bold).ask("replace May by *June* in the canvas")
    assert told.given("edit_canvas")["text"] == "**Ship** in **June**"
    was_and_is = "“**Ship** in **June**” stands now where “**Ship** in May” was"
    assert was_and_is in told.answer["summary"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("post hi in #general and bye in #random", "one channel at a time"),
        ("post 'hi' in #general and 'bye' in #random", "one channel at a time"),
        ("say hello in #general and #random", "stand-in"),
        ("tomorrow post 'hi' in #general at 10", "do not understand it as it is put"),
        ("schedule a post in #general yesterday at 9: hello", "Nothing was posted"),
        ("post the summary of this thread to #general", "cannot tell whether"),
        ("post that to #general", "no answer to post yet"),
        ("remind me yesterday to call Bob", "Nothing was scheduled"),
        ("remind me last Monday to call Bob", "Nothing was scheduled"),
        ("remind me today at 9 to call Bob", "Saturday, 21 November at 09:00 has passed"),
        ("remind me on 31 February to pay", "“on 31 February” is no time there is"),
        ("remind me every second Tuesday to pay", "Nothing was scheduled"),
        ("remind me to pay every Monday and Friday", "Nothing was scheduled"),
        ("every Monday and Friday at 9 tell me the news", "Nothing was scheduled"),
        ("remind Ben to pay tomorrow", "Nothing was scheduled"),
        ("stop reminding me about Ben", "Which of these shall I cancel?"),
        ("put a summary of orders per region into a canvas", "Nothing was done"),
        ("put that into a canvas", "no answer with a source to put into a canvas"),
        ("delete the canvas", "Nothing was done"),
        ("rename the canvas to Plan B", "Nothing was done"),
        ("replace April by June in the canvas", "I changed nothing"),
    ],
)
async def test_of_what_is_not_understood_nothing_is_done(text: str, said: str) -> None:
    """Nothing is posted, scheduled, cancelled or written; how it is said comes back."""
    told = await thread().ask(text)
    assert set(told.names) <= LOOKS
    assert said in told.answer["summary"]


@pytest.mark.parametrize(
    ("text", "tool"),
    [("post it in #sales", "post_message"), ("put that into a canvas", "create_canvas")],
)
async def test_the_last_answer_is_posted_or_kept(text: str, tool: str) -> None:
    made = thread()
    await made.ask("what is 6 * 7?")
    assert "**42**" in (await made.ask(text)).given(tool)["text"]


async def test_a_reminder_without_a_time_is_offered_with_one() -> None:
    made = thread()
    [offered] = (await made.ask("remind me to call Ben")).answer["follow_ups"]
    assert (await made.ask(offered)).given("schedule_prompt")["text"] == "Reminder: call Ben"


async def test_what_is_scheduled_is_cancelled_by_its_button() -> None:
    made = thread()
    [button] = (await made.ask("what is scheduled?")).answer["follow_ups"]
    told = await made.ask(button)
    assert told.given("cancel_schedule") == {"id": "s1"}
    assert told.answer["summary"] == "Cancelled: “tell me the news”."


@pytest.mark.parametrize(
    "question", ["what is scheduled?", "what have I scheduled?", "show me what is scheduled"]
)
async def test_a_message_that_waits_is_told_as_scheduled_and_cancelled_by_its_button(
    question: str,
) -> None:
    """Beside questions and reminders, or alone."""
    made = thread(list_schedules=NONE, list_scheduled_messages=WAITS)
    told = (await made.ask(question)).answer
    assert told["summary"] == "One message waits to be posted:"
    [point], [button] = told["key_points"], told["follow_ups"]
    assert point == "“good morning everybody” in #sales, on Monday, 23 November at 09:00"
    cancelled = await made.ask(button)
    text = "good morning\neverybody"
    assert cancelled.given("cancel_scheduled_message") == {"id": "Q1", "text": text}
    both = (await thread(list_scheduled_messages=WAITS).ask(question)).answer
    assert both["summary"] == "One question is scheduled, and one message waits to be posted:"
    assert both["follow_ups"] == ["Cancel the schedule “tell me the news”", button]


async def test_it_is_the_only_thing_that_was_told_or_is_asked_back() -> None:
    """Of a question and a message neither is taken for "it"."""
    made = thread(list_schedules=NONE, list_scheduled_messages=WAITS)
    await made.ask("what is scheduled?")
    assert "cancel_scheduled_message" in (await made.ask("cancel it")).names
    made = thread(list_scheduled_messages=WAITS)
    await made.ask("what is scheduled?")
    told = await made.ask("cancel it")
    assert set(told.names) <= LOOKS
    assert told.answer["summary"] == "Which of these shall I cancel?"
    assert len(told.answer["follow_ups"]) == 2


async def test_nothing_is_scheduled_only_where_no_message_waits_either() -> None:
    told = (await thread(list_schedules=NONE).ask("what is scheduled?")).answer
    assert told["summary"].startswith("Nothing is scheduled: no question or reminder, and no mess")
    hidden = "0 waiting · more wait that are told of in a direct message only · times in UTC"
    made = thread(list_schedules=NONE, list_scheduled_messages=hidden)
    told = (await made.ask("what is scheduled?")).answer
    assert told["summary"] == "Nothing is scheduled that I can tell of here."
    assert "direct message" in str(told["gaps"])


async def test_the_same_is_posted_again_when_it_is_asked_again() -> None:
    """What was done before is not taken for done now."""
    made = thread()
    for _ in range(2):
        assert (await made.ask("post 'hi' in #sales")).names == ["post_message"]


async def test_a_reminder_that_is_due_is_told() -> None:
    told = await thread().ask("Reminder: call Ada")
    assert "reminder: **call Ada**" in told.answer["summary"]


async def test_a_post_and_a_reminder_in_one_sentence_are_both_made() -> None:
    """Neither becomes part of the other."""
    told = await thread().ask("post hi in #general and remind me tomorrow at 9 to check")
    assert told.given("post_message")["text"] == "hi"
    assert told.given("schedule_prompt")["text"] == "Reminder: check"


async def test_the_words_of_a_message_are_no_question_beside_it() -> None:
    told = await thread().ask("post in #sales: lunch is at noon and what time is it in Tokyo?")
    assert told.given("post_message")["text"] == "lunch is at noon and what time is it in Tokyo?"


async def test_a_canvas_is_read_by_its_name() -> None:
    """The name is the link, and nothing of the tool shows."""
    read = await thread().ask("read the canvas")
    assert read.answer["key_points"] == ["**Goals**", "Ship in May"]
    assert f"[Launch plan]({URL}) says" in read.answer["summary"]


async def test_no_second_canvas_is_asked_a_yes_for() -> None:
    """What would be refused after the approval is seen before it."""
    direct = thread()
    direct.place = "a direct message"
    told = await direct.ask("make a canvas")
    assert told.names == ["read_canvas"]
    assert "There is a canvas already" in told.answer["summary"]


async def test_figures_with_names_are_a_table_and_a_chart() -> None:
    drawn = await Thread().ask("make a pie chart of 3 apples, 5 pears and 9 plums")
    assert drawn.answer["table"]["rows"] == [["Apples", "3"], ["Pears", "5"], ["Plums", "9"]]
    assert drawn.given("make_chart")["kind"] == "pie"
    assert drawn.answer["charts"]


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what's the date today?", "Today is **Saturday, 21 November 2026**."),
        ("what day is 24 December?", "24 December 2026 is a **Thursday**."),
        ("what date is next Friday?", "27 November 2026 is a **Friday**."),
        ("how many days until 31 February?", "There is no such day in the calendar."),
    ],
)
async def test_days_are_told(question: str, said: str) -> None:
    told = await thread().ask(question)
    assert told.names == []
    assert told.answer["summary"] == said


async def test_days_are_counted_by_the_tools() -> None:
    counted: Any = [
        tool for name in ("count_days", "shift_date") if (tool := catalogue().get(name))
    ]
    made = Thread(extra=[tool.definition() for tool in counted])
    made.outputs = {
        "count_days": ["days: 34\nworking days: 24"],
        "shift_date": ["date: 2026-12-12 (Saturday)"],
    }
    until = await made.ask("how many days until Christmas?")
    assert until.given("count_days")["end"] == "2026-12-25"
    assert until.answer["summary"] == "It is **34 days** until Friday, 25 December 2026."
    ahead = await made.ask("what date will it be in 3 weeks?")
    assert ahead.given("shift_date")["days"] == 21
    assert ahead.answer["summary"] == "In 3 weeks it is **Saturday, 2026-12-12**."
