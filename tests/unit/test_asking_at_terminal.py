"""`bot ask` asks whoever sits in front of it before it does what is sensitive (D6)."""

from __future__ import annotations

import asyncio
import os
import pty
from pathlib import Path

import pytest

from bot.dev.model import Script, call, finish
from bot.dev.model.server import ResponsesServer
from tests.support.commands import Command, start
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


def asking(
    api: ResponsesServer, folder: Path, terminal: int, *arguments: str, types: bool = True
) -> Command:
    """`bot ask` in front of a terminal, where somebody `types`; what it prints goes to `out`."""
    path = Path(os.ttyname(terminal))
    return start(
        "ask",
        *arguments,
        environment={**os.environ, "OPENAI_API_KEY": api.api_key, "OPENAI_BASE_URL": api.url},
        folder=folder,
        out=folder / "out",
        err=path,
        stdin=path if types else Path(os.devnull),
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
        asked = asking(api, tmp_path, theirs, "Write it down", types=typed is not None)
        if typed:
            await said_until(ours, "[y/N] ")
            os.write(ours, f"{typed}\n".encode())
        code = await asked.wait()
    os.close(theirs)
    os.close(ours)
    assert code == 0
    assert "That is all." in (tmp_path / "out").read_text("utf-8")
    assert (tmp_path / "note.txt").exists() == written
    assert len(api.requests) == 3


@pytest.mark.parametrize("options", [[], ["--json"]])
async def test_the_model_asks_back_at_the_prompt(tmp_path: Path, options: list[str]) -> None:
    """D11: a number chooses; what reads JSON is a program, and is asked nothing."""
    wanted = {"question": "Which one?", "options": ["A", "B"], "several": False, "otherwise": "A"}
    back = [call("acquire_tools", {"names": ["ask_person"]}), call("ask_person", wanted)]
    brain = Script([*([] if options else back), finish(answer("That is all."))])
    ours, theirs = pty.openpty()
    async with ResponsesServer.open(brain=brain) as api:
        asked = asking(api, tmp_path, theirs, "Take one", *options)
        if not options:
            await said_until(ours, "2. B\r\nA number or your own words: ")
            os.write(ours, b"2\n")
        code = await asked.wait()
    os.close(theirs)
    os.close(ours)
    assert code == 0
    assert "That is all." in (tmp_path / "out").read_text("utf-8")
    assert ("chose: B" in str(api.requests[-1].body["input"])) is (not options)
    assert ("ask_person" in str(api.requests[0].body)) is (not options)
