"""What operators may read: a whole bot under stress, with every logger at DEBUG."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from bot.dev.model import Script, call, calls, finish, respond, text
from bot.dev.model.errors import ApiError
from bot.dev.model.errors import test_error as model_error
from bot.dev.workspace import ADA
from bot.telemetry.logs import Handler, Json, Lines
from tests.support.deployment import deployed
from tests.support.runs import answer

SALES = "C0SALES001"
WORDS = "palindrome"
LIBRARIES = ("slack_sdk", "slack_bolt", "openai", "httpx2", "docket", "asyncio", "aiohttp", "mcp")


@contextmanager
def everything_logged() -> Iterator[tuple[io.StringIO, io.StringIO]]:
    """All that is logged, at any level and by anybody, as lines and as JSON."""
    streams = io.StringIO(), io.StringIO()
    root = logging.getLogger()
    before = {each: each.level for each in (root, *map(logging.getLogger, LIBRARIES))}
    handlers = [Handler(each) for each in streams]
    handlers[0].setFormatter(Lines("%(levelname)s %(name)s %(message)s"))
    handlers[1].setFormatter(Json("%(levelname)s %(name)s %(message)s"))
    for logger in before:
        logger.setLevel(logging.DEBUG)
    for handler in handlers:
        root.addHandler(handler)
    try:
        yield streams
    finally:
        for handler in handlers:
            root.removeHandler(handler)
        for logger, level in before.items():
            logger.setLevel(level)


async def test_no_line_of_a_bot_in_trouble_holds_peoples_words(redis_url: str) -> None:
    """O8: questions, answers, arguments, made-up names, the services' errors about them, at DEBUG."""

    def refuse(_: object) -> None:
        raise model_error(f"Invalid value: '{WORDS}'.")

    script = Script(
        [
            calls(("calculate", {"expression": WORDS}), (WORDS, {WORDS: WORDS})),
            calls(("read_file", {"file_id": WORDS}), ("acquire_tools", f'{{"{WORDS}": ')),
            call("complete_task", {"summary": 1, WORDS: WORDS}),
            text(f"I will look at {WORDS}."),
            *[finish(answer(f"The {WORDS}.", charts=[WORDS]))] * 2,  # the first is sent back
            respond(refuse),  # type: ignore[arg-type]  # it never answers
        ]
    )
    # What `refuse` raised a deployment raises again at its end.
    with everything_logged() as (lines, objects), suppress(ApiError):
        async with deployed(script, redis_url) as bot:
            for method in ("chat.postMessage", "chat.update"):  # whichever the answer takes
                bot.ws.faults.fail(method, "invalid_blocks", times=1)
            root = await bot.ask(ADA, SALES, f"What is a {WORDS}?")
            await bot.answered(SALES, root)
            second = await bot.ask(ADA, SALES, f"And the other {WORDS}?")
            assert len(await bot.answered(SALES, second)) == 1
    script.assert_done()
    assert "it said: Error code: 500 - Test error: Invalid value: '…'." in lines.getvalue()
    for stream in (lines, objects):
        logged = stream.getvalue()
        assert "slack_sdk" in logged
        assert "openai" in logged
        assert "DEBUG" in logged
        assert [line for line in logged.splitlines() if WORDS in line] == []
