"""Small talk and small jobs: few model calls, small requests, short answers, over the wire (U3, U10, C4,
K6)."""

import json
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.app.process import bot
from bot.core.answers import Answer
from bot.dev.model import (
    ModelRequest,
    Reply,
    ResponsesServer,
    Script,
    call,
    calls,
    finish,
    text,
)
from bot.dev.model.filling import fill
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.shortcuts.tasks import TASKS
from bot.settings import ModelSettings
from bot.slack.ui import words
from bot.slack.ui.buttons import APPROVE, DETAILS
from bot.text.token_estimate import estimated_tokens
from tests.support.deployment import configured
from tests.support.runs import answer
from tests.support.slack import GENERAL, Place, bot_in_slack, choose

FIRST_REQUEST = 8_000
"""Bytes that the first request of a conversation may take: instructions, tools and input as JSON."""
SMALL_TALK = 2_200
"""Tokens that it may take where nothing is asked that needs a tool."""

SALES = "C0SALES001"
EVALS = Path(__file__).parents[2] / "evals"

WELCOME = {"summary": "You are welcome!"}


def sent(body: dict[str, Any]) -> dict[str, Any]:
    """What a request takes of the context."""
    return {part: body[part] for part in ("instructions", "tools", "input")}


def size(body: dict[str, Any]) -> int:
    """In bytes, as the SDK writes JSON."""
    return len(json.dumps(sent(body), ensure_ascii=False, separators=(",", ":")).encode())


def left_out(fields: dict[str, Any]) -> dict[str, Any]:
    """An answer as a model gives it that leaves every other field out."""
    return dict.fromkeys({*Answer.model_fields}) | fields


@pytest.mark.parametrize(
    "reply", [text("You are welcome!"), finish(left_out(WELCOME))], ids=["text", "call"]
)
async def test_thanks_take_one_model_call_and_one_line(redis_url: str, reply: Reply) -> None:
    """U3: as plain text (C4) or as a call with nothing but the text; the request is bounded."""
    async with bot_in_slack(Script([reply]), redis_url) as place:
        said = await place.slack.say(ADA, GENERAL, place.mention("thank you!"))
        message = await place.answered(said["ts"], "You are welcome!")
    [request] = place.api.requests
    assert estimated_tokens(json.dumps(sent(request.body))) < SMALL_TALK
    kinds = [block["type"] for block in message["blocks"]]
    assert kinds == ["markdown", "context_actions", "context"]
    [footer] = message["blocks"][-1]["elements"]
    assert footer["text"].startswith("gpt-5.4-mini · ")
    assert footer["text"].count(" · ") == 2


async def test_the_instructions_say_when_sources_are_needed_and_when_not(redis_url: str) -> None:
    """U3: a translation of several lines is taken whole, without a word of doubt or of sources."""
    whole = "Bonjour à tous,\n\nla réunion commence à 9 h.\n\nAda"
    async with bot_in_slack(Script([text(whole)]), redis_url) as place:
        said = await place.slack.say(ADA, GENERAL, place.mention("in French, please: Hello all"))
        message = await place.answered(said["ts"], "Bonjour")
    [request] = place.api.requests
    for word in ("small talk", "a rewrite", "a translation", "needs a source"):
        assert word in " ".join(request.body["instructions"].split())
    shown = str(message["blocks"])
    assert "la réunion" in shown
    assert words.SOURCES() not in shown
    assert "I am fairly sure" not in shown


async def test_details_open_after_a_restart_for_whoever_reads_the_answer(redis_url: str) -> None:
    """U10: turns, tool calls and tokens are one click away, in a process that never saw the run."""
    sales = answer("Sales rose to 4.2 M€.", key_points=["North grew most."])
    async with (
        Workspace.open() as slack,
        ResponsesServer.open(brain=Script([finish(sales)])) as api,
    ):
        settings = configured(slack, api, redis_url)

        def answered() -> dict[str, Any]:
            replies = slack.messages(GENERAL, asked["ts"])[1:]
            return next((each for each in replies if DETAILS in str(each.get("blocks"))), {})

        async with bot(settings):
            asked = await slack.say(ADA, GENERAL, f"<@{slack.bot_user_id}> how did sales go?")
            message = await slack.until(answered)
        assert "tokens" not in str(message["blocks"][-1])
        async with bot(settings):
            await choose(slack, BEN, GENERAL, message["ts"], DETAILS)
            [view] = await slack.until(lambda: slack.views(BEN))
    for fact in ("gpt-5.4-mini", "*Model calls*\n1", "*Tool calls*\n0", "*Tokens*\n"):
        assert any(fact in field["text"] for field in view["blocks"][0]["fields"])


