"""The commands, each in a process of its own, as a person or a script runs them."""

from __future__ import annotations

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
import yaml
from aiohttp import web
from aiohttp.test_utils import TestServer
from typer.main import get_command
from typer.testing import CliRunner

from bot.cli import cli
from bot.core.answers import Answer
from bot.core.check import Level
from bot.dev.model import ResponsesServer, Script, call, finish, held, respond, text
from bot.dev.model.request import ModelRequest
from bot.dev.workspace import Workspace
from bot.features.triggers.judging import Posted
from bot.features.triggers.operators import REMOVE, RulesForOperators, change_rule
from bot.features.triggers.rules import Rest, Rule, RuleState
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.store import RuleStore
from bot.features.triggers.watching import outcome_counter
from bot.store import open_stores
from tests.support.commands import Command, start
from tests.support.ports import free_port
from tests.support.runs import answer

ROOT = Path(__file__).parents[2]


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Started:
    process: Command
    said: Path

    async def ended(self) -> Done:
        code = await self.process.wait()
        return Done(code, (self.said / "out").read_text(), (self.said / "err").read_text())


RUNNING = tempfile.TemporaryDirectory(prefix="own-")
"""Where the commands of these tests look for a `bot dev`: another of this user is none of theirs."""


@asynccontextmanager
async def started(
    folder: Path, *arguments: str, stdin: str | Path = os.devnull, **environment: str
) -> AsyncGenerator[Started]:
    """`bot …` in `folder`, with nothing set but what is given; killed at the end."""
    keep = {key: os.environ[key] for key in ("PATH", "HOME", "LANG") if key in os.environ}
    own = {"PYTHONPATH": str(ROOT), "COLUMNS": "200", "TMPDIR": RUNNING.name}
    environment = keep | own | environment
    with tempfile.TemporaryDirectory() as said:
        out, err = (Path(said) / name for name in ("out", "err"))
        out.touch()  # whoever looks before the process writes finds nothing, not no file
        process = start(
            *arguments, environment=environment, folder=folder, out=out, err=err, stdin=Path(stdin)
        )
        try:
            yield Started(process, Path(said))
        finally:
            process.kill()
            await process.wait()


async def bot(
    folder: Path, *arguments: str, stdin: str | Path = os.devnull, **environment: str
) -> Done:
    async with started(folder, *arguments, stdin=stdin, **environment) as command:
        return await command.ended()


