"""The page of faults is true, and the faults that are tested nowhere else."""

from __future__ import annotations

import asyncio
import re

from bot.core import failpoints
from bot.dev.model import ModelRequest, Reply, finish, held
from bot.dev.workspace import ADA
from bot.dev.workspace.store.record import Effect
from bot.runs.queue.engine import EngineOptions
from bot.settings import ChannelTable
from bot.slack.ui.words import STATUS_IN_LINE
from tests.faults.matrix import PAGE, ROWS, TESTS, page
from tests.support.deployment import A_MOMENT, Deployment, deployed
from tests.support.runs import answer

SALES = "C0SALES001"
_NUMBER = re.compile(r"Number (\d)")


def test_the_page_is_up_to_date() -> None:
    """`python -m tests.faults.matrix` writes it; every test that it names is there."""
    tests = [test for rows in ROWS.values() for _, _, test in rows]
    assert len(tests) >= 40
    missing = [test for test in tests if not _exists(*test.split("::"))]
    assert missing == []
    assert PAGE.read_text("utf-8") == page()


def _exists(file: str, name: str) -> bool:
    path = TESTS / file
    return path.is_file() and f"def {name}(" in path.read_text("utf-8")


def is_begun(effect: Effect) -> bool:
    """A request was kept: the first status follows it."""
    return effect.method == "agents.sessions.setStatus" and effect.args["status"] == "processing"


def _repeats(request: ModelRequest) -> Reply:
    return finish(answer(f"Answer to {_NUMBER.findall(request.text)[-1]}"))


def _order(bot: Deployment, thread: str) -> str:
    return "".join(m["text"].removeprefix("Answer to ")[0] for m in bot.terminals(SALES, thread))


async def test_messages_are_answered_in_the_order_they_were_written(redis_url) -> None:
    """Slack promises no order of events: what came late but was written before is answered before."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        return held(_repeats(request), go)

    each_by_itself = {"default": ChannelTable(during_run="queue")}
    async with deployed(brain, redis_url, channels=each_by_itself) as bot:
        root = await bot.ask(ADA, SALES, "Number 0")
        await bot.ws.until(lambda: bot.api.requests)
        said = {**bot.ws.messages(SALES)[-1], "type": "app_mention", "channel": SALES}
        for number in (3, 2, 1):
            text = f"<@{bot.ws.bot_user_id}> Number {number}"
            ts = f"{float(root) + number:.6f}"
            bot.ws.emit({**said, "ts": ts, "thread_ts": root, "text": text})
        await bot.ws.until(lambda: sum(map(is_begun, bot.ws.effects)) == 4)
        go.set()
        await bot.answered(SALES, root, 4, seconds=40)
        assert _order(bot, root) == "0123"


async def test_a_message_that_is_not_taken_in_at_once_keeps_its_place(
    redis_url, tmp_path, monkeypatch
) -> None:
    """A mention comes as two events: the second takes in what the first one failed to, before what
    was written after it and waits already."""
    monkeypatch.setattr(failpoints, "_orders", tmp_path)
    each_by_itself = {"default": ChannelTable(during_run="queue")}
    async with deployed(_repeats, redis_url, channels=each_by_itself) as bot:
        root = await bot.ask(ADA, SALES, "Number 0")
        await bot.answered(SALES, root)
        (tmp_path / "request-submitting").write_text("raise", "utf-8")
        for number in (1, 2, 3):
            await bot.ask(ADA, SALES, f"Number {number}", root)
        await bot.answered(SALES, root, 4)
        assert (tmp_path / "request-submitting.taken").exists()
        assert _order(bot, root) == "0123"


async def test_a_token_that_is_refused_for_a_while(redis_url) -> None:
    """Nothing is given up: when the token is good again each question has its one answer."""

    async def brain(_: ModelRequest) -> Reply:
        await asyncio.sleep(A_MOMENT)
        return finish(answer("Two."))

    async with deployed(brain, redis_url) as bot:
        for method in ("chat.postMessage", "chat.startStream", "chat.update"):
            bot.ws.faults.fail(method, "token_revoked", times=2)
        first = await bot.ask(ADA, SALES, "How many?")
        await bot.answered(SALES, first, seconds=40)
        assert len(bot.own(SALES, first)) == 1


async def test_who_asks_much_at_once_reads_that_a_question_is_in_line(redis_url) -> None:
    """It waits for one of their other questions; of that the thread says so until then."""
    go = asyncio.Event()

    def brain(_: ModelRequest) -> Reply:
        return held(finish(answer()), go)

    async with deployed(brain, redis_url, engine=EngineOptions(per_person=1)) as bot:
        await bot.ask(ADA, SALES, "First?")
        await bot.ws.until(lambda: bot.api.requests)
        second = await bot.ask(ADA, SALES, "Second?")
        await bot.ws.until(lambda: bot.ws.status(SALES, second).text == STATUS_IN_LINE())
        go.set()
        await bot.answered(SALES, second)
        await bot.ws.until(lambda: bot.ws.status(SALES, second).text == "")
