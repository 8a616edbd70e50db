"""What a thread shows of a run: its status line and session end with it, and never before."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish, held
from bot.dev.workspace import ADA, BEN, CHLOE, Workspace
from bot.runs.queue.engine import EngineOptions
from bot.slack.message import repair
from bot.slack.ui import words
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
SESSION, LINE = "agents.sessions.setStatus", "assistant.threads.setStatus"


@pytest.fixture(autouse=True)
def often(monkeypatch: pytest.MonkeyPatch) -> None:
    """Statuses are looked at more often than every five seconds, in this process."""
    monkeypatch.setattr(repair, "LOOK_SECONDS", 0.2)
    monkeypatch.setattr(repair, "_MIN_WAIT", timedelta(seconds=1))


def at_rest(bot: Deployment, channel: str, thread: str) -> bool:
    status = bot.ws.status(channel, thread)
    return status.session == "active" and not status.text


async def test_a_status_that_slack_did_not_take_is_cleared_later(redis_url) -> None:
    """(R6) One last call fails, whichever and however: a moment later nothing says that it works."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with deployed(brain, redis_url) as bot:
        for method, error in ((SESSION, None), (SESSION, 429), (LINE, 500), (SESSION, 503)):
            go.clear()
            root = await bot.ask(ADA, SALES, "How many?")
            await bot.ws.until(lambda: bot.ws.status(SALES, root).session == "processing")  # noqa: B023
            await bot.ws.until(lambda: bot.own(SALES, root))  # noqa: B023 - awaited at once
            bot.ws.faults.fail(method, error, times=2)
            go.set()
            await bot.answered(SALES, root)
            await bot.ws.until(lambda: at_rest(bot, SALES, root), 15)  # noqa: B023


@pytest.mark.parametrize(("channel", "calls"), [(SALES, 5), ("D0ADA00001", 6)])
async def test_a_question_that_is_answered_at_once_takes_few_calls(
    redis_url, channel: str, calls: int
) -> None:
    """The status line says at once that the bot is at work, and the answer takes its place: there is no
    message in between. Where a direct message is answered outside threads, the line is cleared."""
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        for _ in range(2):  # for the first one it looks up who asks, and where
            del bot.ws.effects[:]
            root = str((await bot.ws.say(ADA, channel, f"<@{bot.ws.bot_user_id}> How many?"))["ts"])
            await bot.ws.until(lambda: at_rest(bot, channel, root) and bot.own(channel, root))  # noqa: B023
        made = [effect.method for effect in bot.ws.effects if effect.method != "conversations.info"]
        assert len(bot.terminals(channel, root)) == len(bot.own(channel, root)) == 1
        assert made[:2] == [LINE, SESSION]
        assert len(made) == calls, made


async def test_a_status_of_a_process_that_was_killed_is_cleared(tmp_path: Path) -> None:
    """(R6) The last call fails, and nothing of the process is left to try it again: the next one does."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot = Deployment(ws, api)
        settings, log = environment(ws, api, tmp_path), tmp_path / "log"
        async with started("serve", settings, log) as process:
            root = await bot.ask(ADA, SALES, "How many?")
            await ws.until(lambda: bot.own(SALES, root), 20)
            ws.faults.fail(SESSION, 500, times=1_000)
            go.set()
            await bot.answered(SALES, root)
            refused = len([e for e in ws.effects if e.error == "http_500"])
            await ws.until(lambda: len([e for e in ws.effects if e.error == "http_500"]) > refused)
            process.kill()
        ws.faults.clear()
        assert not at_rest(bot, SALES, root)
        async with started("serve", settings, log):
            await ws.until(lambda: at_rest(bot, SALES, root), 20)
        assert len(bot.own(SALES, root)) == 1


@pytest.fixture
async def busy(redis_url):
    """A bot with one place, which a question of Ada's has."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer("Two.")), go)

    options = EngineOptions(concurrency=1, sweep=1.0)
    async with deployed(brain, redis_url, engine=options) as bot:
        await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.api.requests)
        yield bot, go
        go.set()


async def test_a_question_that_is_deleted_at_once_keeps_no_status(busy) -> None:
    """(R6) It was taken in, never ran, and was taken back."""
    bot, _ = busy
    root = (await bot.ws.say(BEN, GENERAL, "Look at this."))["ts"]
    question = await bot.ask(BEN, GENERAL, "How few?", root)
    await bot.ws.until(lambda: bot.ws.status(GENERAL, root).session == "processing")
    await bot.ws.delete(BEN, GENERAL, question)
    await bot.ws.until(lambda: bot.ws.status(GENERAL, root).session == "active", 20)
    assert not bot.ws.status(GENERAL, root).text


async def test_who_waits_for_a_place_sees_their_place_in_line(busy) -> None:
    """(R7) Also after the two minutes for which Slack shows a status, and until the question is
    answered."""
    bot, go = busy
    roots = []
    for user in (BEN, CHLOE):
        roots.append(await bot.ask(user, GENERAL, "How few?"))
        await bot.ws.until(lambda: bot.ws.status(GENERAL, roots[-1]).text)
    # Each in the language of the question (K7).
    lines = [words.STATUS_PLACE_IN_LINE(place=place) for place in (1, 2)]
    for _ in range(2):
        await bot.ws.until(
            lambda: [bot.ws.status(GENERAL, each).text for each in roots] == lines, 20
        )
        bot.ws.clock.advance(121)
    go.set()
    for root in roots:
        await bot.answered(GENERAL, root)
        await bot.ws.until(lambda: at_rest(bot, GENERAL, root))  # noqa: B023 - awaited at once
