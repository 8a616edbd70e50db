"""What operators read of a run while it goes on."""

from __future__ import annotations

import json
import logging
import re
from dataclasses import replace

import pytest

from bot.agent.events import Paused, RoomAwaited, RunStarted
from bot.agent.limits import Limits
from bot.agent.state import LoopState, Transition
from bot.core.audit_kinds import AuditKind
from bot.core.run_log import NOTICE
from bot.dev.model import (
    ModelRequest,
    Reply,
    ResponsesServer,
    Script,
    call,
    calls,
    errors,
    finish,
    text,
)
from bot.runs.narration import Narrator
from bot.store import Stores
from tests.support.commands import said_by
from tests.support.redis import asked
from tests.support.runs import answer, bot_on, bot_with


async def test_no_words_of_people_are_logged_unless_they_are_wanted(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """(O8) What a tool is called with is not in the log."""
    caplog.set_level(logging.INFO, "bot.words")
    script = Script([calls(("calculate", {"expression": "40+2"})), finish(answer())])
    lines = await narrated(stores, script, caplog)
    assert any("calculate" in line for line in lines)
    assert "40+2" not in str(lines)


async def narrated(stores: Stores, script: Script, caplog: pytest.LogCaptureFixture) -> list[str]:
    """The lines of one run, without its id."""
    with caplog.at_level(NOTICE):
        async with bot_with(stores, script) as bot:
            outcome = await bot.ask("1+1?")
    records = [each for each in caplog.records if each.name == "bot.run"]
    assert {each.levelno for each in records} == {NOTICE}
    assert {vars(each)["run_id"] for each in records} == {outcome.run_id}
    return [each.getMessage().removeprefix(f"{outcome.run_id} ") for each in records]


async def test_each_event_is_one_line_for_people(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """I5 A4: between INFO and WARNING; tools with what they were asked, and why the loop went on."""
    caplog.set_level(logging.DEBUG, "bot.words")
    asked = calls(("calculate", {"expression": "1+1"}), ("read_file", {"file_id": "F0LOST"}))
    lines = await narrated(stores, Script([asked, finish(answer())]), caplog)
    assert logging.INFO < NOTICE < logging.WARNING
    told = [re.sub(r"[\d,]+ tokens, \$[\d.]+|\d+\.\d s", "…", line) for line in lines]
    assert told[0].startswith("turn 0 · started with ")
    assert sorted(told[3:7]) == [
        "turn 1 · calculate · Calculate 1+1 · ok, … · 2",
        "turn 1 · calculate · Calculate 1+1 · started",
        "turn 1 · read_file · Read a file · failed, … · There is no file F0LOST. Files here: none.",
        "turn 1 · read_file · Read a file · started",
    ]
    assert told[1:3] + told[7:] == [
        "turn 1 · asking gpt-5.4-mini with 1 message, at most 20 turns",
        "turn 1 · the model responded · asked for 2 tool calls: calculate, read_file · …",
        "turn 1 · goes on: tools_answered",
        "turn 2 · asking gpt-5.4-mini with 2 messages, at most 20 turns",
        "turn 2 · the model responded · asked for 1 tool call: complete_task · …",
        "turn 2 · success: completed · 2 turns, 2 tool calls · …",
    ]


async def test_the_next_model_has_its_line(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """F6 I5: which model was asked, why another goes on, and nothing goes on after the end."""

    def brain(request: ModelRequest) -> Reply:
        if request.body["model"] == "gpt-5.4-mini":
            raise errors.model_not_found("gpt-5.4-mini")
        return finish(answer())

    with caplog.at_level(NOTICE):
        async with bot_with(stores, brain, openai_fallback_models=("gpt-5.4",)) as bot:
            await bot.ask("1+1?")
    told = [each.getMessage().split(" ", 1)[1] for each in caplog.records if each.name == "bot.run"]
    assert "turn 1 · asking gpt-5.4-mini with 1 message, at most 20 turns" in told
    assert "turn 1 · goes on: fell_back" in told
    assert "turn 1 · asking gpt-5.4 with 1 message, at most 20 turns" in told
    assert "goes on" not in str(told[told.index("turn 1 · goes on: fell_back") + 1 :])


async def test_refused_calls_have_their_lines_and_entries(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """I5 D3: a name that does not exist, arguments that are no JSON or do not fit, a tool that was
    not acquired, tools nobody knows asked for: each is a line and an entry of the audit log. A name
    that the model made up may hold people's words, so it is in neither."""
    refused = calls(("call_ada_about_secret", {}), ("calculate", {"wrong": 1}), ("share_file", {}))
    bad = call("calculate", "{not json")
    script = Script(
        [
            replace(refused, disobey=True),
            replace(bad, disobey=True),
            call("acquire_tools", {"names": ["nothing_like_it"]}),
            finish(answer()),
        ]
    )
    lines = await narrated(stores, script, caplog)
    ended = [line for line in lines if "refused, 0.0 s" in line]
    assert sorted(line.split(" · ")[1] for line in ended) == [
        *("acquire_tools", "calculate", "calculate", "share_file", "unknown tool")
    ]
    assert "secret" not in "".join(lines)
    entries = [kept.entry async for kept in stores.audit.read("T1") if kept.entry]
    called = [(each.what, each.ok) for each in entries if each.kind is AuditKind.CALLED]
    assert sorted(called) == [
        ("acquire_tools", False),
        ("calculate", False),
        ("calculate", False),
        ("share_file", False),
        ("unknown tool", False),
    ]


async def test_what_people_and_tools_said_is_not_in_the_log(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """I5: a line says what was done, and holds neither question, narration, output nor answer."""
    looked = call("calculate", {"expression": "1+1"})
    script = Script([looked, text("Let me SECRET."), finish(answer("The SECRET."))])
    lines = await narrated(stores, script, caplog)
    assert "turn 2 · goes on: nudged" in lines
    assert "SECRET" not in "".join(lines)


async def test_a_call_that_is_not_made_again_is_not_said_to_be(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    async with ResponsesServer.open(Script([])) as api:
        api.api_key = "sk-wrong"
        async with bot_on(stores, api, limits=Limits(turns=1)) as bot:
            api.api_key = "sk-right"
            with caplog.at_level(NOTICE):
                await bot.ask("1+1?")
    told = [each.getMessage() for each in caplog.records]
    assert any("at most 1 turn" in line for line in told)
    assert any("the call to the model failed" in line for line in told)
    assert not any("again" in line for line in told)


async def test_acquired_tools_are_told(stores: Stores, caplog: pytest.LogCaptureFixture) -> None:
    """I5 D1."""
    script = Script([call("acquire_tools", {"names": ["convert_time"]}), finish(answer())])
    assert "turn 1 · acquired convert_time" in await narrated(stores, script, caplog)


def test_a_run_that_was_left_is_not_said_to_begin(caplog: pytest.LogCaptureFixture) -> None:
    """Its worker was killed, or its people took their time."""
    with caplog.at_level(NOTICE):
        Narrator(asked("?"), "run_1", LoopState(turn=3)).on_event(RunStarted("gpt"))
    assert caplog.messages[0].startswith("run_1 turn 3 · resumed with gpt for U")


def test_json_logs_carry_the_ids() -> None:
    """I5: beside the line, what a search needs: run, request, thread and user."""
    code = (
        "from bot.telemetry.logs import configure; configure('json')\n"
        "from bot.runs.narration import Narrator\n"
        "from bot.agent.events import RunStarted\n"
        "from tests.support.redis import asked\n"
        "Narrator(asked('?'), 'run_1').on_event(RunStarted('gpt'))"
    )
    said = said_by(code)
    line = json.loads(said)
    assert line["log.level"] == "NOTICE"
    assert line["message"].startswith("run_1 turn 0 · started with gpt for U")
    assert {"labels.run_id", "labels.request_id", "labels.thread_key", "user.id"} <= line.keys()


def test_whatever_is_logged_in_a_run_carries_its_ids() -> None:
    """Libraries and tools know nothing of runs; what they log is found with the run all the same. O8:
    their words may be people's, and are not shown."""
    code = (
        "import logging; from bot.telemetry.logs import configure; configure('json')\n"
        "from bot.core.context import RequestContext, bound_request\n"
        "from tests.support.redis import asked\n"
        "with bound_request(RequestContext(request=asked('?'), run_id='run_1')):\n"
        "    logging.getLogger('somebody').warning('Straße')\n"
        "logging.getLogger('somebody').warning('outside')"
    )
    said = said_by(code)
    inside, outside = map(json.loads, said.splitlines())
    assert inside["labels.run_id"] == "run_1"
    assert inside["message"].startswith("somebody logged something at <string>:5")
    assert inside.keys() - outside.keys() == {
        "labels.request_id",
        "labels.run_id",
        "labels.thread_key",
    }
    assert {"@timestamp", "log.level", "log.logger", "ecs.version"} <= outside.keys()


def test_every_transition_reads_as_a_word() -> None:
    """A4: what is logged of a step is the reason itself."""
    assert all(re.fullmatch(r"[a-z_]+", str(each)) for each in Transition)


def test_a_run_that_waits_says_for_what(caplog: pytest.LogCaptureFixture) -> None:
    """I5: for people, or for room in a budget; each is a line."""
    narrator = Narrator(asked("?"), "run_1")
    with caplog.at_level(NOTICE):
        for each in (Paused(("call_1",)), RoomAwaited(), RoomAwaited(ended=True)):
            narrator.on_event(each)
    assert caplog.messages == [
        "run_1 turn 0 · waits for people to decide about 1 tool call",
        "run_1 turn 0 · waits for room in a budget",
        "run_1 turn 0 · has room in the budget again",
    ]
