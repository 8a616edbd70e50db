"""What one person was answered alone, and then shows to all in the thread."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.core.answers import Table
from bot.dev.model import Reply, ResponsesServer, Script, finish, held
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.sharing import words
from bot.features.sharing.slack_part import POST, SHARE, AnswerSharing
from bot.features.shortcuts.forms import ASK_ABOUT
from bot.features.shortcuts.tasks import DRAFT
from bot.slack.ui.buttons import FOLLOW_UP, RETRY, STOP
from bot.store import open_stores
from tests.faults.processes import environment, started
from tests.security.judge import links
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.support.slack import choose, chosen, entry_of
from tests.unit.slack.rig import wired

SALES = "C0SALES001"
WIDE = Table(caption="All", columns=["a"], rows=[[str(i)] for i in range(300)])
UMBRELLAS = answer("Of umbrellas.", key_points=["They are large."])


def private(bot: Deployment, user: str, ts: str) -> list[dict[str, Any]]:
    """What only that person sees at a message and in its thread."""
    seen = (*bot.ws.messages(SALES, viewer=user), *bot.ws.messages(SALES, ts, user))
    return [m for m in seen if m.get("is_ephemeral")]


async def asked_alone(bot: Deployment) -> tuple[str, dict[str, Any]]:
    """Ben asks about a message of Ada's, for himself: its ts, and the answer with the button."""
    said = await bot.ws.say(ADA, SALES, "We sold 12 of them.")
    await bot.ws.shortcut(BEN, ASK_ABOUT, channel=SALES, ts=said["ts"])
    [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
    wanted = {"question": {"question": "Of what?"}, "where": {"where": "me"}}
    await bot.ws.submit(BEN, modal["id"], wanted)
    [answered] = await bot.ws.until(lambda: private(bot, BEN, said["ts"]))
    return said["ts"], answered


async def test_who_asks_alone_sees_that_it_works_and_nothing_is_left_of_it(redis_url: str) -> None:
    """U12, M7: the form becomes a window that says where the answer will be, and stops it. It never is
    a message, which Slack would not take away: the answer, a follow-up and what was stopped stand alone."""
    go = asyncio.Event()
    never = held(finish(answer("Of gloves.")), asyncio.Event())
    first = answer("Of umbrellas.", follow_ups=["And of gloves?"])
    async with deployed(Script([held(finish(first), go), never]), redis_url) as bot:
        said = await bot.ws.say(ADA, SALES, "We sold 12 of them.")
        await bot.ws.shortcut(BEN, ASK_ABOUT, channel=SALES, ts=said["ts"])
        [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
        wanted = {"question": {"question": "Of what?"}, "where": {"where": "me"}}
        await bot.ws.submit(BEN, modal["id"], wanted)
        [window] = bot.ws.views(BEN)
        assert STOP in str(window["blocks"])
        assert said["ts"].replace(".", "") in str(window["blocks"])
        assert "12 of them" not in str(window)
        assert private(bot, BEN, said["ts"]) == []

        go.set()
        [answered] = await bot.ws.until(lambda: private(bot, BEN, said["ts"]))
        assert "Of umbrellas." in str(answered["blocks"])
        await bot.ws.until(lambda: STOP not in str(bot.ws.views(BEN)))
        assert "Done" in str(bot.ws.views(BEN))

        await bot.ws.click(BEN, SALES, answered["ts"], f"{FOLLOW_UP}_0")
        [window] = bot.ws.views(BEN)
        await bot.api.until(lambda: len(bot.api.requests) == 2)
        await bot.ws.click_in_view(BEN, window["id"], STOP)
        [_, stopped] = await bot.ws.until(
            lambda: private(bot, BEN, said["ts"])[1:] and private(bot, BEN, said["ts"])
        )
        assert "Stopped" in str(stopped["blocks"])
        await bot.ws.until(lambda: STOP not in str(bot.ws.views(BEN)))
        assert "Working on it" not in str(private(bot, BEN, said["ts"]))


def button_of(answered: dict[str, Any], action: str) -> dict[str, Any]:
    elements = [each for block in answered["blocks"] for each in block.get("elements", ())]
    found: dict[str, Any] = next(each for each in elements if each.get("action_id") == action)
    return found


async def test_who_was_answered_alone_posts_the_answer_in_the_thread(redis_url: str) -> None:
    """Once, with its file, under the name of who shares it; what only they saw goes."""
    script = Script([finish(answer("Of umbrellas.", table=WIDE.model_dump()))])
    async with deployed(script, redis_url) as bot:
        ts, answered = await asked_alone(bot)
        await choose(bot.ws, BEN, SALES, answered["ts"], SHARE)
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
        await choose(bot.ws, BEN, SALES, answered["ts"], SHARE)
        await bot.ws.until(lambda: not private(bot, BEN, ts), 30)
        message, missing = bot.own(SALES, ts)
        assert "Of umbrellas." in str(message["blocks"])
        assert "all.csv could not be attached" in missing["text"]


async def test_nobody_else_shares_it_and_nobody_twice(redis_url: str) -> None:
    """A forged press by somebody else posts nothing, and two presses at once post one."""
    async with deployed(Script([finish(UMBRELLAS)]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        await sent(bot, press(bot, ADA, SALES, ts, chosen(answered, SHARE)))
        await bot.ws.until(
            lambda: words.CANNOT_SHARE() in [each.get("text") for each in bot.sent()]
        )
        assert bot.own(SALES, ts) == []
        twice = [choose(bot.ws, BEN, SALES, answered["ts"], SHARE) for _ in range(2)]
        await asyncio.gather(*twice)
        await bot.ws.until(lambda: not private(bot, BEN, ts))
        assert len(bot.own(SALES, ts)) == 1


async def test_two_processes_post_it_once(redis_url: str) -> None:
    """Each press may come to another one; who is killed at it keeps the others off for a while only."""
    async with deployed(Script([finish(UMBRELLAS)]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        request_id = entry_of(answered, SHARE)["value"].split()[1]
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
    async with deployed(Script([finish(UMBRELLAS)]), redis_url) as bot:
        ts, answered = await asked_alone(bot)
        async with open_stores(redis_url) as stores:
            async with stores.sharing(entry_of(answered, SHARE)["value"].split()[1]):
                await choose(bot.ws, BEN, SALES, answered["ts"], SHARE)
                await bot.ws.until(lambda: words.SHARING() in str(private(bot, BEN, ts)))
                assert bot.own(SALES, ts) == []
            await choose(bot.ws, BEN, SALES, answered["ts"], SHARE)
            await bot.ws.until(lambda: len(bot.own(SALES, ts)) == 1)


async def test_a_private_failure_is_retried_once_from_its_button(redis_url: str) -> None:
    """Slack does not say what a message for one person holds: it stays without the button."""
    async with deployed(Script([finish(UMBRELLAS)]), redis_url) as bot:
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


REPLY = "Hi **Ada**,\n\n- yes, with @Ben\n- as in https://x.example/a"
SHOWN = "Hi Ada,\n\n• yes, with @Ben\n• as in x.example/a"


def reply(draft: str = REPLY) -> Reply:
    """What a model drafts."""
    empty = {"tone": "", "assumptions": [], "sources": [], "gaps": []}
    return finish({"draft": draft, **empty})


async def drafted(bot: Deployment, where: str) -> tuple[str, dict[str, Any]]:
    """Ben has a reply to Ada's message drafted: its ts, and the message with the draft."""
    said = await bot.ws.say(ADA, SALES, "Can we launch on Monday?")
    await bot.ws.shortcut(BEN, DRAFT.callback, channel=SALES, ts=said["ts"])
    [modal] = await bot.ws.until(lambda: bot.ws.views(BEN))
    await bot.ws.submit(BEN, modal["id"], {"where": {"where": where}})
    if where == "me":
        [draft] = await bot.ws.until(lambda: private(bot, BEN, said["ts"]))
    else:
        [draft] = await bot.answered(SALES, said["ts"])
    return said["ts"], draft


def posted_drafts(bot: Deployment, ts: str) -> list[dict[str, Any]]:
    """The drafts that the bot has posted in a thread."""
    return [m for m in bot.own(SALES, ts) if "Asked for by" in str(m["blocks"][-1])]


def said_in(block: dict[str, Any]) -> str:
    [part] = block["elements"]
    return "".join(element.get("text") or element["url"] for element in part["elements"])


@pytest.mark.parametrize("where", ["me", "thread"])
async def test_a_draft_is_posted_exactly_as_it_was_shown(redis_url: str, where: str) -> None:
    """K13: once and for its asker, whose name is below it. No address of the model is a link, and nobody
    is mentioned whom the asker did not mention; Slack's dialog says what the press does."""
    async with deployed(lambda _: reply(), redis_url) as bot:
        ts, draft = await drafted(bot, where)
        assert said_in(draft["blocks"][0]) == SHOWN
        button = button_of(draft, POST)
        assert "my message, with your name below" in button["confirm"]["text"]["text"]
        others = press(bot, ADA, SALES, draft["ts"], button)
        await sent(bot, others)
        refusals = (words.CANNOT_SHARE(), words.ONLY_ASKER(person=BEN))
        await bot.ws.until(lambda: any(e.get("text") in refusals for e in bot.sent()))
        assert posted_drafts(bot, ts) == []
        await asyncio.gather(*[bot.ws.click(BEN, SALES, draft["ts"], POST) for _ in range(2)])
        [message] = await bot.ws.until(lambda: posted_drafts(bot, ts))
        assert said_in(message["blocks"][0]) == SHOWN
        assert message["blocks"][0]["elements"][0]["type"] == "rich_text_section"
        assert f"<@{BEN}>" in str(message["blocks"][-1])
        assert links([message]) == set()

        def is_over() -> bool:
            left = private(bot, BEN, ts) if where == "me" else bot.own(SALES, ts)[:-1]
            return POST not in str(left) and (where == "thread" or left == [])

        await bot.ws.until(is_over)
        assert len(posted_drafts(bot, ts)) == 1


async def test_a_draft_is_made_shorter_as_a_draft(redis_url: str) -> None:
    """K13: by a button, in the same place; what has a gap to fill in is not posted as it is."""
    drafts = iter([reply(), reply("On [day], yes.")])
    async with deployed(lambda _: next(drafts), redis_url) as bot:
        ts, draft = await drafted(bot, "thread")
        await bot.ws.click(BEN, SALES, draft["ts"], f"{FOLLOW_UP}_0")
        [_, shorter] = await bot.answered(SALES, ts, 2)
        assert said_in(shorter["blocks"][0]) == "On [day], yes."
        assert POST not in str(shorter)
        assert "Shorter" in str(bot.api.requests[-1].body["input"])


@pytest.mark.timeout(180)
async def test_a_draft_is_posted_once_though_its_process_is_killed(
    redis_url: str, tmp_path: Path
) -> None:
    """K13: after the post, before anybody knows of it: who presses again posts nothing more."""
    orders = tmp_path / "orders"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=lambda _: reply()) as api:
        bot, more = Deployment(ws, api), {"bot_failpoints": str(orders), "redis_url": redis_url}
        settings = environment(ws, api, tmp_path, **more)
        async with started("serve", settings, tmp_path / "log") as process:
            ts, draft = await drafted(bot, "thread")
            await ws.until(lambda: ws.status(SALES, ts).session != "processing")
            (orders / "message-posted").write_text("kill", "utf-8")
            with suppress(Exception):  # nobody acknowledges it
                await bot.ws.click(BEN, SALES, draft["ts"], POST)
            await process.wait()
        assert len(posted_drafts(bot, ts)) == 1
        async with (
            started("serve", settings, tmp_path / "log"),
            Redis.from_url(redis_url) as redis,
        ):
            await redis.delete(*await redis.keys("bot:v1:sharing:*"))  # which runs out by itself
            await bot.ws.click(BEN, SALES, draft["ts"], POST)
            await bot.ws.until(lambda: POST not in str(bot.own(SALES, ts)), 60)
            assert len(posted_drafts(bot, ts)) == 1


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
