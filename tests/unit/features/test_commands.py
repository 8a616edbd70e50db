"""Commands that operators have run before and after tools (D10)."""

from __future__ import annotations

import asyncio
import os
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from bot.agent.calls.call import Toolbox
from bot.agent.events import RunEnded, ToolEnded, ToolStarted
from bot.agent.hooks.chain import HookChain, Hooks, Permission
from bot.core.outcome import RunStatus
from bot.core.run_log import NOTICE
from bot.dev.model import Reply, Script, call, finish
from bot.features import Feature
from bot.features.commands.hook import Commands
from bot.features.commands.settings import AfterToolCommand, BeforeToolCommand, HookSettings
from bot.runs.run_parts import RunPart
from bot.store import Stores
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Artifacts, Changes, Provided, Tool, ToolResult, tool
from bot.toolkit.catalogue import Catalogue
from tests.support.runs import answer, bot_with
from tests.unit.agent.harness import ANSWER, Bench, bench

LINT = "import sys; text = open(sys.argv[1]).read(); 'TODO' in text and sys.exit(f'{sys.argv[1]}:1: TODO')"


def python(code: str, **how: Any) -> AfterToolCommand:
    """A command that runs `code` on the file."""
    return AfterToolCommand(
        **{"tool": "write", "run": (sys.executable, "-c", code, "{file}")} | how
    )


@tool(group="files", summary="Writes", core=True)
async def write(name: str, content: str, artifacts: Provided[Artifacts]) -> ToolResult:
    "Writes a file."
    kept = await artifacts.save(content.encode(), name=name, media_type="text/plain")
    return ToolResult("written", handles=(kept.handle,))


@tool(group="files", summary="Reads", core=True)
async def read(artifacts: Provided[Artifacts]) -> ToolResult:
    "Reads what was written."
    assert isinstance(artifacts, MemoryArtifacts)
    return ToolResult("read", handles=tuple(artifacts.kept))


SENT: list[str] = []


@tool(group="files", summary="Sends", core=True, safety=Changes())
async def send(handle: str, artifacts: Provided[Artifacts]) -> ToolResult:
    "Sends a file."
    SENT.append(handle)
    new = await artifacts.save(b"receipt", name="receipt.txt", media_type="text/plain")
    return ToolResult("sent", handles=(new.handle,))


def check(code: str, **how: Any) -> BeforeToolCommand:
    """A command that runs `code` before a call."""
    return BeforeToolCommand(**{"tool": "*", "run": (sys.executable, "-c", code)} | how)


@asynccontextmanager
async def checked(
    *replies: Reply,
    commands: tuple[AfterToolCommand, ...] = (),
    before: tuple[BeforeToolCommand, ...] = (),
) -> AsyncGenerator[Bench]:
    async with bench(Script([*replies, finish(ANSWER)])) as place:
        services: dict[type, object] = {Artifacts: place.artifacts}
        toolbox = Toolbox(
            Catalogue.of([write.tool, read.tool, send.tool]), services, place.artifacts
        )
        hooks = HookChain((Commands(before, commands, place.artifacts),))
        place.parts = replace(place.parts, toolbox=toolbox, hooks=hooks)
        yield place


async def output_of(
    *commands: AfterToolCommand, name: str = "plan.py", content: str = "TODO"
) -> str:
    """What the model reads when it has written a file."""
    reply = call("write", {"name": name, "content": content})
    async with checked(reply, commands=commands) as place:
        ended = await place.run()
    assert ended.status is RunStatus.SUCCESS
    return next(iter(place.outputs().values()))


async def test_the_model_reads_what_is_wrong_and_mends_it() -> None:
    """D10: the output of the command stands under that of the tool; the second try is clean."""
    wrong, right = ({"name": "plan.py", "content": text} for text in ("TODO: x", "x = 1"))
    async with checked(
        call("write", wrong), call("write", right), commands=(python(LINT),)
    ) as place:
        await place.run()
    [first] = place.outputs(1).values()
    assert first.startswith(f"written\n[{sys.executable} -c ")
    assert first.endswith("plan.py: exit code 1]\nplan.py:1: TODO")
    assert list(place.outputs(2).values()) == ["written"]


@pytest.mark.parametrize(
    ("how", "name"),
    [({"tool": "read"}, "plan.py"), ({"files": "*.py"}, "plan.md"), ({"files": "P*"}, "plan.py")],
)
async def test_only_fitting_tools_and_files_are_looked_at(how: dict[str, str], name: str) -> None:
    """D10: by patterns of the tool's and the file's name."""
    assert await output_of(python("print('looked')", **how), name=name) == "written"


