"""What one mention runs: the functions and files of `bot/`, from the event to the answer in Slack."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import tempfile
from pathlib import Path

from bot.dev.model import ModelRequest, Reply, ResponsesServer, calls, finish
from bot.dev.workspace import ADA, Workspace
from bot.store.embedded import embedded_redis
from tests.faults.processes import environment, started_code
from tests.support.deployment import Deployment
from tests.support.runs import answer

_CHANNEL = "C0SALES001"
_SETTLE_SECONDS = 2.0  # after an answer is up: its ticket is put away
_SERVE = """
import json, os, signal, sys, threading
import bot
from pathlib import Path

root = str(Path(bot.__file__).parent)
ran = set()

def note(frame, event, _):
    code = frame.f_code
    if event == "call" and code.co_filename.startswith(root):
        ran.add((code.co_filename[len(root) + 1 :], code.co_qualname))

signal.signal(signal.SIGUSR1, lambda *_: ran.clear())
signal.signal(signal.SIGUSR2, lambda *_: Path({out!r}).write_text(json.dumps(sorted(ran))))
threading.setprofile(note)
sys.setprofile(note)
sys.argv = ["bot", "serve"]
from bot.__main__ import main
main()
"""


async def functions_of_a_mention() -> list[tuple[str, str]]:
    """Return (file, function) of each function of `bot/` that `bot serve` runs for one question with
    one tool, after another one."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "bot.toml").write_text("[catch_up]\nevery_minutes = 0\n")
        out = folder / "ran.json"
        async with (
            embedded_redis(None) as url,
            Workspace.open() as ws,
            ResponsesServer.open(brain=_one_tool) as api,
        ):
            settings = {"PATH": os.environ["PATH"]}
            settings |= environment(ws, api, folder, redis_url=url, port="0")
            async with started_code(_SERVE.format(out=str(out)), settings, folder / "log") as serve:
                deployment = Deployment(ws, api)
                await _ask(deployment)
                serve.send_signal(signal.SIGUSR1)
                await _ask(deployment)
                serve.send_signal(signal.SIGUSR2)
                async with asyncio.timeout(30):
                    while not out.exists() or not out.read_text():  # noqa: ASYNC110
                        await asyncio.sleep(0.1)
        ran = json.loads(out.read_text())
    return [
        (file, function) for file, function in ran if not function.endswith(("comp>", "genexpr>"))
    ]


def _one_tool(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("Two."))
    return calls(("calculate", {"expression": "1+1"}))


async def _ask(deployment: Deployment) -> None:
    ts = await deployment.ask(ADA, _CHANNEL, "How many are one and one?")
    await deployment.answered(_CHANNEL, ts)
    await asyncio.sleep(_SETTLE_SECONDS)


if __name__ == "__main__":
    for file, function in asyncio.run(functions_of_a_mention()):
        sys.stdout.write(f"{file} {function}\n")
