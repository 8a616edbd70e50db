"""What the stand-in model does besides tables, and how it says that it is one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from openai import AsyncOpenAI

from bot.app.tool_loading import catalogue
from bot.dev.model import ResponsesServer
from bot.dev.model.standin import StandIn
from bot.dev.model.standin.findings import Findings, NoValue
from tests.unit.local.standin_kit import ANSWER, Thread, message, shop

pytestmark = pytest.mark.heavy
"""The stand-in is frozen until a demo replaces it; the tests of the page run parts of it each time."""

PAGE = (
    "handle: doc_1 · 2 lines · source: Opening hours <https://example.org/hours>\n\n"
    "The museum opens daily at ten in the morning.\nTickets for students cost four euros."
)


@pytest.fixture
def thread() -> Thread:
    return Thread()


@pytest.mark.parametrize(
    ("question", "value"),
    [
        ("What is 17% of 340?", "= **57.80**"),
        ("What is 12.5% of 1,234.5?", "= **154.3125**"),
        ("10 / 3", "≈ **3.33**"),
        ("average of 1, 2 and 5", "is about **2.67**"),
        ("(12.5 + 3) * 4 = ?", "**62**"),
        ("what's 1,200 / 8?", "**150**"),
        ("square root of 144", "**12**"),
        ("sum of 1,2,3", "**6**"),
        ("average of 3, 5 and 10", "**6**"),
        ("250 plus 19% VAT", "**297.50**"),
        ("18% of 24,350 plus 100", "**4,483**"),
    ],
)
async def test_arithmetic_goes_to_the_calculator(thread: Thread, question: str, value: str) -> None:
    """The figure is the calculator's."""
    told = await thread.ask(question)
    assert told.names == ["calculate"]
    assert value in told.answer["summary"]


async def test_clocks(thread: Thread) -> None:
    """A place becomes its zone; a conversion names both times."""
    now = await thread.ask("What time is it in Tokyo?")
    assert now.given("current_time") == {"zone": "Asia/Tokyo"}
    assert "in Asia/Tokyo" in now.answer["summary"]
    told = await thread.ask("convert 3pm Berlin to New York")
    assert told.given("convert_time") == {
        "time": "15:00",
        "from_zone": "Europe/Berlin",
        "to_zone": "America/New_York",
    }
    assert "**15:00** in Europe/Berlin" in told.answer["summary"]
    assert "America/New_York" in told.answer["summary"]


@pytest.mark.parametrize(
    ("question", "zones"),
    [
        ("What time is it in Tokyo and New York?", ["Asia/Tokyo", "America/New_York"]),
        (
            "when it's 3pm in London, what time is it in Sydney and Los Angeles?",
            ["Europe/London", "Australia/Sydney", "America/Los_Angeles"],
        ),
    ],
)
async def test_several_cities_in_one_question(
    thread: Thread, question: str, zones: list[str]
) -> None:
    """Each gets its time, and where it is converted from is said once."""
    told = await thread.ask(question)
    assert [told.answer["summary"].count(f"in {zone} ") for zone in zones] == [1] * len(zones)


async def test_a_greeting_is_no_riddle(thread: Thread) -> None:
    told = await thread.ask("hello")
    assert told.answer["summary"].startswith("Hello!")
    assert told.answer["confidence"] == "high"


async def test_a_thread_is_summarised_with_quotations(thread: Thread) -> None:
    """Who took part, what was decided and what is open, with links to the messages."""
    thread.said("Ada", "Shall we ship on Friday?")
    thread.said("Bob", "The login page fails on Safari. I will fix it tomorrow.")
    thread.said("Ada", "We agreed that shipping moves to Monday.")
    told = await thread.ask("Summarise this thread")
    assert told.names == ["read_thread"]
    assert "3 messages by Ada and Bob" in told.answer["summary"]
    assert "shipping moves to Monday" in told.answer["summary"]
    assert any("Still open: Ada" in point for point in told.answer["key_points"])
    assert "https://slack.example/3.0" in {source["url"] for source in told.answer["sources"]}


