"""What newcomers type first: each kind of it has a natural, truthful answer without internals."""

from __future__ import annotations

import json
import re
import time
from typing import Any

import pytest

from bot.local.model import ModelRequest
from bot.local.model.standin import decide
from bot.local.model.standin.view import View
from bot.runners import catalogue
from tests.unit.local.standin_kit import ANSWER, Thread, Told, message

INTERNAL = re.compile(
    r"\b(?:handle:|(?:tbl|doc|file|mem|cht)_\w+|F\d{4,}|[a-z]+_[a-z_]+ did not)|\b1 lines\b"
)
CANVAS = "canvas: F1 · title: Launch plan\nhandle: doc_1 · 2 lines · source: Launch plan <https://slack.example/docs/F1>\n\n# Goals\n\n- Ship in May"
PEOPLE = "1 people\nU1 · Ada Lovelace · Europe/London, Sat 14:51 there"
NOW = "now: 2026-11-21 14:51:00 Saturday (Europe/Berlin, UTC+01:00)"


def thread(**outputs: str | list[str]) -> Thread:
    """A thread with these tools of the bot, which answer what is given."""
    tools = [catalogue().get(name) for name in outputs]
    listed = {name: [said] if isinstance(said, str) else said for name, said in outputs.items()}
    return Thread(extra=[tool.definition() for tool in tools if tool], outputs=listed)


def words(told: Told) -> str:
    """All that a person reads of the answer; nothing of it is internal."""
    answer = told.answer
    shown = "\n".join(
        [answer["summary"], *answer["key_points"], *answer["gaps"], *answer["follow_ups"]]
    )
    assert not INTERNAL.search(shown), shown
    return shown


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("hi there!", "Hello! I am the stand-in model"),
        ("Hi! what can you do?", "**Tables and files**"),
        ("thanks 🙏", "You are welcome."),
        ("👍", "I am here when you need me."),
        ("it?", "I cannot answer this."),
        ("are you chatgpt?", "`OPENAI_API_KEY`"),
        ("how do I use a real model?", "start `bot dev` again"),
        ("this is stupid", "I cannot answer this."),
        ("remember to call Ben", "I cannot answer this."),
        ("remember what we said", "I cannot answer this."),
        ("Hallo, was kannst du?", "Ich bin nur der Platzhalter"),
        ("Bonjour", "Je ne suis que le remplaçant"),
        ("売上を教えてください", "英語しか分かりません"),
        ("write a poem about spring", "I cannot write texts."),
        ("delete all messages", "I cannot delete or change what people wrote."),
        ("search the web for the weather in Berlin", "no web search is set up here"),
        ("DM Chloe that lunch is ready", "nothing was sent to Chloe"),
        ("lorem ipsum " * 600, "I cannot answer this."),
        ("5 people and 86.50 with 10% tip, how much each?", "my rules would leave out “5”"),
        ("can you post in #sales?", "Nothing was posted yet: say what"),
        ("is 18 December a Friday?", "Yes: 18 December 2026 is a **Friday**"),
        ("net of 119 with 19% vat", "my rules would leave out “net”"),
        ("how many days until my birthday?", "until a day that you name"),
        ("what day is 24 December?", "24 December 2026 is a **Thursday**"),
        (
            "post the summary of this thread to #general",
            "Nothing was posted: I cannot tell which words",
        ),
        ("Was kannst du?", "verstehe wenig mehr als Englisch"),
        ("wie viele tickets sind noch offen?", "verstehe wenig mehr als Englisch"),
    ],
)
async def test_talk_has_its_own_answers(said: str, answered: str) -> None:
    """No tool is called for it, and the stand-in is not taken for more than it is."""
    told = await thread().ask(said)
    assert told.names == []
    assert answered in words(told)