def direct_of(place: Place) -> str:
    """The direct messages between Ada and the bot."""
    channel = place.slack.state.direct(ADA)
    assert channel is not None
    return channel.id


def done(request: ModelRequest) -> Reply:
    """A result of the type that is asked for, as empty as it can be."""
    [finishing] = [each for each in request.body["tools"] if each["name"] == "complete_task"]
    return finish(fill(finishing["parameters"], {}))


async def in_channel(place: Place) -> None:
    await place.slack.say(ADA, GENERAL, place.mention("Which region sold most last quarter?"))


async def in_direct(place: Place) -> None:
    await place.slack.say(ADA, direct_of(place), "Which region sold most last quarter?")


async def in_a_thread(place: Place) -> None:
    root = await place.slack.say(BEN, GENERAL, "Shall we raise the price to 12 €?")
    asked = place.mention("what did we decide?")
    await place.slack.say(ADA, GENERAL, asked, thread_ts=root["ts"])


async def with_a_file(place: Place) -> None:
    files = [("sales.csv", b"region,sold\nWest,2\n")]
    await place.slack.say(ADA, GENERAL, place.mention("Which sold most?"), files=files)


async def of_everything(place: Place) -> None:
    asked = (
        "Every Monday, remind me, and post this in #sales as a PDF: what https://a.example/x and "
        "sales.csv say, 15% of it"
    )
    await place.slack.say(ADA, GENERAL, place.mention(asked))


async def by_workflow(place: Place) -> None:
    outputs = ["answer", "details", "data", "complete"]  # as the manifest declares them
    await place.slack.run_step("answer_question", {"question": "Who is on call?"}, outputs)


def by_shortcut(callback: str) -> Callable[[Place], Awaitable[None]]:
    async def asking(place: Place) -> None:
        said = await place.slack.say(
            BEN, GENERAL, "Shall we launch on Tuesday? Carl does the page."
        )
        await place.slack.shortcut(ADA, callback, channel=GENERAL, ts=said["ts"])
        [view] = await place.slack.until(lambda: place.slack.views(ADA))
        await place.slack.submit(ADA, view["id"], {"where": {"where": "thread"}})

    asking.__name__ = callback
    return asking


KINDS = (
    *(in_channel, in_direct, in_a_thread, with_a_file, of_everything, by_workflow),
    *map(by_shortcut, TASKS),
)


