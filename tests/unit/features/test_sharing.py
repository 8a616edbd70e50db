"""What one person was answered alone, and then shows to all in the thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from functools import partial
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.core.answers import Table
from bot.dev.model import Script, finish, held
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.sharing import words
from bot.features.sharing.slack_part import SHARE, AnswerSharing
from bot.features.shortcuts.forms import ASK_ABOUT
from bot.slack.ui.buttons import RETRY, STOP
from bot.store import open_stores
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.unit.slack.rig import wired

SALES = "C0SALES001"
WIDE = Table(caption="All", columns=["a"], rows=[[str(i)] for i in range(300)])


def private(bot: Deployment, user: str, ts: str) -> list[dict[str, Any]]:
    """What only that person sees at a message and in its thread, but for the line that says so."""
    seen = (*bot.ws.messages(SALES, viewer=user), *bot.ws.messages(SALES, ts, user))
    return [m for m in seen if m.get("is_ephemeral") and not m["text"].startswith(":lock:")]


async def asked_alone(bot: Deployment) -> tuple[str, dict[str, Any]]:
    """Ben asks about a message of Ada's, for himself: its ts, and the answer with the button."""
    said = await bot.ws.say(ADA, SALES, "We sold 12 of them.")
    await bot.ws.shortcut(BEN, ASK_ABOUT, channel=SALES, ts=said["ts"])
    [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
    wanted = {"question": {"question": "Of what?"}, "where": {"where": "me"}}
    assert await bot.ws.submit(BEN, modal["id"], wanted) == {}
    [answered] = await bot.ws.until(lambda: private(bot, BEN, said["ts"]))
    return said["ts"], answered


async def test_who_asks_alone_sees_a_line_in_the_channel_and_can_stop_it(redis_url: str) -> None:
    """U12: the asker alone, at once, with a link to where the answer will be and none of its words."""
    never = held(finish(answer("Of umbrellas.")), asyncio.Event())
    async with deployed(Script([never]), redis_url) as bot:
        said = await bot.ws.say(ADA, SALES, "We sold 12 of them.")
        await bot.ws.say(ADA, SALES, "Hm.", thread_ts=said["ts"])
        await bot.ws.shortcut(BEN, ASK_ABOUT, channel=SALES, ts=said["ts"])
        [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
        wanted = {"question": {"question": "Of what?"}, "where": {"where": "me"}}
        assert await bot.ws.submit(BEN, modal["id"], wanted) == {}

        def lines(user: str) -> list[dict[str, Any]]:
            return [m for m in bot.ws.messages(SALES, viewer=user) if m.get("is_ephemeral")]

        [line] = await bot.ws.until(lambda: lines(BEN))
        assert lines(ADA) == []
        assert said["ts"].replace(".", "") in str(line["blocks"])
        assert "Of what?" not in str(line)
        assert "12 of them" not in str(line)
        await bot.api.until(lambda: bot.api.requests)
        await bot.ws.click(BEN, SALES, line["ts"], STOP)
        [stopped] = await bot.ws.until(lambda: private(bot, BEN, said["ts"]))
        assert "Stopped" in str(stopped["blocks"])


def button_of(answered: dict[str, Any]) -> dict[str, Any]:
    elements = [each for block in answered["blocks"] for each in block.get("elements", ())]
    found: dict[str, Any] = next(each for each in elements if each.get("action_id") == SHARE)
    return found


async def test_who_was_answered_alone_posts_the_answer_in_the_thread(redis_url: str) -> None:
    """Once, with its file, under the name of who shares it; what only they saw goes."""
    script = Script([finish(answer("Of umbrellas.", table=WIDE.model_dump()))])
    async with deployed(script, redis_url) as bot:
        ts, answered = await asked_alone(bot)
        await bot.ws.click(BEN, SALES, answered["ts"], SHARE)
        await bot.ws.until(lambda: not private(bot, BEN, ts))
        message, file = bot.own(SALES, ts)
        assert "Of umbrellas." in str(message["blocks"])
        assert f"<@{BEN}>" in str(message["blocks"][0])
        assert all(block["type"] != "actions" for block in message["blocks"])
        assert [each["name"] for each in file["files"]] == ["all.csv"]


@pytest.mark.parametrize(
    ("method", "error"),
    [
        ("files.getUploadURLExternal", "file_uploads_disabled"),
        ("upload", 500),
        ("files.completeUploadExternal", "internal_error"),
    ],
)
async def test_a_file_that_cannot_be_shared_is_named_in_the_thread(
    redis_url: str, method: str, error: str | int
) -> None:
    """R4: the answer is up once, its thread says which file is missing, and what only the asker saw
    goes: nothing is left half shared, whoever presses again."""
    script = Script([finish(answer("Of umbrellas.", table=WIDE.model_dump()))])
    async with deployed(script, redis_url) as bot:
        ts, answered = await asked_alone(bot)
        await bot.ws.until(lambda: any(m.get("files") for m in bot.ws.messages("D0BEN00001")))
        bot.ws.faults.fail(method, error, times=1_000)
        await bot.ws.click(BEN, SALES, answered["ts"], SHARE)
        await bot.ws.until(lambda: not private(bot, BEN, ts), 30)
        message, missing = bot.own(SALES, ts)
        assert "Of umbrellas." in str(message["blocks"])
        assert "all.csv could not be attached" in missing["text"]


async def test_nobody_else_shares_it_and_nobody_twice(redis_url: str) -> None:
    """A forged press by somebody else posts nothing, and two presses at once post one."""
    async with deployed(Script([finish(answer("Of umbrellas."))]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        await sent(bot, press(bot, ADA, SALES, ts, button_of(answered)))
        await bot.ws.until(
            lambda: words.CANNOT_SHARE() in [each.get("text") for each in bot.sent()]
        )
        assert bot.own(SALES, ts) == []
        twice = [bot.ws.click(BEN, SALES, answered["ts"], SHARE) for _ in range(2)]
        await asyncio.gather(*twice)
        await bot.ws.until(lambda: not private(bot, BEN, ts))
        assert len(bot.own(SALES, ts)) == 1


async def test_two_processes_post_it_once(redis_url: str) -> None:
    """Each press may come to another one; who is killed at it keeps the others off for a while only."""
    async with deployed(Script([finish(answer("Of umbrellas."))]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        request_id = button_of(answered)["value"]
        async with AsyncExitStack() as stack:
            presses = [await process(stack, bot.ws, redis_url, request_id) for _ in range(2)]
            done = await asyncio.gather(*(press() for press in presses))
            assert True in done
            assert len(bot.own(SALES, ts)) == 1
            assert await presses[0]()  # again, and what is there already is not posted again
        assert len(bot.own(SALES, ts)) == 1
        async with Redis.from_url(redis_url) as redis:
            assert await redis.keys("bot:v1:sharing:*") == []


async def test_who_presses_while_it_is_being_posted_is_told_so(redis_url: str) -> None:
    """Also where the process that posted it was killed at it, and another one waits for it."""
    async with deployed(Script([finish(answer("Of umbrellas."))]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        async with open_stores(redis_url) as stores:
            async with stores.sharing(button_of(answered)["value"]):
                await bot.ws.click(BEN, SALES, answered["ts"], SHARE)
                await bot.ws.until(lambda: words.SHARING() in str(private(bot, BEN, ts)))
                assert bot.own(SALES, ts) == []
            await bot.ws.click(BEN, SALES, answered["ts"], SHARE)
            await bot.ws.until(lambda: len(bot.own(SALES, ts)) == 1)


async def test_a_private_failure_is_retried_once_from_its_button(redis_url: str) -> None:
    """Slack does not say what a message for one person holds: it stays without the button."""
    async with deployed(Script([finish(answer("Of umbrellas."))]), redis_url) as bot:
        bot.api.faults.fail("quota", times=3)
        ts, failed = await asked_alone(bot)
        bot.api.faults.clear()
        assert RETRY in str(failed["blocks"])
        await bot.ws.click(BEN, SALES, failed["ts"], RETRY)

        def shown() -> list[str]:
            return [str(each["blocks"]) for each in private(bot, BEN, ts)]

        await bot.ws.until(lambda: len(shown()) == 2 and RETRY not in str(shown()))
        assert "quota is used up" in shown()[0]
        assert "Of umbrellas." in shown()[1]


async def process(
    stack: AsyncExitStack, ws: Workspace, redis_url: str, request_id: str
) -> Callable[[], Awaitable[bool]]:
    """A process of its own as far as posting goes: what a press does there."""
    stores = await stack.enter_async_context(open_stores(redis_url))
    rig = await stack.enter_async_context(wired(ws))
    request = await stores.mailbox.get(request_id)
    outcome = await stores.runs.outcome(str(await stores.runs.id_of(request_id)))
    assert request is not None
    assert outcome is not None

    rig.app.stores = stores
    return partial(AnswerSharing(rig.app).post, request, outcome)