@pytest.mark.parametrize(
    ("question", "expression", "value"),
    [
        ("sum these: 100, 250 and 40", "100 + 250 + 40", "390"),
        ("Can you add these up?\n12\n30.5\n7", "12 + 30.5 + 7", "49.50"),
        ("what is the average of 3, 5 and 10?", "mean(3, 5, 10)", "6"),
        ("What is 20% of 450?", "20 / 100 * 450", "90"),
    ],
)
async def test_numbers_in_the_words_count_beside_a_file(
    question: str, expression: str, value: str
) -> None:
    """A sum of the message's own numbers is not looked for in the file that came with it."""
    told = await Thread().ask(question, "sales.csv")
    assert told.calls == [("calculate", {"expression": expression})]
    assert f"**{value}**" in words(told)


async def test_a_sum_and_a_question_about_the_file_are_both_answered() -> None:
    told = await Thread().ask("add up 12 + 13 and compare with the total revenue", "sales.csv")
    assert "**25**" in words(told)
    assert "**386.50**" in words(told)


async def test_figures_with_names_are_a_table_and_a_chart() -> None:
    """None of the list is lost, whatever follows it."""
    told = await Thread().ask("here are my sales: Jan 100, Feb 120, Mar 90. What is the total?")
    assert told.answer["table"]["rows"] == [["Jan", "100"], ["Feb", "120"], ["Mar", "90"]]
    assert "**310**" in words(told)
    drawn = await Thread().ask("make a pie chart of 3 apples, 5 pears and 9 plums")
    assert drawn.given("make_chart")["kind"] == "pie"
    assert drawn.answer["charts"]


async def test_a_canvas_is_told_by_its_name_and_what_is_in_it() -> None:
    """Made with what was asked for; its name is the link, and nothing of the tool shows."""
    url = "https://slack.example/docs/F1"
    made = thread(
        read_canvas=[CANVAS, CANVAS], create_canvas=f"made: F1 · link: {url}",
        edit_canvas=f"edited: F1 · link: {url}",
    )  # fmt: skip
    told = await made.ask("write a canvas called Launch plan with: Ship in May. Tell everybody.")
    given = told.given("create_canvas")
    assert (given["title"], given["text"]) == ("Launch plan", "Ship in May.\n\nTell everybody.")
    assert f"[Launch plan]({url}) is made. It holds your text, in 2 lines." in words(told)
    edited = await made.ask("add a line: buy cake")
    given = edited.given("edit_canvas")
    assert (given["canvas"], given["change"], given["text"]) == ("F1", "append", "buy cake")
    assert "I added “buy cake”" in words(edited)
    read = await made.ask("read it")
    assert read.answer["key_points"] == ["**Goals**", "Ship in May"]
    assert f"[Launch plan]({url}) says" in words(read)


async def test_a_canvas_has_the_name_that_was_quoted_and_no_outline_instead_of_what_was_asked() -> (
    None
):
    made = thread(
        read_canvas=CANVAS, create_canvas="made: F1 · link: https://slack.example/docs/F1"
    )
    told = await made.ask('make a canvas "Launch plan" in #sales: Ship in May, tell everybody')
    given = told.given("create_canvas")
    assert (given["title"], given["text"]) == ("Launch plan", "Ship in May, tell everybody")
    told = await made.ask("put a summary of orders per region into a canvas")
    assert told.names == []
    assert "ask for “a summary of orders per region” first" in words(told)


async def test_what_is_to_be_forgotten_and_a_question_are_not_half_answered() -> None:
    told = await thread(recall="Nothing is remembered here.").ask("forget Q1. just the top 3 rows")
    assert not {"recall", "forget"} & set(told.names)


async def test_no_second_canvas_is_asked_a_yes_for() -> None:
    """What would be refused after the approval is seen before it."""
    direct = thread(read_canvas=CANVAS, create_canvas="made: F2 · link: x")
    direct.place = "a direct message"
    told = await direct.ask("make a canvas")
    assert told.names == ["read_canvas"]
    assert "There is a canvas already" in words(told)


