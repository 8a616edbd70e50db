"""`bot ask` asks whoever sits in front of it before it does what is sensitive (D6)."""

from __future__ import annotations

import asyncio
import os
import pty
import sys
from pathlib import Path

import pytest

from bot.dev.model import Script, call, finish
from bot.dev.model.server import ResponsesServer
from tests.support.runs import answer


def writes_a_file() -> Script:
    """The model has a file written; `share_file` is a change, and all are asked about here."""
    wanted = {"name": "note.txt", "content": "Hello", "handle": None, "comment": ""}
    return Script(
        [
            call("acquire_tools", {"names": ["share_file"]}),
            call("share_file", wanted),
            finish(answer("That is all.")),
        ]
    )


async def said_until(terminal: int, text: str) -> None:
    """What the terminal shows comes to hold the text."""
    shown = ""
    async with asyncio.timeout(60):
        while text not in shown:
            shown += (await asyncio.to_thread(os.read, terminal, 4_096)).decode()


@pytest.mark.parametrize(("typed", "written"), [("y", True), (None, False)])
async def test_nothing_is_done_without_a_yes(
    tmp_path: Path, typed: str | None, written: bool
) -> None:
    """y is a yes; where nobody can type nothing is asked, and nothing done."""
    (tmp_path / "bot.toml").write_text('[access]\nconfirm = "always"\n')
    ours, theirs = pty.openpty()
    async with ResponsesServer.open(brain=writes_a_file()) as api:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "ask", "Write it down"),
            cwd=tmp_path,
            env={**os.environ, "OPENAI_API_KEY": api.api_key, "OPENAI_BASE_URL": api.url},
            stdin=theirs if typed else asyncio.subprocess.DEVNULL,
            stderr=theirs,
            stdout=asyncio.subprocess.PIPE,
        )
        os.close(theirs)
        if typed:
            await said_until(ours, "[y/N] ")
            os.write(ours, f"{typed}\n".encode())
        out, _ = await process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert b"That is all." in out
    assert (tmp_path / "note.txt").exists() == written
    assert len(api.requests) == 3


@pytest.mark.parametrize("options", [[], ["--json"]])
async def test_the_model_asks_back_at_the_prompt(tmp_path: Path, options: list[str]) -> None:
    """D11: a number chooses; what reads JSON is a program, and is asked nothing."""
    wanted = {"question": "Which one?", "options": ["A", "B"], "several": False, "otherwise": "A"}
    asking = [call("acquire_tools", {"names": ["ask_person"]}), call("ask_person", wanted)]
    brain = Script([*([] if options else asking), finish(answer("That is all."))])
    ours, theirs = pty.openpty()
    async with ResponsesServer.open(brain=brain) as api:
        process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "bot", "ask", "Take one", *options),
            cwd=tmp_path,
            env={**os.environ, "OPENAI_API_KEY": api.api_key, "OPENAI_BASE_URL": api.url},
            stdin=theirs,
            stderr=theirs,
            stdout=asyncio.subprocess.PIPE,
        )
        os.close(theirs)
        if not options:
            await said_until(ours, "2. B\r\nA number or your own words: ")
            os.write(ours, b"2\n")
        out, _ = await process.communicate()
    os.close(ours)
    assert process.returncode == 0
    assert b"That is all." in out
    assert ("chose: B" in str(api.requests[-1].body["input"])) is (not options)
    assert ("ask_person" in str(api.requests[0].body)) is (not options)
