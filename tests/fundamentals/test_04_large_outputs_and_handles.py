"""Outputs that are too large for the conversation are saved under a handle.

The model gets a preview, the size, and the handle; other tools take the handle and read, search
or query the full output, which never passes through the model.
"""

import re

from bot.dev.model import ModelRequest, Reply, Script, call, finish, respond
from bot.store import Stores
from bot.toolkit import tool
from tests.support.runs import answer, bot_with
from tools.artifacts import search_artifact


@tool(group="logs", summary="The log", core=True)
async def read_log() -> str:
    """All lines of the log."""
    return "\n".join(f"line {n}: {'ERROR' if n == 7_777 else 'ok'}" for n in range(10_000))


def search_what_was_kept(request: ModelRequest) -> Reply:
    """Search the saved output, as a model would, by the handle in the notice."""
    [handle] = re.findall(r"handle: (\w+)", str(request.body["input"]))
    return call("search_artifact", {"handle": handle, "pattern": "ERROR"})


async def test_a_large_output_is_previewed_and_searched_by_its_handle(stores: Stores) -> None:
    """The search finds the one line that matters; 150 kB stay out of the conversation."""
    script = Script(
        [call("read_log", {}), respond(search_what_was_kept), finish(answer("Line 7777."))]
    )
    async with bot_with(stores, script, read_log.tool, search_artifact.tool) as bot:
        await bot.ask("Which line is an error?")

    [preview] = bot.outputs(1)
    assert "The output is too large" in preview
    assert "line 0: ok" in preview
    assert "line 9999: ok" in preview
    assert "ERROR" not in preview
    assert len(preview) < 10_000
    assert "line 7777: ERROR" in bot.outputs(2)[0]