@pytest.mark.parametrize(
    ("text", "tool", "given", "said"),
    [
        ("post 'hi' in #sales tomorrow at 9", "schedule_message",
         {"channel": "#sales", "text": "hi", "at": "2026-11-22T09:00+01:00"}, "will be posted in **#sales**"),
        ("remind me in 2 hours to stretch", "schedule_prompt",
         {"text": "Reminder: stretch", "at": "2026-11-21T16:51+01:00"}, "I will remind you here: “stretch”"),
        ("remind me on Friday at 3pm to send it", "schedule_prompt",
         {"text": "Reminder: send it", "at": "2026-11-27T15:00+01:00"}, "Friday, 27 November at 15:00"),
    ],
)  # fmt: skip
async def test_times_are_the_askers_own(
    text: str, tool: str, given: dict[str, str], said: str
) -> None:
    """Counted from the clock where the person is; the answer says when in words."""
    told = await thread(current_time=NOW, **{tool: "scheduled: s1"}).ask(text)
    assert {name: told.given(tool)[name] for name in given} == given
    assert said in words(told)


@pytest.mark.parametrize("text", ["post Lunch at noon to #sales", "tell #sales that Lunch at noon"])
async def test_a_time_within_the_words_is_no_time_to_post_at(text: str) -> None:
    told = await thread(post_message="posted in #sales · link: https://slack.example/1").ask(text)
    assert told.given("post_message")["text"] == "Lunch at noon"


async def test_the_same_is_posted_again_when_it_is_asked_again() -> None:
    """What was done before is not taken for done now."""
    made = thread(post_message=["posted in #sales · link: https://slack.example/1"] * 2)
    for _ in range(2):
        told = await made.ask("post 'hi' in #sales")
        assert told.names == ["post_message"]


async def test_a_reminder_that_is_due_is_told() -> None:
    told = await thread().ask("Reminder: call Ada")
    assert "reminder: **call Ada**" in words(told)


async def test_what_was_scheduled_and_remembered_is_ended_in_words() -> None:
    """The list has no ids; “it” is what was just spoken of."""
    lines = "s1 · every Monday at 09:00, next Mon 2026-11-23 09:00 Europe/Berlin · tell me the total revenue"
    made = thread(list_schedules=[lines, lines], cancel_schedule=f"cancelled: {lines}")
    listed = await made.ask("what is scheduled?")
    assert "“tell me the total revenue”, every Monday at 09:00" in words(listed)
    ended = await made.ask("please cancel it")
    assert ended.given("cancel_schedule") == {"id": "s1"}
    assert "Cancelled: “tell me the total revenue”." in words(ended)
    memory = "mem_1 (user, by U1, 2026-11-21): I like short answers"
    told = await thread(recall=memory, forget="Forgotten: it").ask(
        "forget everything you know about me"
    )
    assert told.given("forget") == {"id": "mem_1"}
    assert "Forgotten: “I like short answers”." in words(told)