async def test_what_somebody_said_is_found(thread: Thread) -> None:
    """The message that shares the question's words is quoted."""
    thread.said("Ada", "Lunch is at noon today.")
    thread.said("Bob", "The login page fails on Safari since yesterday.")
    told = await thread.ask("What was said in this thread about Safari?")
    assert "fails on Safari" in told.answer["summary"]
    assert "Lunch" not in told.answer["summary"]


async def test_all_that_somebody_said_is_told(thread: Thread) -> None:
    """One message is not passed off as all of them."""
    thread.said("Ben", "The office move is on Friday.")
    thread.said("Ada", "Fine with me.")
    thread.said("Ben", "Can somebody book the van?")
    told = await thread.ask("What did Ben say in this thread?")
    said = str([told.answer["summary"], told.answer["key_points"]])
    assert "office move" in said
    assert "book the van" in said
    assert "Fine" not in said


async def test_a_channel_is_read_by_its_name(thread: Thread) -> None:
    """A channel named in the question is handed to the tool, which is acquired first."""
    thread.said("Ada", "We decided to hire two people.")
    thread.conversation.channels["#ops"] = thread.conversation.messages
    told = await thread.ask("summarise #ops")
    assert told.names == ["acquire_tools", "read_channel"]
    assert told.given("read_channel")["channel"] == "#ops"
    assert all("in #ops?" in each for each in told.answer["follow_ups"])
    assert "hire two people" in told.answer["summary"]


async def test_a_page_is_fetched_and_quoted(thread: Thread) -> None:
    """The address goes to the tool; the answer quotes the page and links to it."""
    thread.outputs["fetch_page"] = [PAGE]
    told = await thread.ask("How much do students pay for tickets? https://example.org/hours")
    assert told.given("fetch_page")["url"] == "https://example.org/hours"
    assert "four euros" in told.answer["summary"]
    assert told.answer["sources"][0]["url"] == "https://example.org/hours"


async def test_a_page_that_is_refused(thread: Thread) -> None:
    """The reason stands in the answer."""
    thread.outputs["fetch_page"] = ["This address is not allowed: it is private."]
    told = await thread.ask("summarise http://127.0.0.1/secret")
    assert "could not be fetched" in told.answer["summary"]
    assert "not allowed" in told.answer["gaps"][0]


@pytest.mark.parametrize(
    ("question", "rows"),
    [
        (
            "In the database, what is the revenue by region?",
            [["North", "30.50"], ["South", "5.00"]],
        ),
        ("How many open orders per customer are in the database?", [["Bob", "1"], ["Ada", "1"]]),
        ("In the database: monthly revenue", [["2026-01", "10.50"], ["2026-02", "25.00"]]),
    ],
)
async def test_a_database_is_asked_across_its_tables(
    thread: Thread, tmp_path: Path, question: str, rows: list[list[str]]
) -> None:
    """The table is chosen by the words; columns of tables it refers to are joined."""
    thread.databases = shop(tmp_path / "shop.sqlite")
    told = await thread.ask(question)
    assert told.names[:2] == ["acquire_tools", "list_databases"]
    assert sorted(told.answer["table"]["rows"]) == sorted(rows)


async def test_going_on_with_a_database(thread: Thread, tmp_path: Path) -> None:
    """A follow-up asks the database again without naming it."""
    thread.databases = shop(tmp_path / "shop.sqlite")
    await thread.ask("In the database, what is the revenue by region?")
    told = await thread.ask("and by customer?")
    assert told.names == ["query_database"]
    assert told.answer["table"]["rows"] == [["Ada", "30.50"], ["Bob", "5.00"]]


async def test_when_something_is_stands_in_the_message_pointed_at(thread: Thread) -> None:
    """ "What time is the standup?" about a message is no question to the clock."""
    told = await thread.ask("What time is the standup?", quoted="Standup is moved to 10:30.")
    assert "10:30" in told.answer["summary"]