async def test_each_file_is_looked_at_once() -> None:
    """D10: reading a file is no reason to look at it again, nor is a second command."""
    replies = call("write", {"name": "a.py", "content": "x"}), call("read", {})
    looking = python("print('looked')", tool="*")
    async with checked(*replies, commands=(looking, looking)) as place:
        await place.run()
    assert next(iter(place.outputs(1).values())).count("\nlooked") == 2
    assert list(place.outputs(2).values()) == ["read"]


async def test_a_command_that_takes_too_long_is_killed_with_all_it_started(tmp_path: Path) -> None:
    """D10: the model is told, and nothing goes on."""
    pids = tmp_path / "pids"
    code = (
        "import os, subprocess, sys, time\n"
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(60)'])\n"
        f"open({str(pids)!r}, 'w').write(f'{{os.getpid()}} {{child.pid}}')\n"
        "time.sleep(60)"
    )
    output = await output_of(python(code, timeout=1.5))
    assert output.endswith("plan.py: stopped after 1.5 s]")
    for pid in map(int, pids.read_text().split()):
        await _gone(pid)


async def test_stop_ends_a_command_at_once(tmp_path: Path) -> None:
    """H1 D10: a person who presses Stop does not wait for a linter."""
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    reply = call("write", {"name": "a.py", "content": "x"})
    async with checked(reply, commands=(python(code, timeout=60),)) as place:
        async for event in place.stream():
            if isinstance(event, ToolStarted):
                await _there(pid)
                place.parts.interrupt.request()
    [ended] = place.of(RunEnded)
    assert ended.status is RunStatus.CANCELLED
    await _gone(int(pid.read_text()))


