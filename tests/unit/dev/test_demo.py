"""The demo, which answers in `bot dev` without a model."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bot.agent.builtin.complete_task import ResponseType
from bot.app.tool_loading import catalogue
from bot.core.answers import ActionItems, Answer, DraftReply, Result, ThreadSummary
from bot.dev import demo as package
from bot.dev.demo import demo
from bot.dev.demo.words import LANGUAGES, example, language_of, questions, say, suggested
from bot.dev.model import ModelRequest
from bot.dev.page.examples import EXAMPLES
from bot.dev.sample_database import build
from bot.dev.workspace import ADA
from bot.evals.cases import Expect, read_cases
from bot.evals.models import DEMO, WALKTHROUGH, model_for_cases
from bot.evals.running import evaluate
from bot.features.clips.settings import ClipSettings
from bot.features.memories.clauses import has_clauses
from bot.features.shortcuts.tasks import TASKS
from bot.settings import Settings
from bot.slack.ui import words
from bot.text.translation import load_catalogue, reader
from tests.support.slack import GENERAL, bot_in_slack

CASES = Path(package.__file__).with_name("cases.yaml")

TOOLS = [each.definition() for each in catalogue().tools]


def request(
    *items: dict[str, Any],
    response: type[Result] = Answer,
    form: dict[str, Any] | None = None,
    tools: list[dict[str, Any]] = TOOLS,
    forced: bool = False,
) -> ModelRequest:
    """Return a request that ends with these items and offers all tools."""
    finish = ResponseType(response, response.text_field).definition
    offered = [*tools, {**finish, "parameters": form} if form else finish]
    choice = {"type": "function", "name": "complete_task"} if forced else "auto"
    return ModelRequest({"tool_choice": choice}, list(items), None, offered, "")


def asks(text: str, file: str = "") -> dict[str, Any]:
    listed = f"\n\nAttached files:\n- {file} (file_id F1, text/csv, 4 kB)" if file else ""
    return {
        "role": "user",
        "content": f"[Ada asks in #sales, 2026-11-21 09:00 UTC]\n\n{text}{listed}",
    }


def called(name: str, output: str) -> list[dict[str, Any]]:
    """Return a call and its output."""
    return [
        {"type": "function_call", "call_id": "c", "name": name, "arguments": "{}"},
        {"type": "function_call_output", "call_id": "c", "output": output},
    ]


def played(*items: dict[str, Any], output: str = "Not done: no.", **options: Any) -> dict[str, Any]:
    """Return the demo's answer when each of its calls has this output."""
    conversation = list(items)
    for _ in range(10):
        [made] = demo(request(*conversation, **options)).items
        if made["name"] == "complete_task":
            return dict(json.loads(made["arguments"]))
        conversation += called(made["name"], output)
    raise AssertionError(f"no end: {conversation}")


@pytest.mark.parametrize("model", [DEMO, WALKTHROUGH])
async def test_every_example_runs_the_tools_it_shows(model: str, tmp_path: Path) -> None:
    """U11: every example on the page works without a key, played by the demo and as a script."""
    build(tmp_path / "sample.sqlite")
    sample = {"databases": {"sample": tmp_path / "sample.sqlite"}}
    cases = [case.model_copy(update=sample) for case in read_cases([CASES])]
    async with model_for_cases(model, Settings(), cases) as settings:
        done = await evaluate(settings, cases, parallel=2, repeat=1, on_result=lambda _: None)
    assert {each.case: each.reasons for each in done.results if not each.passed} == {}
    said = {each.case: each.said for each in done.results}
    assert "34" in said["tickets-by-priority"]
    if model == DEMO:
        for each in done.results:
            assert "OPENAI_API_KEY" in each.said
            assert "OPENAI_BASE_URL" in each.said
        computed = "West has the highest total revenue, 108,226, and South the lowest, 72,434.5."
        assert said["revenue-by-region"].startswith(computed)


ODD = b"""shop,net [EUR],id
"a, b]",10.5,1
West,-3,2
WEST,7,3
,,4
"""


@pytest.mark.parametrize(
    ("question", "expected"),
    [
        (
            "What is the total net [EUR], by shop?",
            "a, b] has the highest total net [EUR], 10.5",
        ),
        ("How much is net [EUR]?", "The total net [EUR] is 14.5."),
        ("What is the average net [EUR]?", "The average net [EUR] is 4.83"),
    ],
)
async def test_figures_of_any_table_are_filled_in(
    question: str, expected: str, tmp_path: Path
) -> None:
    """evidence 1: the demo refers to figures, whatever the names of rows and columns are."""
    (tmp_path / "odd.csv").write_bytes(ODD)
    case = read_cases([CASES])[0].model_copy(
        update={
            "question": question,
            "files": (tmp_path / "odd.csv",),
            "expect": Expect(used=("read_file",)),
        }
    )
    async with model_for_cases(DEMO, Settings(), [case]) as settings:
        done = await evaluate(settings, [case], parallel=1, repeat=1, on_result=lambda _: None)
    [result] = done.results
    assert expected in result.said.replace("\\", "")
    assert "missing" not in result.said