async def test_a_message_that_was_pointed_at(thread: Thread) -> None:
    """A shortcut's message is what the question is about."""
    told = await thread.ask(
        "Summarise this", quoted="The server was down for two hours. Bob fixed it at noon."
    )
    assert told.names == []
    assert "down for two hours" in told.answer["summary"]


async def test_a_tool_that_no_rule_knows(thread: Thread) -> None:
    """A deployer's own tool is found by its words and its arguments are guessed from its schema."""
    thread.extra.append({
        "type": "function",
        "name": "weather_forecast",
        "description": "The weather forecast for a city.",
        "parameters": {
            "type": "object",
            "properties": {
                "city": {"type": "string"},
                "unit": {"type": "string", "enum": ["celsius", "fahrenheit"]},
                "days": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            },
            "required": ["city", "unit", "days"],
            "additionalProperties": False,
        },
    })  # fmt: skip
    thread.outputs["weather_forecast"] = ["Sunny, 21 degrees."]
    told = await thread.ask("What is the weather forecast for Lisbon in celsius?")
    assert told.given("weather_forecast") == {"city": "Lisbon", "unit": "celsius", "days": None}
    assert told.answer["summary"] == "Sunny, 21 degrees."
    assert told.answer["confidence"] == "medium"


async def test_what_nothing_else_knows_somebody_may_have_said(thread: Thread) -> None:
    """The thread and its channel are looked through before it says that it cannot answer."""
    thread.said("Ben", "The launch moves to 12 December. Is that fine?")
    told = await thread.ask("When is the launch?")
    assert told.answer["summary"] == "Ben wrote in this thread: “The launch moves to 12 December.”"
    unheard = await thread.ask("What is the capital of France?")
    assert "stand-in model" in unheard.answer["summary"]
    assert unheard.answer["sources"] == []


@pytest.mark.parametrize(
    "question",
    [
        "Name the capital of France",
        "18% of 24,350 plus 12 instalments of 250",
        "Translate good morning to French",
        "(no words)",
        "",
        "??? \u202e 🦑",
    ],
)
async def test_what_it_does_not_understand(thread: Thread, question: str) -> None:
    """It says what it is, calls nothing, names no source, and offers what it does well."""
    told = await thread.ask(question)
    assert told.names == []
    assert "stand-in model" in told.answer["summary"]
    assert told.answer["sources"] == []
    assert told.answer["gaps"] == []  # what it is stands in the answer, and not twice
    assert told.answer["follow_ups"]


async def test_it_finishes_when_told_that_the_limit_is_near(thread: Thread) -> None:
    """C5: with a warning it goes no further, and says so."""
    note = "80% of the turns for this task is used. Plan to call complete_task soon."
    told = await thread.ask("total revenue by region", "sales.csv", note=note)
    assert told.names == ["read_file"]
    assert told.answer["confidence"] == "low"
    assert any("limit" in gap for gap in told.answer["gaps"])


async def test_it_obeys_a_forced_finish(thread: Thread) -> None:
    """C5: `tool_choice` leaves it nothing but complete_task."""
    thread.items.append({"role": "user", "content": "What is 2 + 2?"})
    [(name, answer)] = thread.think(forced=True)
    assert name == "complete_task"
    assert answer["gaps"]


async def test_other_response_types_are_filled_by_their_names(thread: Thread) -> None:
    """C3: a summary of a thread asks for other fields than an answer."""
    item = {
        "type": "object",
        "properties": {"task": {"type": "string"}, "owner": {"type": ["string", "null"]}},
        "required": ["task", "owner"],
        "additionalProperties": False,
    }
    strings = {"type": "array", "items": {"type": "string"}}
    properties: dict[str, Any] = {
        "overview": {"type": "string"},
        "participants": strings,
        "decisions": strings,
        "action_items": {"type": "array", "items": {"$ref": "#/$defs/Item"}},
        "open_questions": strings,
        "due": {"anyOf": [{"type": "string"}, {"type": "null"}]},
    }
    parameters = {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
        "$defs": {"Item": item},
    }
    thread.finish = {**ANSWER, "parameters": parameters}
    thread.said("Ada", "Shall we ship on Friday?")
    thread.said("Bob", "We decided to wait. I will fix the login page.")
    told = await thread.ask("Go")
    assert told.answer["participants"] == ["Ada", "Bob"]
    assert "We decided to wait" in told.answer["decisions"][0]
    assert told.answer["action_items"][0]["owner"] == "Bob"
    assert "Fix the login page" in told.answer["action_items"][0]["task"]
    assert told.answer["open_questions"] == ["Ada: “Shall we ship on Friday?”"]
    assert told.answer["due"] is None