def names_in(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def reaching(api: ResponsesServer) -> dict[str, str]:
    return {"OPENAI_BASE_URL": api.url, "OPENAI_API_KEY": api.api_key}


async def test_ask_about_a_file_and_get_json(tmp_path: Path) -> None:
    """Item 8: the same loop and tools as in Slack; progress on stderr, the outcome on stdout. What is
    piped in is a file, too."""
    (tmp_path / "sales.csv").write_text("region,revenue\nNorth,3\nSouth,4\n")
    (tmp_path / "piped").write_text("[1, 2]")

    def read(request: ModelRequest) -> Any:
        assert "sales.csv (file_id F1" in request.text
        assert "stdin.json (file_id F2" in request.text
        return call("read_file", {"file_id": "F1"})

    script = Script([respond(read), finish(answer("Seven."))])
    async with ResponsesServer.open(script) as api:
        done = await bot(
            tmp_path,
            "ask",
            "What is the total?",
            "--file",
            "sales.csv",
            "--json",
            "--stream",
            stdin=tmp_path / "piped",
            **reaching(api),
        )
    assert done.code == 0, done.err
    assert Answer.model_validate(json.loads(done.out)["result"]).summary == "Seven."
    assert "North" in str(api.requests[1].body["input"])
    assert "✓" in done.err
    assert "Read sales.csv" in done.err
    assert "NOTICE" not in done.err


async def test_a_dry_run_changes_nothing(tmp_path: Path) -> None:
    """D6: what would have been done is said to the model and listed in the end; no file appears."""

    def share(request: ModelRequest) -> Any:
        [tool] = [each for each in request.body["tools"] if each["name"] == "share_file"]
        given = dict.fromkeys(tool["parameters"]["properties"], "x.txt") | {"sheets": None}
        return call("share_file", given)

    script = Script(
        [call("acquire_tools", {"names": ["share_file"]}), respond(share), finish(answer())]
    )
    async with ResponsesServer.open(script) as api:
        done = await bot(tmp_path, "ask", "Share it", "--dry-run", **reaching(api))
    assert done.code == 0, done.err
    assert "Dry run: not done." in str(api.requests[2].body["input"])
    assert names_in(tmp_path) == []
    assert done.out.startswith("Two.\n")
    assert "Dry run, so this was not done:\n- " in done.out
    assert "share_file {" in done.out
    assert '"name": "x.txt"' in done.out


async def test_each_end_has_its_code(tmp_path: Path) -> None:
    """C8: 1 failed, 2 partial, 4 key refused, 5 out of time."""
    (tmp_path / "bot.toml").write_text("[limits]\nturn_seconds = 0.5\n")
    async with ResponsesServer.open(Script([])) as api:
        api.faults.fail("invalid_prompt")
        failed = await bot(tmp_path, "ask", "x", **reaching(api))
        looked = call("acquire_tools", {"search": "x"})
        announced = text("Let me look it up."), text("I'll look."), text("I'll look.", disobey=True)
        api.brain = Script([looked, *announced])
        partial = await bot(tmp_path, "ask", "x", **reaching(api))
        refused = await bot(tmp_path, "ask", "x", OPENAI_BASE_URL=api.url, OPENAI_API_KEY="sk-no")
        api.faults.fail("hang", times=2)
        late = await bot(tmp_path, "ask", "x", **reaching(api))
    assert [each.code for each in (failed, partial, refused, late)] == [1, 2, 4, 5]
    assert "Put it another way" in failed.out
    assert "does not accept my key" in refused.out
    assert "Traceback" not in failed.err + partial.err + refused.err + late.err


async def test_a_command_that_cannot_start_says_why_in_one_line(tmp_path: Path) -> None:
    """Its code is 3 for what is set wrong, 1 for what is away; nothing is left behind."""
    (tmp_path / "money.toml").write_text("[budgets]\nuser_day = 1\n[limits]\ncost = 2\n")
    model = {"OPENAI_API_KEY": "sk-x"}
    async with TestServer(web.Application()) as server:
        other, away = f"redis://127.0.0.1:{server.port}/0", f"redis://127.0.0.1:{free_port()}/0"
        cases: list[tuple[list[str], dict[str, str], int, str]] = [
            (["ask", "x"], {}, 3, "OPENAI_API_KEY is not set"),
            (["ask", "x", "--file", "none.csv"], {}, 3, "there is no file none.csv"),
            (["ask", "x", "--file", "-"], {}, 3, "nothing comes from stdin"),
            (["ask", "x"], {"PORT": "high"}, 3, "PORT"),
            (
                ["ask", "x"],
                model | {"OPENAI_MODEL": "mine", "BOT_CONFIG": "money.toml"},
                *(3, "the price of mine is not known"),
            ),
            (["serve"], {}, 3, "SLACK_BOT_TOKEN is not set"),
            (["worker"], {}, 3, "REDIS_URL is not set"),
            (["web"], {}, 3, "REDIS_URL is not set"),
            (["web"], {"REDIS_URL": "redis://:a#b@localhost/0"}, 3, "REDIS_URL: holds a character"),
            (["ask", "x"], model | {"REDIS_URL": away}, 1, "Redis cannot be reached"),
            (["usage"], {"REDIS_URL": away}, 1, "Redis cannot be reached"),
            (["usage"], {"REDIS_URL": other}, 3, "Redis answers in another protocol; correct"),
        ]
        for arguments, environment, code, said in cases:
            done = await bot(tmp_path, *arguments, **environment)
            assert (done.code, done.out) == (code, ""), done.err
            [line] = done.err.splitlines()
            assert line.startswith("bot: ")
            assert said in line
    done = await bot(tmp_path, "ask", "x", "--json")
    failure = json.loads(done.out)
    assert {"version": 1, "status": "failed", "note": failure["note"]} == failure
    assert f"bot: {failure['note']}\n" == done.err


@pytest.fixture
def temporary(tmp_path: Path) -> Path:
    """Where a process puts what it needs for a while."""
    (folder := tmp_path / "temporary").mkdir()
    return folder


@pytest.fixture
def hanging_up() -> Iterator[None]:
    """A terminal that is closed ends what was started in it, also where all this runs under nohup."""
    before = signal.signal(signal.SIGHUP, signal.SIG_DFL)
    yield
    signal.signal(signal.SIGHUP, before)


@pytest.mark.usefixtures("hanging_up")
@pytest.mark.parametrize("by", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
async def test_ctrl_c_stops_a_question(tmp_path: Path, temporary: Path, by: signal.Signals) -> None:
    """H1: the run ends in good order, with its own code; so does whoever closes the terminal, or has
    it ended. Nothing of it stays behind."""
    script = Script([held(text("never"), asyncio.Event())])
    async with (
        ResponsesServer.open(script) as api,
        started(tmp_path, "ask", "x", TMPDIR=str(temporary), **reaching(api)) as command,
    ):
        await api.until(lambda: api.requests and api.requests[0].response_id, timeout=60)
        assert names_in(temporary)
        command.process.send_signal(by)
        done = await command.ended()
    assert done.code == 130
    assert done.out.startswith("Stopped.")
    assert "Traceback" not in done.err
    assert names_in(temporary) == []


_HANGS = "import time, pathlib; pathlib.Path('{here}/hung').write_text('x'); time.sleep(60)"


@pytest.mark.parametrize("times", [1, 2])
async def test_ctrl_c_reaches_a_command_around_a_tool(tmp_path: Path, times: int) -> None:
    """C8 H1 D10: it is stopped with the run; a second Ctrl-C ends at once."""
    run = json.dumps([sys.executable, "-c", _HANGS.format(here=tmp_path)])
    config = f'[[hooks.before_tool]]\ntool = "*"\nrun = {run}\ntimeout = 60\n'
    replies = [call("calculate", {"expression": "1+1"}), finish(answer())]
    (tmp_path / "bot.toml").write_text(config)
    async with (
        ResponsesServer.open(Script(replies)) as api,
        started(tmp_path, "ask", "x", **reaching(api)) as command,
    ):
        async with asyncio.timeout(60):
            while not (tmp_path / "hung").exists():  # noqa: ASYNC110 - another process's file
                await asyncio.sleep(0.01)
        for _ in range(times):
            command.process.send_signal(signal.SIGINT)
        async with asyncio.timeout(20):
            done = await command.ended()
    assert done.code == 130
    assert "Traceback" not in done.err
    if times == 1:
        assert done.out.startswith("Stopped.")


@pytest.mark.parametrize(
    ("status", "body"),
    [
        (404, {"detail": "Not Found"}),
        (404, {"error": {"code": 404, "message": "File Not Found"}}),
        (405, {"detail": "Method Not Allowed"}),
        (200, {"status": "completed", "id": "resp_1"}),
        (200, {"choices": []}),
    ],
)
async def test_a_server_without_the_responses_api_is_a_wrong_setting(
    tmp_path: Path, status: int, body: dict[str, Any]
) -> None:
    """C8: one clear sentence, and the code of configuration."""

    async def answered(_request: web.Request) -> web.Response:
        return web.json_response(body, status=status)

    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", answered)
    async with TestServer(app) as server:
        url = str(server.make_url("/v1"))
        done = await bot(tmp_path, "ask", "x", OPENAI_BASE_URL=url, OPENAI_API_KEY="sk-x")
    assert done.code == 3
    assert "has no Responses API" in done.out
    assert "OPENAI_BASE_URL" in done.out
    assert "put LiteLLM in front" in done.out
    assert "Traceback" not in done.err


@pytest.mark.usefixtures("hanging_up")
@pytest.mark.parametrize("by", [signal.SIGTERM, signal.SIGHUP])
async def test_ended_before_it_began_it_leaves_nothing(
    tmp_path: Path, temporary: Path, by: signal.Signals
) -> None:
    """Its Redis is starting."""
    set_up = {"OPENAI_API_KEY": "sk-x", "TMPDIR": str(temporary)}
    async with started(tmp_path, "ask", "x", **set_up) as command:
        async with asyncio.timeout(60):
            # Python tries with a file of any name whether it may write there.
            while not any(name.startswith("bot-") for name in names_in(temporary)):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        command.process.send_signal(by)
        done = await command.ended()
    assert done.code == 130
    assert names_in(temporary) == []


async def test_tools_are_listed_with_what_they_cost(tmp_path: Path) -> None:
    """What the model sees at first, and what on demand."""
    done = await bot(tmp_path, "tools")
    assert done.code == 0
    lines = {line.split()[0]: line for line in done.out.splitlines() if line}
    assert " on demand " in lines["read_file"]
    assert " on demand " in lines["query_table"]
    assert "makes changes, without approval" in lines["share_file"]
    assert "A first request sends" in done.out


async def test_an_operator_sees_what_was_spent(tmp_path: Path, redis_url: str) -> None:
    """G6: by day and month, against what is allowed."""
    (tmp_path / "bot.toml").write_text(
        "[budgets]\nuser_day = {tokens = 1_000_000}\nworkspace_month = 50\n"
    )
    shared = {"REDIS_URL": redis_url, "OPENAI_MODEL": "gpt-5.4-mini"}
    before = await bot(tmp_path, "usage", **shared)
    async with ResponsesServer.open(Script([finish(answer())])) as api:
        asked = await bot(tmp_path, "ask", "x", **reaching(api), **shared)
    done = await bot(tmp_path, "usage", **shared)
    assert asked.err == ""
    assert before.out.startswith("Nothing was spent this month in Redis at ")
    assert asked.code == 0, asked.err
    lines = {" ".join(line.split()[:2]): line for line in done.out.splitlines()}
    assert "local:local" in lines["user, day"]
    assert " of 1,000,000 tokens (0%)" in lines["user, day"]
    assert " of $50.00, " in lines["workspace, month"]
    assert "local:terminal" in lines["channel, month"]


async def test_an_operator_pauses_the_bot(tmp_path: Path, redis_url: str) -> None:
    """The kill switch without Slack: nothing is asked of the model until it is taken back."""
    async with ResponsesServer.open(Script([finish(answer())])) as api:
        shared = reaching(api) | {"REDIS_URL": redis_url}
        assert (await bot(tmp_path, "pause", **shared)).code == 0
        refused = await bot(tmp_path, "ask", "x", **shared)
        usage = await bot(tmp_path, "usage", **shared)
        assert api.requests == []
        resumed = [(await bot(tmp_path, "resume", **shared)).out for _ in range(2)]
        answered = await bot(tmp_path, "ask", "x", **shared)
    assert (refused.code, answered.code) == (1, 0)
    assert [line.partition(":")[0] for line in resumed] == ["Resumed", "It was not paused"]
    assert refused.out.startswith("I was paused by the operator (")
    assert usage.out.startswith("Paused by the operator, ")


async def test_an_operator_sees_and_stops_rules(tmp_path: Path, redis_url: str) -> None:
    """What each did and spent today, as text and JSON; pausing and removing by id is in the audit log."""
    rule = Rule(team="T1", channel="C0ALERTS01", owner="U0BEN00001", anyone=True, instruction="Go.")
    on = rule.model_copy(update={"state": RuleState.ON, "failures": 1})
    shared = {"REDIS_URL": redis_url}
    async with open_stores(redis_url) as stores:
        store, now = RuleStore(stores), datetime.now(UTC)
        await store.add(on, most=9)
        assert await store.begin(on, Posted("C1", "1.0", "1.0", "U1", "", "Hi"), now, 0.25)
        [_, line] = (await bot(tmp_path, "triggers", **shared)).out.splitlines()
        facts = [on.id, "C0ALERTS01", "U0BEN00001", "on", "1", "$0.2500", "1", "Go."]
        assert line.split() == facts
        said = json.loads((await bot(tmp_path, "triggers", "--json", **shared)).out)
        assert (said["state"], said["runs_today"], said["cost_today"]) == ("on", 1, 0.25)
        part = RulesForOperators(TriggerSettings(), outcome_counter(), lambda: ["my-model"])
        [used] = await part.usage_lines(stores)
        assert used.startswith("Rules: 1, 1 on; 1 runs and $0.2500 today.")
        paused = await bot(tmp_path, "triggers", "pause", on.id, **shared)
        assert (paused.code, paused.out) == (0, f"{on.id}: paused.\n")
        assert [each.state for each in await store.in_team("T1")] == [RuleState.PAUSED]
        failed = on.model_copy(update={"id": "rule_failed", "rest": Rest.FAILED})
        await store.add(failed, most=9)
        assert [(check.level, check.text) for check in await part.checks(stores)] == [
            (Level.OK, "2 rules: 1 on, 0 waiting for approval"),
            (
                Level.WARNING,
                "no dollars a day limit a rule, because the price of my-model is not known",
            ),
            (Level.WARNING, "paused after failing several times: rule_failed"),
        ]
        await store.remove(failed, "operator")
        await change_rule(stores, on.id, REMOVE)
        assert await store.in_team("T1") == []
        gone = await bot(tmp_path, "triggers", "resume", on.id, **shared)
        assert gone.code == 3
        assert f"There is no rule {on.id}." in gone.err
        entries = [each.entry async for each in stores.audit.read("operator")]
    assert [entry.what for entry in entries if entry] == [
        f"rule {what} ({on.id})" for what in ("paused", "removed")
    ]


@pytest.mark.parametrize(
    "command",
    [
        ["pause"],
        ["resume"],
        ["usage"],
        ["audit"],
        ["feedback"],
        ["triggers"],
        ["erase", "--user", "U0123"],
    ],
)
async def test_in_the_wrong_folder_nothing_is_said_to_be_done(
    tmp_path: Path, command: list[str]
) -> None:
    """A bot that runs elsewhere was not paused by this, and is not quiet."""
    done = await bot(tmp_path, *command)
    assert (done.code, done.out) == (3, "")
    assert f"No bot has stored data in {tmp_path / '.data'}" in done.err
    assert names_in(tmp_path) == []


async def test_a_start_that_fails_leaves_no_folder(tmp_path: Path) -> None:
    """U11: by a folder of data the other commands would take it that a bot worked here. Whatever is
    missing or refused: token, key, signature, keys of many workspaces, a token that Slack does not
    know; and doctor, whatever it finds."""
    token = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_APP_TOKEN": "xapp-1"}
    async with Workspace.open() as ws, ResponsesServer.open(Script([])) as api:
        slack, model = {"SLACK_API_URL": ws.api_url}, reaching(api)
        starts: list[tuple[dict[str, str], str]] = [
            ({}, "SLACK_BOT_TOKEN"),
            (slack | token, "OPENAI_API_KEY"),
            (slack | token | model, "Slack refuses this token"),
            (slack | model | {"SLACK_BOT_TOKEN": "xoxb-1"}, "SLACK_SIGNING_SECRET"),
            (slack | model | {"SLACK_CLIENT_ID": "1.2"}, "BOT_ENCRYPTION_KEYS"),
        ]
        for environment, why in starts:
            done = await bot(tmp_path, "serve", PORT="0", **environment)
            assert done.code == 3
            assert why in done.err
            assert len(done.err.splitlines()) == 1
            assert names_in(tmp_path) == []
        assert (await bot(tmp_path, "doctor", **slack, **token, **model)).code == 1
    assert names_in(tmp_path) == []


async def test_the_other_commands_work_beside_bot_dev(tmp_path: Path) -> None:
    """U11: they see what was asked in it, and erase it: in its folder by themselves, elsewhere with what
    they say to set."""
    (tmp_path / "here").mkdir()
    (tmp_path / "elsewhere").mkdir()
    tmp_path, other = tmp_path / "here", tmp_path / "elsewhere"
    async with started(tmp_path, "dev", "--port", "0") as running:
        said = ""
        async with asyncio.timeout(60):
            while "BOT_DATA_DIR=" not in said:
                await asyncio.sleep(0.1)
                said = (running.said / "out").read_text()
        found = re.search(r"BOT_DATA_DIR=(\S+)", said)
        assert found
        data = {"BOT_DATA_DIR": found[1]}
        assert (await bot(tmp_path, "usage", **data)).out.startswith("Nothing was spent")
        erased = await bot(tmp_path, "erase", "--user", "U0ADA00001", **data)
        assert (erased.code, erased.err) == (0, "")
        audit = await bot(tmp_path, "audit", **data)
        assert "erased a person" in audit.out
        assert "erased a person" in (await bot(tmp_path, "audit")).out
        done = await bot(tmp_path, "doctor", "--running")
        assert "receiving events" in done.out
        assert not [line for line in done.out.splitlines() if line != line.rstrip()]
        told = await bot(other, "usage")
        assert (told.code, told.out) == (3, "")
        assert f"For the `bot dev` that runs: BOT_DATA_DIR={found[1]}" in told.err
        running.process.terminate()
        await running.ended()
    assert (await bot(tmp_path, "usage")).code == 3
    assert names_in(tmp_path) == names_in(other) == []


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("redis://127.0.0.1:99999/0", "Port out of range"),
        ("redis://127.0.0.1:1/0?foo=1", "'foo'"),
        ("redis://127.0.0.1:1/0?socket_timeout=soon", "socket_timeout"),
    ],
)
async def test_an_address_of_redis_that_cannot_be_one(tmp_path: Path, url: str, why: str) -> None:
    """O8: one line that names the setting, and no trace."""
    done = await bot(tmp_path, "usage", REDIS_URL=url)
    assert (done.code, done.out) == (3, "")
    assert done.err.startswith("bot: REDIS_URL cannot be used: ")
    assert why in done.err
    assert len(done.err.splitlines()) == 1