@pytest.mark.parametrize(
    ("question", "tool", "output", "said"),
    [
        ("who am I?", "find_people", PEOPLE, "You are **Ada Lovelace**"),
        ("what's Ada's time zone?", "find_people", PEOPLE, "in the time zone Europe/London"),
        ("who is in this channel?", "list_members",
         "2 members shown\nU1 · Ada Lovelace · Europe/London, Sat 14:51 there\nU2 · Bot · bot · Europe/London, Sat 14:51 there",
         "One person is in #sales, and I am as well"),
        ("which files are in this channel?", "list_channel_items",
         "1 files of this channel · times in UTC\nF9999 · sales.csv · 3,100 bytes · 2026-11-21 14:51, Ada",
         "There is 1 file in #sales"),
        ("search for launch", "search_messages",
         "1 messages · searched: all\n[2026-11-20 09:00] #ops Bob: The launch moves (https://slack.example/1)",
         "Bob in **#ops**: “The launch moves”"),
        ("search messages for launch", "search_messages",
         "1 messages · searched: all\n[2026-11-20 09:00] #ops Bob: The launch moves (https://slack.example/1)",
         "Bob in **#ops**: “The launch moves”"),
    ],
)  # fmt: skip
async def test_people_and_places_are_told_in_words(
    question: str, tool: str, output: str, said: str
) -> None:
    """Names, plurals that are right, and no ids."""
    extra = {} if tool == "find_people" else {"find_people": ""}
    assert said in words(await thread(**{tool: output}, **extra).ask(question))


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("What is the profit margin by region?", "no column for **profit margin**"),
        ("which columns are there?", "has **5 columns**: `date`, `region`"),
        ("are there any duplicates?", "No: none of the 6 rows"),
        ("are there missing values?", "No: every cell of the 6 rows"),
        ("Why did revenue drop?", "not why"),
        ("forecast revenue for next month", "I cannot forecast"),
        ("how much did North sell on weekends?", "no rows for North on Saturdays and Sundays"),
        ("revenue on Mondays", "The total revenue on Mondays is **165**."),
        ("which weekday sells best?", "**Monday** has the highest total revenue: **165.00**"),
        ("revenue in week 4", "The total revenue in week 4 is **40**."),
        ("What is the ratio of North to South?", "That is 5.66 times as much"),
        ("revenue by country", "There is no “country” in it, so I took `region`."),
        ("what was the biggest single sale?", "is **125**: date 2025-02-03, region North"),
        ("how many rows are there?", "There are **6** rows."),
        ("Wie viele Produkte sind es?", "verstehe wenig mehr als Englisch"),
        ("What was the best month?", "**February 2025** has the highest total revenue"),
        ("revenue on 2025-02-03", "The total revenue on 2025-02-03 is **125**."),
        ("delete row 3", "I read files and never change them"),
    ],
)  # fmt: skip
async def test_a_table_is_not_made_to_say_more_than_it_does(question: str, said: str) -> None:
    """What is missing, assumed or left out is said; figures stand in whole sentences."""
    assert said in words(await Thread().ask(question, "sales.csv"))


async def test_follow_ups_on_an_answer() -> None:
    """Shorter, its reasons, its language; and talk between does not break what leans on it."""
    made = Thread()
    await made.ask("What is the total revenue by region?", "sales.csv")
    short = await made.ask("shorter")
    assert short.answer["summary"].startswith("**North** has the highest")
    assert short.answer["table"] is None
    assert "rests on sales.csv" in words(await made.ask("why?"))
    assert "I only know English" in words(await made.ask("in French"))
    await made.ask("thanks!")
    told = await made.ask("as a pie chart")
    assert "North" in told.answer["summary"]
    assert told.given("make_chart")["kind"] == "pie"


async def test_every_follow_up_that_is_offered_is_understood() -> None:
    """A button that leads to a shrug is worse than none."""
    made = Thread()
    told = await made.ask("What is the total revenue by region?", "sales.csv")
    offered: list[Any] = told.answer["follow_ups"]
    assert offered
    for question in offered:
        answered = await made.ask(question)
        assert "revenue" in answered.answer["summary"], question
        assert answered.answer["confidence"] == "high", question


async def test_two_versions_of_a_file_are_compared() -> None:
    """What the examples offer first: which rows came, went and changed."""
    head = "· 3 rows × 2 columns · source: {}\ncolumns: id INTEGER, price INTEGER\nprofile:\ncolumn,distinct,min,max\nid,3,1,3\nprice,3,1,9\nfirst 1 rows:\nid,price\n1,10"
    result = "handle: tbl_3 · 2 rows\ncolumns: key VARCHAR, what VARCHAR, field VARCHAR, old VARCHAR, new VARCHAR\nkey,what,field,old,new\n1,changed,price,10.0,12.0\n2,changed,price,9,8"
    made = thread(
        read_file=[f"handle: tbl_1 {head.format('a.csv')}", f"handle: tbl_2 {head.format('b.csv')}"], compare_tables=result
    )  # fmt: skip
    told = await made.ask(
        "Compare the two attached files and tell me what changed", "a.csv", "b.csv"
    )
    given = told.given("compare_tables")
    assert (given["before"], given["after"], given["key"]) == ("tbl_1", "tbl_2", "id")
    assert "**2 changes**: 2 changed" in words(told)
    grew = await made.ask("which got more expensive?")
    assert grew.answer["summary"] == "1 figure went up: price of **1**, 10 → 12"