YES_OR_NO = {"type": "string", "enum": ["yes", "no"]}
NUMBER = {"type": "integer"}
NO_VALUES: list[tuple[str, dict[str, Any]]] = [
    ("score", {"answer": {"type": "string"}, "score": NUMBER, "year": NUMBER}),
    ("score", {"answer": {"type": "string"}, "score": {"type": "string", "enum": ["good", "bad"]}}),
    ("answer", {"answer": YES_OR_NO}),
    ("regions", {"regions": {"type": "array", "items": {"type": "string"}}}),
    ("score", {"found": {"type": "object", "properties": {"score": NUMBER, "year": NUMBER}}}),
]


@pytest.mark.parametrize(("lacking", "properties"), NO_VALUES)
def test_a_value_that_was_not_found_is_not_made_up(
    lacking: str, properties: dict[str, Any]
) -> None:
    """Others would go on with it: words instead, that say which it is."""
    found = Findings(summary="Two.", figure=2)
    with pytest.raises(NoValue, match=lacking):
        found.arguments({"type": "object", "properties": properties})


def test_of_several_figures_each_is_taken_by_its_name() -> None:
    """A workflow goes on with them: the total is no figure of one row."""
    rows = [["High", "6"], ["low", "1,010"]]
    caption, columns = "Number of tickets by priority", ["priority", "number of tickets"]
    found = Findings(summary="…", caption=caption, columns=columns, rows=rows, figure=1016)

    def filled(*names: str) -> dict[str, Any]:
        return found.arguments({"properties": dict.fromkeys(names, NUMBER)})

    assert filled("high", "low", "total") == {"high": 6, "low": 1010, "total": 1016}
    assert filled("tickets") == {"tickets": 1016}
    for name in ("normal", "priority"):
        with pytest.raises(NoValue, match=name):
            filled(name)


async def test_through_the_server() -> None:
    """The same brain behind the API: reasoning, then a call that the SDK can read."""
    tools: Any = [
        {
            "type": "function",
            "name": "calculate",
            "strict": True,
            "parameters": {
                "type": "object",
                "properties": {"expression": {"type": "string"}},
                "required": ["expression"],
                "additionalProperties": False,
            },
        }
    ]
    async with (
        ResponsesServer.open(StandIn()) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key) as client,
    ):
        first = await client.responses.create(model="stand-in", input="What is 2 + 2?", tools=tools)
        assert [item.type for item in first.output] == ["reasoning", "function_call"]
        call = first.output[1]
        assert call.type == "function_call"
        output: Any = {
            "type": "function_call_output",
            "call_id": call.call_id,
            "output": "result: 4",
        }
        second = await client.responses.create(
            model="stand-in", input=[output], tools=tools, previous_response_id=first.id
        )
    assert "2 + 2 = **4**" in second.output_text


async def test_a_value_that_was_not_found_is_told_where_a_call_is_forced_too() -> None:
    """As a service that is forced to call may do all the same."""
    schema = {"type": "object", "properties": {"score": {"type": "integer"}}}
    tools: Any = [{"type": "function", "name": "complete_task", "parameters": schema}]
    forced: Any = {"type": "function", "name": "complete_task"}
    async with (
        ResponsesServer.open(StandIn()) as api,
        AsyncOpenAI(base_url=api.url, api_key=api.api_key, max_retries=0) as client,
    ):
        said = await client.responses.create(
            model="stand-in", input="Hello", tools=tools, tool_choice=forced
        )
    assert "My rules found no value for “score”." in said.output_text