async def test_a_model_service_that_is_away_is_named_in_the_log(tmp_path: Path) -> None:
    """O8: an operator reads which host, and why it could not be reached, though no words are logged."""
    url = f"http://127.0.0.1:{free_port()}/v1"
    done = await bot(tmp_path, "ask", "palindrome?", OPENAI_BASE_URL=url)
    assert done.code == 1
    assert "ended a run: 127.0.0.1: Cannot connect" in done.err
    assert "ERROR" not in done.err
    assert done.err.count("Cannot connect") == 1
    assert "palindrome" not in done.err


async def test_a_new_tool_is_written_where_the_bot_looks_for_tools(tmp_path: Path) -> None:
    """22.4: the first of the configured folders, which need not exist; nothing is asked."""
    (tmp_path / "bot.toml").write_text('[tools]\npaths = ["ours", "others"]\n')
    done = await bot(tmp_path, "tools", "new", "crm")
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines()[0] == "Wrote ours/crm.py and ours/test_crm.py."
    assert {"crm.py", "test_crm.py"} <= {*names_in(tmp_path / "ours")}


async def test_tools_are_listed_as_configured(tmp_path: Path) -> None:
    """U11: a bot.toml that cannot be read is said, not passed over."""
    assert (await bot(tmp_path, "tools")).code == 0
    (tmp_path / "bot.toml").write_text("[limits\n")
    done = await bot(tmp_path, "tools")
    assert (done.code, done.out) == (3, "")
    assert "bot.toml" in done.err