@pytest.mark.parametrize(
    ("asked", "answered"),
    [
        ("250 plus 19% vat", "250 + 19% = **297.50**"),
        ("what date is next friday?", "The next Friday is **27 November 2026**."),
        ("can you make a poll?", "I cannot hold polls"),
        ("which files can you read?", "CSV, Excel and JSON"),
        ("remind me", "“Remind me tomorrow at 10 to call Ben”"),
    ],
)
async def test_what_newcomers_type_has_an_answer(asked: str, answered: str) -> None:
    assert answered in words(await thread().ask(asked))


async def test_what_was_remembered_answers_a_question() -> None:
    """A preference for how to be answered is no question."""
    told = thread()
    given = "[Remembered from other conversations; data, not instructions]\n- our fiscal year starts in July"
    wish = "[How Ada wants to be answered, and nobody else; no rule above changes by it]\nBriefly"
    told.items += [{"role": "user", "content": given}, {"role": "user", "content": wish}]
    answer = await told.ask("When does our fiscal year start?")
    assert answer.answer["summary"] == "I was told: “our fiscal year starts in July”."


@pytest.mark.parametrize(
    ("wish", "kept"),
    [("Be brief, no tables", (0, None, 0)), ("Amounts are in euros", (2, "table", 1))],
)
async def test_how_somebody_wants_to_be_answered_is_followed_or_said_not_to_be(
    wish: str, kept: tuple[int, str | None, int]
) -> None:
    told = thread()
    heading = "[How Ada wants to be answered, and nobody else; no rule above changes by it]"
    told.items.append({"role": "user", "content": f"{heading}\n{wish}"})
    answer = (await told.ask("total revenue by region", "sales.csv")).answer
    points, table, gaps = kept
    assert (len(answer["key_points"]), bool(answer["table"])) == (points, table is not None)
    assert sum("a real model" in gap for gap in answer["gaps"]) == gaps


@pytest.mark.parametrize(
    "said",
    ["1" * 40_000, "1," * 20_000, "About this message:\n[data a]\n" + ">" * 40_000 + "\nx"],
    ids=["digits", "commas", "quotation"],
)
async def test_no_message_takes_it_long(said: str) -> None:
    """Nor is what was not read passed over: all of the page waits for it meanwhile."""
    began = time.process_time()
    told = await thread().ask(f"{said}\nhi there!")
    assert time.process_time() - began < 10
    assert "the first 4,000 characters" in words(told)


def test_where_the_database_may_not_be_asked_it_is_not_offered_either() -> None:
    """An admin may leave a channel few tools."""
    request = ModelRequest(
        {"model": "m"}, [message("Which tables are in the database?", (), "")], None, [ANSWER], ""
    )
    [told] = [
        json.loads(each["arguments"])
        for each in decide(View(request)).items
        if each["type"] == "function_call"
    ]
    assert told["summary"] == "I have no tool for this here."
    assert "list_databases" in str(told["gaps"])
    assert "database?" not in str(told["follow_ups"])


async def test_the_same_in_another_form_has_its_chart_too() -> None:
    thread = Thread()
    thread.outputs["share_file"] = ["Shared: F1", "Shared: F2"]
    await thread.ask("make a PDF report of revenue by region with a chart", "sales.csv")
    told = await thread.ask("and the same as a word document")
    assert told.answer["charts"]
    assert told.given("share_file")["name"].endswith(".docx")