async def test_several_messages_have_one_answer(thread: Thread) -> None:
    """What is asked while it works is answered with the rest."""
    thread.items.append({"role": "user", "content": "[Ada asks in #sales, now]\n\nwhat is 6 * 7?"})
    told = await thread.ask("and what is 8 * 8?")
    assert [arguments["expression"] for _, arguments in told.calls] == ["6 * 7", "8 * 8"]
    assert "**42**" in told.answer["summary"]
    assert "**64**" in told.answer["summary"]


async def test_a_list_that_no_rule_guesses_is_not_left_empty(thread: Thread) -> None:
    """The tool would only refuse it; what it gets is valid, which the thread checks."""
    told = await thread.ask("duplicates? any are there")
    assert told.names == ["acquire_tools"]
    assert "I cannot answer this" in told.answer["summary"]


@pytest.mark.parametrize(
    ("text", "tool", "arguments", "output", "summary"),
    [
        (
            "every Monday at 9 tell me the total revenue",
            "schedule_prompt",
            {"text": "tell me the total revenue", "cron": "0 9 * * MON"},
            "scheduled: s1 · every Monday at 09:00, next Mon 2026-11-23 09:00 Europe/Berlin · tell me",
            "“tell me the total revenue”, next on **Monday, 23 November at 09:00 (Europe/Berlin)**",
        ),
        (
            "Tell us what is open every weekday at 4:30 pm.",
            "schedule_prompt",
            {"text": "Tell us what is open", "cron": "30 16 * * MON-FRI"},
            "That person said no.",
            "“Tell us what is open” is not scheduled: That person said no.",
        ),
        (
            "Remember that our fiscal year starts in July.",
            "remember",
            {"text": "our fiscal year starts in July"},
            "Remembered as mem_1. They see it in the Home tab.",
            "I will remember “our fiscal year starts in July” in direct messages",
        ),
        (
            "remember for everybody here that our fiscal year starts in July",
            "remember_for_others",
            {"text": "our fiscal year starts in July", "where": "channel"},
            "Remembered as mem_1.",
            "I will remember “our fiscal year starts in July” for this channel.",
        ),
        (
            "what do you remember of me?",
            "recall",
            {},
            "Nothing is remembered here.",
            "Nothing is remembered here.",
        ),
        (
            "post 'Lunch at noon' in #sales",
            "post_message",
            {"channel": "#sales", "text": "Lunch at noon"},
            "posted in #sales\nlink: https://slack.example/1",
            "It is posted in **#sales**.",
        ),
    ],
)
async def test_what_is_kept_for_later_or_posted(
    text: str, tool: str, arguments: dict[str, Any], output: str, summary: str
) -> None:
    """What the README promises works without a key, and is told in words, not as a tool's output."""
    shipped = catalogue().get(tool)
    assert shipped is not None
    told = await Thread(extra=[shipped.definition()], outputs={tool: [output]}).ask(text)
    given = told.given(tool)
    assert {name: given[name] for name in arguments} == arguments
    assert summary in told.answer["summary"]
    assert "mem_1" not in told.answer["summary"]


async def test_a_number_that_a_form_must_have_is_found_or_not_invented(thread: Thread) -> None:
    """The next step of a workflow goes on with it."""
    total = {"type": "object", "properties": {"total": {"type": "number"}}, "required": ["total"]}
    thread.finish = {**ANSWER, "parameters": total}
    told = await thread.ask("total revenue by region", "sales.csv")
    assert told.answer == {"total": 386.5}
    thread.items.append(message("Who are you?", (), ""))
    assert thread.think() == []


async def test_asking_again_is_the_same_question(thread: Thread) -> None:
    """The words of Regenerate and Go deeper are not taken for the person's own."""
    again = "(You have answered this before, and more is wanted. Check what was least certain.)"
    told = await thread.ask(f"{again}\n\nWhich region has the highest revenue?", "sales.csv")
    assert told.answer["summary"].startswith("**North**")


async def test_thanks_are_taken(thread: Thread) -> None:
    """And are no question that was not understood."""
    assert (await thread.ask("Thanks!")).answer["summary"] == "You are welcome."