async def test_a_name_is_no_id(tmp_path: Path) -> None:
    """Of nobody by that name is anything on record, which is not to be read as "nothing was done"."""
    done = await bot(tmp_path, "audit", "--user", "ada")
    assert done.code == 3
    assert "Give their id" in done.err
    done = await bot(tmp_path, "audit", "--kind", "x")
    assert done.code == 3
    assert "'x' is not one of 'refused'" in done.err
    assert "Value error" not in done.err


@pytest.mark.parametrize("arguments", [("ask",), ("ask", "--nope", "Hi?"), ("erase",), ("nope",)])
async def test_wrong_usage_is_no_partial_answer(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    """C8: a script that reads 2 takes what was printed for an answer."""
    done = await bot(tmp_path, *arguments)
    assert (done.code, done.out) == (3, "")


async def test_mcp_servers_are_asked_before_a_bot_ever_ran(tmp_path: Path) -> None:
    assert "No MCP server is configured" in (await bot(tmp_path, "mcp")).out
    (tmp_path / "bot.toml").write_text("[mcpServers.gone]\ncommand = '/nowhere/at-all'\n")
    done = await bot(tmp_path, "mcp", BOT_CONFIG="bot.toml")
    (tmp_path / "bot.toml").unlink()
    assert done.out.startswith("! gone: cannot be reached")
    assert done.code == 1
    assert names_in(tmp_path) == []


def test_the_manifest_in_three_forms() -> None:
    """Item 8: YAML to paste, JSON for tools, a link that creates the app; the same each time."""

    def printed(*arguments: str) -> str:
        return CliRunner().invoke(cli, ["manifest", *arguments]).output

    content = yaml.safe_load(printed("--name", "Bo"))
    assert content == json.loads(printed("--name", "Bo", "--form", "json"))
    assert content["display_information"]["name"] == "Bo"
    assert content["settings"]["socket_mode_enabled"] is True
    link = printed("--form", "link")
    assert link.startswith("https://api.slack.com/apps?new_app=1&manifest_")
    over_http = printed("--request-url", "https://bot.example.org/slack/events")
    assert yaml.safe_load(over_http)["settings"]["socket_mode_enabled"] is False
    two = ("--public-url", "https://b.example.org", "--request-url", "https://c.example.org")
    assert "give --public-url or --request-url" in printed(*two)


def test_every_command_explains_itself() -> None:
    """A newcomer reads one line for each, the first four first; and a slip names the nearest."""
    runner = CliRunner()
    listed = runner.invoke(cli, ["--help"], terminal_width=80).output
    rows = re.findall(r"^│ (?!--)(\S+)? +(\S.*?) *│$", listed, re.MULTILINE)
    assert all(name and said.endswith(".") for name, said in rows), rows
    assert [name for name, _ in rows][:4] == ["dev", "doctor", "serve", "ask"]
    assert {name for name, _ in rows} == {*get_command(cli).commands}  # type: ignore[attr-defined]
    for name, _ in rows:
        helped = runner.invoke(cli, [name, "--help"])
        assert (helped.exit_code, "Usage:" in helped.output) == (0, True)
    assert "Did you mean 'doctor'?" in runner.invoke(cli, ["docter"]).output


def test_help_is_there_at_once() -> None:
    """Looking something up loads neither the bot nor what it stands on."""
    heavy = ["bot.app.process", "bot.settings", "openai", "slack_sdk", "docket", "redis", "mcp"]
    code = f"import sys, bot.__main__; print([each for each in {heavy} if each in sys.modules])"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_the_version_is_said() -> None:
    """Whoever reports a fault is asked for it first."""
    assert re.fullmatch(r"bot \d+\.\d+\.\d+\n", CliRunner().invoke(cli, ["--version"]).output)