def test_figures_are_references() -> None:
    """evidence 1: what the demo computed is filled in by code, in its sentence and in its table."""
    asked = asks("What is the total revenue by region?", file="sales.csv")
    read = "handle: tbl_aaaaaaaa · 9 rows × 2 columns\ncolumns: region VARCHAR, revenue BIGINT\n"
    made = called("read_file", f"{read}region,revenue\nWest,7")
    made += called("query_table", f"{read}region,revenue\nWest,7\nEast,5".replace("aa", "bb"))
    answer = json.loads(demo(request(asked, *made)).items[0]["arguments"])
    assert "{{tbl_bbbbbbbb.revenue[region=West]}}" in answer["summary"]
    assert "{{tbl_bbbbbbbb.revenue[region=East]}}" in answer["summary"]
    assert (answer["table"]["handle"], answer["table"]["rows"]) == ("tbl_bbbbbbbb", None)
    assert answer["confidence"] == "high"


async def test_what_needs_a_yes_waits_for_it(redis_url: str) -> None:
    """A post in another channel waits for approval of its exact text, and is then posted."""
    async with bot_in_slack(demo, redis_url) as place:
        ws, text = place.slack, place.mention("Post “We ship on Friday.” in #sales")
        asked = await ws.say("U0ADA00001", GENERAL, text)
        card = await place.answered(asked["ts"], "Approve")
        button = next(
            element
            for block in card["blocks"]
            for element in block.get("elements", ())
            if element.get("text", {}).get("text") == "Approve"
        )
        await ws.click(
            "U0ADA00001", GENERAL, card["ts"], button["action_id"], value=button.get("value")
        )
        await place.answered(asked["ts"], "is now posted in #sales")
        assert "We ship on Friday." in str(ws.messages("C0SALES001"))


UNKNOWN = ["Why is the sky blue?", "", "?", "Who is your favourite author?"]


@pytest.mark.parametrize("question", UNKNOWN)
def test_what_no_plan_fits_gets_one_sentence(question: str) -> None:
    """P2: an unknown question is told how to have it answered, without a tool call."""
    [made] = demo(request(asks(question))).items
    answer = json.loads(made["arguments"])
    assert answer["summary"] == say("en", "give_up")
    assert [answer["key_points"] or [], answer["gaps"]] == [[], []]
    assert (answer["confidence"], answer["table"]) == (None, None)
    assert 0 < len(answer["follow_ups"]) <= 3
    assert not any("revenue" in each for each in answer["follow_ups"])


@pytest.mark.parametrize("question", [*UNKNOWN, "What is revenue by month?"])
def test_a_table_is_not_totalled_for_a_question_about_something_else(question: str) -> None:
    """P2: with a table at hand, the sentence says what can be totalled; the table is not queried."""
    table = "handle: tbl_aaaaaaaa · 9 rows × 2 columns\ncolumns: region VARCHAR, revenue BIGINT\nx"
    answer = played(asks(question, file="sales.csv"), output=table)
    assert answer["summary"] == say(
        "en", "offers_by", name="sales.csv", numbers="revenue", groups="region"
    )
    assert answer["follow_ups"] == ["What is the total revenue by region?"]
    assert (answer["confidence"], answer["table"]) == (None, None)


def test_what_it_can_do_is_shown_by_the_examples() -> None:
    """The demo lists the questions that it knows."""
    [made] = demo(request(asks("What can you do?"))).items
    assert json.loads(made["arguments"])["key_points"] == questions("en")


@pytest.mark.parametrize("language", LANGUAGES)
async def test_what_the_product_suggests_is_answered_in_its_language(language: str) -> None:
    """Suggestions of the page, of Home, of direct messages and of shortcuts have a plan that answers in
    their language."""
    await load_catalogue(language)
    with reader(language):
        told = [text(place="#sales") for text in words.EXAMPLES_BESIDE]
        told += [text() for text in (*words.EXAMPLES_DIRECT, *words.EXAMPLES)]
        tasks = [task.asked() for task in TASKS.values()]
    assert {language_of(text) for text in (*told, *tasks)} == {language}
    for text in [*suggested(language), *told]:
        assert played(asks(text))["summary"] != say(language, "give_up"), text
    wish = example("a-wish-to-remember", language)
    [made] = demo(request(asks(wish))).items
    arguments = json.loads(made["arguments"])
    assert arguments["kind"] == "wish"
    assert has_clauses(wish, arguments["text"])  # or the tool refuses it
    assert [each["question"] for each in EXAMPLES[language]][1:] == suggested(language)
    assert EXAMPLES[language][0]["sample"] == "sales.csv"