@pytest.mark.parametrize("stateless", [False, True])
async def test_the_first_request_of_any_kind_is_small(
    redis_url: str, stateless: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    """K6 D1: with every default feature on; tools that the question needs are among it."""
    model = ModelSettings(stateless=stateless)
    sizes = dict[str, int]()
    async with bot_in_slack(done, redis_url, model=model) as place:
        for number, ask in enumerate(KINDS, 1):
            await ask(place)
            await place.slack.until(partial(lambda n: len(place.api.requests) >= n, number))
            sizes[ask.__name__] = size(place.api.requests[-1].body)
    with capsys.disabled():
        print(f"\nFirst requests in bytes, stateless={stateless}: {sizes}")  # noqa: T201
    assert {kind: n for kind, n in sizes.items() if n >= FIRST_REQUEST} == {}


def colleague(tool: str, arguments: dict[str, Any], summary: str) -> Callable[..., Reply]:
    """A model that makes one change and reports it at once; what it was not offered it gets first."""

    def reply(request: ModelRequest) -> Reply:
        if tool not in [each["name"] for each in request.body["tools"]]:
            return call("acquire_tools", {"names": [tool], "search": None})
        return calls((tool, arguments), ("complete_task", answer(summary)))

    return reply


TOMORROW = (datetime.now(UTC) + timedelta(days=1)).isoformat(timespec="minutes")
CHANGES: dict[str, tuple[str, str, dict[str, Any]]] = {
    "remind me": (
        "Erinnere mich morgen daran, Carl anzurufen",
        "schedule_prompt",
        {"text": "Remind Ada to call Carl.", "at": TOMORROW, "cron": None},
    ),
    "every Monday": (
        "Every Monday at 9, tell me who is on call",
        "schedule_prompt",
        {"text": "Who is on call?", "at": None, "cron": "0 9 * * MON"},
    ),
    "remember": (
        "Remember that my team is Atlas",
        "remember",
        {"text": "my team is Atlas", "kind": "fact"},
    ),
    "post this": (
        "Post this in #sales: lunch is ready",
        "post_message",
        {"channel": "sales", "text": "lunch is ready", "thread": None},
    ),
}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("job", CHANGES)
async def test_a_small_change_takes_one_model_call(
    redis_url: str, job: str, stateless: bool
) -> None:
    """K6 C1: the tool is offered by what was asked, and the result beside the change counts; what
    needs an approval waits for it in between."""
    asked, tool, arguments = CHANGES[job]
    brain = colleague(tool, arguments, "That is done.")
    model = ModelSettings(stateless=stateless)
    async with bot_in_slack(brain, redis_url, model=model) as place:
        direct = direct_of(place)

        def posted(mark: str) -> dict[str, Any]:
            messages = [*place.slack.messages(direct), *place.slack.messages(direct, said["ts"])]
            return next((m for m in messages if mark in str(m.get("blocks"))), {})

        said = await place.slack.say(ADA, direct, asked)
        if tool == "post_message":
            card = await place.slack.until(lambda: posted(APPROVE))
            await place.slack.click(ADA, direct, card["ts"], APPROVE)
        await place.slack.until(lambda: posted("That is done."))
    assert len(place.api.requests) == 1


READS: dict[str, tuple[str, list[tuple[str, bytes]], str, dict[str, Any]]] = {
    "what was decided": (
        "What was decided in #sales?",
        [],
        "read_channel",
        {"channel": "sales", **dict.fromkeys(("limit", "time_range", "query", "compact"))},
    ),
    "one clause of a contract": (
        "Wie lange ist die Kündigungsfrist?",
        [("contract.pdf", (EVALS / "contract.pdf").read_bytes())],
        "read_file",
        {"file_id": "contract.pdf", "query": "notice termination"}
        | dict.fromkeys(("sheet", "pages", "compact")),
    ),
}


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("job", READS)
async def test_a_small_question_takes_two_model_calls(
    redis_url: str, job: str, stateless: bool
) -> None:
    """K6: one to read, one to answer, as text or as a call."""
    asked, files, tool, arguments = READS[job]

    def reply(request: ModelRequest) -> Reply:
        if any(item.get("type") == "function_call_output" for item in request.body["input"]):
            return text("Three months.")
        offered = [each["name"] for each in request.body["tools"]]
        return (
            call(tool, arguments) if tool in offered else call("acquire_tools", {"names": [tool]})
        )

    async with bot_in_slack(reply, redis_url, model=ModelSettings(stateless=stateless)) as place:
        await place.slack.say(ADA, SALES, "We go with the blue one.")
        said = await place.slack.say(ADA, GENERAL, place.mention(asked), files=files)
        await place.answered(said["ts"], "Three months.")
    assert len(place.api.requests) == 2


async def test_what_was_decided_above_needs_no_tool(redis_url: str) -> None:
    """K6: the thread comes with the question."""
    async with bot_in_slack(Script([text("The blue one.")]), redis_url) as place:
        root = await place.slack.say(BEN, GENERAL, "We go with the blue one.")
        asked = place.mention("what was decided?")
        await place.slack.say(ADA, GENERAL, asked, thread_ts=root["ts"])
        await place.answered(root["ts"], "The blue one.")
    assert "We go with the blue one." in str(place.api.requests[0].body["input"])