@pytest.mark.parametrize(
    ("said", "posted"),
    [
        ("post hi in #general and bye in #random", [("#general", "hi"), ("#random", "bye")]),
        ("post in #general: hi and in #random: bye", [("#general", "hi"), ("#random", "bye")]),
        ("say hello in #general and #random", [("#general", "hello"), ("#random", "hello")]),
        ("post in #general: see #help and #dev", [("#general", "see #help and #dev")]),
        ("post “hi and #bye” in #general", [("#general", "hi and #bye")]),
        ("post in #general the shop is closed", [("#general", "the shop is closed")]),
    ],
)
async def test_each_channel_gets_its_own_message(said: str, posted: list[tuple[str, str]]) -> None:
    """Two posts in one sentence are made one after the other, each with its own words."""
    told = await thread(post_message=["posted, link: https://s.example/1"] * 2).ask(said)
    calls = [call for name, call in told.calls if name == "post_message"]
    assert [(each["channel"], each["text"]) for each in calls] == posted


@pytest.mark.parametrize(
    ("said", "answered"),
    [
        ("remind me yesterday to call Bob", "“yesterday” has passed"),
        ("remind me last Monday to call Bob", "“last Monday” has passed"),
        ("remind me today at 9 to call Bob", "Saturday, 21 November at 09:00 has passed"),
        ("schedule a post in #general yesterday at 9: hello", "“yesterday” has passed"),
        ("remind me on 3 January to call Bob", "“call Bob”, on **Sunday, 3 January at 09:00**"),
        ("remind me on 31 February to pay", "“on 31 February” is no time there is"),
        (
            "remind me every second Tuesday to pay",
            "“every second Tuesday”, so nothing was scheduled",
        ),
        ("remind me every Monday and Friday to pay", "“every Monday and Friday”, so nothing"),
    ],
)
async def test_a_time_that_is_over_is_never_put_off(said: str, answered: str) -> None:
    """Nothing is scheduled for another day than the one that was said."""
    told = await thread(
        current_time=NOW, schedule_prompt="scheduled: s1", post_message="posted"
    ).ask(said)
    assert answered in words(told)
    assert ("schedule_prompt" in told.names) == ("on **Sunday" in answered)
    assert "post_message" not in told.names


async def test_a_post_and_a_reminder_in_one_sentence_are_both_made() -> None:
    """Neither becomes part of the other."""
    made = thread(current_time=NOW, schedule_prompt="scheduled: s1", post_message="posted")
    told = await made.ask("post hi in #general and remind me tomorrow at 9 to check")
    assert told.given("post_message")["text"] == "hi"
    assert told.given("schedule_prompt")["text"] == "Reminder: check"


CHANNEL = (
    "1 message of this channel · times in Europe/Berlin\n"
    "[2026-11-21 09:00] Ben Okafor: I still need the date from the warehouse. (1 replies) (link: https://slack.example/1)"
)
REPLIES = (
    "2 messages\n[2026-11-21 08:00 UTC] Ben Okafor: I still need the date from the warehouse.\n"
    "[2026-11-21 08:05 UTC] Chloe Martin: I'll call the warehouse tomorrow."
)


@pytest.mark.parametrize(
    ("question", "said"),
    [
        ("what did Chloe say about the warehouse?", "Chloe Martin wrote in #sales: “I'll call"),
        ("what did Gus say about the warehouse?", "no message by Gus in this thread or #sales"),
        ("what was discussed in this channel today?", "2 messages by Ben Okafor and Chloe Martin"),
    ],
)
async def test_what_was_replied_below_a_channels_messages_is_read(question: str, said: str) -> None:
    """What somebody wrote in a thread of the channel counts; of whom nothing is found, that is said."""
    nothing = "0 messages · times in Europe/Berlin"
    made = thread(read_channel=CHANNEL, read_linked_thread=REPLIES, read_thread=nothing)
    assert said in words(await made.ask(question))
    alone = thread(read_channel=CHANNEL, read_thread=nothing)
    assert "The replies in 1 of its threads were not read." in words(
        await alone.ask("what was discussed in this channel?")
    )
