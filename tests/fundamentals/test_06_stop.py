"""Stop takes effect at once, and the thread stays usable.

A stop is a signal through Redis: the button is pressed in one process, the run works in another.
Finished calls keep their output and the others are marked as cancelled, so the chain stays valid.
"""

import asyncio

from bot.core.outcome import RunStatus
from bot.dev.model import Script, call, finish
from bot.store import Stores
from bot.toolkit import tool
from tests.support.redis import asked
from tests.support.runs import answer, bot_with

STARTED = asyncio.Event()


@tool(group="slow", summary="Takes for ever", core=True)
async def dig() -> str:
    """Digs."""
    STARTED.set()
    await asyncio.Event().wait()
    return "never"


async def test_stop_in_the_middle_of_a_tool(stores: Stores) -> None:
    """The tool is cancelled; the next question is answered, and the model knows what happened."""
    script = Script([call("dig", {}), finish(answer("Here."))])
    async with bot_with(stores, script, dig.tool) as bot:
        question = asked("Dig for gold")
        run = asyncio.create_task(bot.ask(question))
        await STARTED.wait()
        await stores.signals.request_cancel(question.thread_key, question.id, by="U1")
        stopped = await run
        answered = await bot.ask("Never mind. Where are you?")

    assert stopped.status is RunStatus.CANCELLED
    assert bot.outputs() == ["Cancelled by the user before it finished."]
    assert answered.status is RunStatus.SUCCESS