async def test_a_command_knows_no_secrets_and_reads_no_input(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """D10: a minimal environment, an empty standard input, a folder of its own."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    code = "import os, sys; print(sorted(os.environ), sys.stdin.read(), os.listdir())"
    output = await output_of(python(code))
    assert "API_KEY" not in output
    assert "'PATH'" in output
    assert output.endswith("  ['plan.py']")


async def test_no_shell_reads_the_name_of_a_file() -> None:
    """D10: whatever the model calls a file, it stays one argument, and in its folder."""
    name = f"../../; rm -rf $HOME `id` {'é' * 200}.py"
    code = "import os, sys; print(len(sys.argv), os.path.dirname(sys.argv[1]) == os.getcwd())"
    assert (await output_of(python(code), name=name)).endswith("\n2 True")


async def test_what_is_printed_is_bounded_and_plain() -> None:
    """D10: at most 4,000 characters, without colours or control characters."""
    output = await output_of(python(r"print('\x1b[31mred\x1b[0m\x07' + 'x' * 10**7)"))
    assert "\nredxxx" in output
    assert output.endswith("x\n[… cut]")
    assert len(output) < 4_400


async def test_a_command_that_is_not_there_is_said(caplog: pytest.LogCaptureFixture) -> None:
    """D10: to the model in a word, to operators with the trace; the file is written all the same."""
    output = await output_of(AfterToolCommand(tool="*", run=("no-such-program", "{file}")))
    assert output == "written\n[no-such-program plan.py: could not be run]"
    assert "a command of hooks cannot be run" in caplog.text


async def test_a_command_before_a_call_may_veto_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """D10 D3: the call is not made; what was printed is the reason, and the call is seen as refused. The
    program may be a script beside bot.toml."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "freeze.sh").write_text("#!/bin/sh\necho Frozen until Monday.\nexit 3\n")
    (tmp_path / "freeze.sh").chmod(0o700)
    veto = check("", tool="send", name="freeze", run=("./freeze.sh", "{file}"))
    async with checked(call("send", {"handle": "art_1"}), before=(veto,)) as place:
        await place.run()
    assert SENT == []
    assert list(place.outputs(1).values()) == ["Not done: Frozen until Monday."]
    [ended] = place.of(ToolEnded)
    assert (ended.tool, ended.ok, ended.refused) == ("send", False, True)


@pytest.mark.parametrize(
    "how",
    [
        {"run": ("no-such-program",)},
        {"timeout": 0.3, "run": (sys.executable, "-c", "import time; time.sleep(60)")},
        {"run": (sys.executable, "-c", "raise SystemExit(1)")},
    ],
)
async def test_a_check_that_did_not_look_lets_nothing_pass(how: dict[str, Any]) -> None:
    """D10: before a call a command that is not there, hangs or says nothing refuses it, by name."""
    async with checked(
        call("send", {"handle": "x"}), before=(check("", name="guard", **how),)
    ) as place:
        await place.run()
    [output] = place.outputs(1).values()
    assert output.startswith("Not done: guard")
    assert SENT == []


@pytest.mark.parametrize("how", [{"tool": "read"}, {"files": "*.csv"}, {"enabled": False}])
async def test_only_fitting_calls_are_checked(how: dict[str, Any]) -> None:
    """D10: by patterns of the tool and of the files that a call names, and as long as it is enabled."""
    reply = call("write", {"name": "plan.py", "content": "x\ny.csv"})
    async with checked(reply, before=(check("raise SystemExit(1)", **how),)) as place:
        await place.run()
    assert list(place.outputs(1).values()) == ["written"]


async def test_a_check_knows_the_call_and_the_files_behind_its_handles() -> None:
    """D10: the call is a JSON file in the arguments and the environment; a handle counts as the
    file that it names."""
    code = (
        "import json, os, sys; call = json.load(open(sys.argv[1]));"
        "assert sys.argv[1] == os.environ['HOOK_FILE'];"
        "sys.exit(f\"{os.environ['HOOK_TOOL']} {call['tool']} {call['arguments']['handle']}\")"
    )
    veto = check("", files="*.py", run=(sys.executable, "-c", code, "{file}"))
    async with checked(before=(veto,)) as place:
        kept = await place.artifacts.save(b"x", name="plan.py", media_type="text/plain")
        place.api.brain = Script([call("send", {"handle": kept.handle}), finish(ANSWER)])
        await place.run()
    assert list(place.outputs(1).values()) == [f"Not done: send send {kept.handle}"]


class Rewriting(Hooks):
    """A hook of a package, which replaces what a call writes."""

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        return arguments.model_copy(update={"handle": "art_of_package"})


class RewritingPart(RunPart):
    hook = Rewriting()


async def test_a_check_knows_what_packages_made_of_a_call(stores: Stores) -> None:
    """D10: it judges what will really run, whatever comes between the model and the tool."""
    veto = check(
        "", run=(sys.executable, "-c", "import sys; sys.exit(open(sys.argv[1]).read())", "{file}")
    )
    packages = [Feature("package", run_part=lambda _: RewritingPart())]
    script = Script([call("send", {"handle": "art_1"}), finish(answer())])
    hooks = HookSettings(before_tool=(veto,))
    async with bot_with(stores, script, send.tool, hooks=hooks, features=packages) as place:
        await place.ask("Send it.")
        assert "art_of_package" in place.outputs()[0]
    assert SENT == []


async def test_stop_ends_a_check_at_once(tmp_path: Path) -> None:
    """H1 D10: its process group is killed, and the call is not made."""
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    async with checked(call("send", {"handle": "x"}), before=(check(code, timeout=60),)) as place:

        async def stop() -> None:
            await _there(pid)
            place.parts.interrupt.request()

        stopping = asyncio.create_task(stop())
        ended = await place.run()
        await stopping
    assert ended.status is RunStatus.CANCELLED
    assert SENT == []
    await _gone(int(pid.read_text()))


async def test_a_stop_while_a_change_is_looked_at_says_that_it_was_made(tmp_path: Path) -> None:
    """D10 H1: the change is not told as cancelled, which would have the model make it again."""
    pid = tmp_path / "pid"
    code = f"import os, time; open({str(pid)!r}, 'w').write(str(os.getpid())); time.sleep(60)"
    look = python(code, tool="send", timeout=60)
    async with checked(call("send", {"handle": "x"}), commands=(look,)) as place:

        async def stop() -> None:
            await _there(pid)
            place.parts.interrupt.request()

        stopping = asyncio.create_task(stop())
        ended = await place.run()
        await stopping
    assert SENT == ["x"]
    assert [each.tool for each in ended.state.done] == ["send"]
    await _gone(int(pid.read_text()))


async def test_results_of_commands_are_lines_in_the_log(caplog: pytest.LogCaptureFixture) -> None:
    """D10 I5: with its name, the tool and the exit code; what was printed only where logs may hold
    people's words."""
    with caplog.at_level(NOTICE):
        await output_of(python("print('SECRET'); raise SystemExit(2)", name="lint"))
    [line] = [line for line in caplog.messages if "hook" in line]
    assert "hook lint around write · exit code 2, " in line
    assert "SECRET" not in line


async def test_disabled_commands_look_at_nothing() -> None:
    """D10."""
    assert await output_of(python("print('looked')", enabled=False)) == "written"


@pytest.fixture(autouse=True)
def nothing_sent() -> None:
    SENT.clear()


async def _there(path: Path) -> None:
    async with asyncio.timeout(20):
        while not _written(path):  # noqa: ASYNC110 - another process's file
            await asyncio.sleep(0.01)


def _written(path: Path) -> bool:
    return path.exists() and bool(path.read_text())


async def _gone(pid: int) -> None:
    """Until no such process runs; a zombie nobody waits for does not run either."""
    async with asyncio.timeout(20):
        while _runs(pid):  # noqa: ASYNC110 - a process of somebody else
            await asyncio.sleep(0.01)


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (ProcessLookupError, FileNotFoundError):
        return False
    return state != "Z"