def test_that_it_is_a_demo_is_said_once_in_a_conversation() -> None:
    """The first answer says what to set for a model, later ones do not."""
    first = played(asks("Hello"))
    assert first["gaps"] == [say("en", "about_demo")]
    assert played(asks("Hello"), *called("complete_task", "ok"), asks("Hello"))["gaps"] == []


KINDS = [
    (asks("What does https://town.example/parking say?"), "fetch_page"),
    (asks("What time is it in Lima?"), "current_time"),
    (asks("How many orders by product?"), "list_databases"),
    (asks("What was said in #design today?"), "read_channel"),
    (asks("What do you remember?"), "recall"),
    (asks("What is in it?", file="notes.csv"), "read_file"),
    *((asks(text), "") for text in questions("en")),
]


@pytest.mark.parametrize(("question", "tool"), KINDS)
def test_a_tool_that_fails_is_no_success(question: dict[str, Any], tool: str) -> None:
    """Each plan calls its tool, and reports a failure without claiming a figure."""
    [made] = demo(request(question)).items
    assert tool in ("", made["name"])
    answer = played(question)
    assert answer["summary"]
    assert not {"table", "charts"} & {name for name, value in answer.items() if value}
    assert "is now posted" not in answer["summary"]
    assert "Not done" not in str(answer)  # words of tools are for the model
    assert "I remember “" not in answer["summary"]


def test_a_page_is_quoted_and_its_address_cited() -> None:
    """The answer quotes the page and cites its address, without lines that only a model needs."""
    page = "handle: doc_1 · 2 lines · source: Parking\ntitle: Parking\n\nA permit costs 42 euros."
    answer = played(asks("What does https://town.example/parking say?"), output=page)
    assert answer["key_points"] == ["A permit costs 42 euros."]
    assert answer["sources"][0]["url"] == "https://town.example/parking"


@pytest.mark.parametrize("response", [ThreadSummary, ActionItems, DraftReply])
def test_each_response_type_is_filled(response: type[Result]) -> None:
    """C3: the message shortcuts have response types of their own, and the demo fills each of them."""
    thread = (
        "2 messages\n[2026-11-21 09:00] Ada: When?\n[2026-11-21 09:01] Ben: I will ask."
        "\n[2026-11-21 09:02] Answer Bot (you): I will answer."
    )
    answer = played(asks("Summarise this thread"), response=response, output=thread)
    response.model_validate(answer)
    assert answer[response.text_field]
    assert "Answer Bot" not in str(answer)
    if response is ActionItems:
        assert [task["task"] for task in answer["items"]] == ["Ben: I will ask."]


def test_a_form_of_somebody_else_is_not_filled_with_inventions() -> None:
    """C3: a caller's own schema is answered in words, because the demo has no values for it."""
    form = {"type": "object", "properties": {"total": {"type": "number"}}}
    reply = demo(request(asks("Hello"), form=form, forced=True))
    assert say("en", "greeting") in reply.items[0]["text"]
    assert reply.disobey


def test_it_ends_when_it_has_to_and_says_when_it_has_no_tool() -> None:
    """C5: the demo answers when `tool_choice` forces it, and says when a channel lacks the tool."""
    question = asks("What is 2 + 3?")
    [made] = demo(request(question, forced=True)).items
    assert made["name"] == "complete_task"
    acquire = {"name": "acquire_tools", "parameters": {"properties": {"names": {"type": "array"}}}}
    [made] = demo(request(question, tools=[acquire])).items
    assert json.loads(made["arguments"]) == {"names": ["calculate"]}
    refused = called("acquire_tools", "calculate: There is no such tool.")
    [made] = demo(request(question, *refused, tools=[acquire])).items
    assert "not available here" in made["arguments"]


def test_the_newest_question_counts_with_the_files_before_it() -> None:
    """A question during a run starts its own plan, and can still use the thread's table."""
    before = asks("What is the revenue by region?", file="sales.csv")
    conversation = [before, *called("read_file", "broken"), asks("And by product?")]
    [made] = demo(request(*conversation)).items
    assert (made["name"], json.loads(made["arguments"])["file_id"]) == ("read_file", "F1")


@given(
    text=st.text(max_size=200), output=st.text(max_size=200), file=st.sampled_from(["", "a.csv"])
)
def test_no_words_break_it(text: str, output: str, file: str) -> None:
    """Whatever people write and tools return, the demo answers."""
    assert played(asks(text, file=file), output=output)["summary"]


async def test_the_sample_of_a_voice_message_is_heard_and_answered(redis_url: str) -> None:
    """Sent without words, as the page can attach it; the same file can be played by a person."""
    sample = Path(package.__file__).parents[1] / "page/static/samples/voice.wav"
    clips = ClipSettings(model="whisper-1")
    async with bot_in_slack(demo, redis_url, clips=clips) as place:
        own = place.slack.state.direct(ADA)
        assert own
        voice = (sample.name, sample.read_bytes())
        said = await place.slack.say(ADA, own.id, "", files=[voice])
        await place.answered(str(said["ts"]), "4,383", channel=own.id)
