"""A question that is edited or deleted at every stage of its life: one message, one answer."""

from __future__ import annotations

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, ScriptBook, call, finish, held
from bot.dev.workspace import ADA, BEN, NotAnswered, Workspace
from bot.slack.ui.buttons import DEEPER, REGENERATE, RETRY
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.support.slack import choose

SALES = "C0SALES001"


def asked_for(request: ModelRequest) -> str:
    """The words of the question that the model was asked last."""
    said = [str(i["content"]) for i in request.input if i.get("role") == "user"]
    return said[-1].split("\n\n")[1]


async def one_message(bot: Deployment, root: str, text: str) -> None:
    """The bot's one message in the thread comes to say this."""

    def says() -> bool:
        own = bot.own(SALES, root)
        return (
            len(own) == 1
            and text in str(own[0].get("blocks"))
            and len(bot.terminals(SALES, root)) == 1
        )

    await bot.ws.until(says, 20)


async def test_after_the_answer_it_is_revised_in_place(redis_url: str) -> None:
    """Marked as revised; on the same chain; and once more after another edit."""
    async with deployed(lambda r: finish(answer(f"Re: {asked_for(r)}")), redis_url) as bot:
        mention = f"<@{bot.ws.bot_user_id}>"
        root = await bot.ask(ADA, SALES, "How many?")
        await one_message(bot, root, "Re: How many?")
        first = bot.own(SALES, root)[0]["ts"]
        for words in ("How few?", "How much?"):
            await bot.ws.edit(ADA, SALES, root, f"{mention} {words}")
            await one_message(bot, root, f"Re: {words}")
            assert "Revised" in str(bot.own(SALES, root)[0]["blocks"])
        assert bot.own(SALES, root)[0]["ts"] == first
    bodies = [each.body for each in bot.api.requests]
    assert bodies[1]["previous_response_id"] == bot.api.requests[0].response_id
    assert "does not count any more" in str(bodies[1]["input"])


async def test_a_long_answer_that_becomes_short_leaves_nothing_behind(redis_url: str) -> None:
    """The further messages of the old answer go."""
    long = "\n\n".join(f"{i} " + "word " * 150 for i in range(28))

    def brain(request: ModelRequest) -> Reply:
        return finish(answer(long if "long" in asked_for(request) else "Short."))

    async with deployed(brain, redis_url) as bot:
        root = await bot.ask(ADA, SALES, "A long one?")
        await bot.ws.until(lambda: len(bot.own(SALES, root)) > 1 and bot.terminals(SALES, root), 20)
        await bot.ws.edit(ADA, SALES, root, f"<@{bot.ws.bot_user_id}> Another?")
        await one_message(bot, root, "Short.")


async def test_while_it_runs_it_begins_anew_in_the_same_message(redis_url: str) -> None:
    """The old run ends without a word."""

    def brain(request: ModelRequest) -> Reply:
        words = asked_for(request)
        reply = finish(answer(f"Re: {words}"))
        return held(reply, asyncio.Event()) if words == "How many?" else reply

    async with deployed(brain, redis_url) as bot:
        root = await bot.ask(ADA, SALES, "How many?")
        await bot.ws.until(lambda: bot.api.requests and bot.own(SALES, root))
        first = bot.own(SALES, root)[0]["ts"]
        await bot.ws.edit(ADA, SALES, root, f"<@{bot.ws.bot_user_id}> How few?")
        await one_message(bot, root, "Re: How few?")
        assert bot.own(SALES, root)[0]["ts"] == first
        assert not any("Stopped" in str(each) for each in bot.sent())


async def test_while_it_waits_only_its_new_words_are_asked(redis_url: str) -> None:
    """It keeps one answer, behind what was asked before it."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        words = asked_for(request)
        reply = finish(answer(f"Re: {words}"))
        return held(reply, go) if words == "First?" else reply

    async with deployed(brain, redis_url) as bot:
        root = await bot.ask(ADA, SALES, "First?")
        await bot.ws.until(lambda: bot.api.requests)
        second = await bot.ask(ADA, SALES, "Second?", root)
        await bot.ws.until(lambda: len(_kept(bot)) == 2)
        await bot.ws.edit(ADA, SALES, second, f"<@{bot.ws.bot_user_id}> Third?")
        await bot.ws.until(lambda: len(_kept(bot)) == 3)
        go.set()
        await bot.answered(SALES, root, 2)
        said = str(bot.own(SALES, root))
        assert "Re: First?" in said
        assert "Re: Third?" in said
        assert "Second?" not in said


async def test_a_question_deleted_in_mid_run_leaves_nothing(redis_url: str) -> None:
    """It is taken back: the run stops, and its message goes."""
    async with deployed(lambda _: held(finish(answer()), asyncio.Event()), redis_url) as bot:
        opening = await bot.ws.say(ADA, SALES, "A thread of people.")
        root = opening["ts"]
        asked = await bot.ask(ADA, SALES, "How many?", root)
        await bot.ws.until(lambda: bot.api.requests and bot.own(SALES, root))
        await bot.ws.delete(ADA, SALES, asked)
        await bot.ws.until(lambda: bot.own(SALES, root) == [])
        status = bot.ws.status(SALES, root)
        await bot.ws.until(lambda: status.session == "active")


LONG = "\n\n".join(f"{i} " + "word " * 150 for i in range(120))
"""More than fits into messages: the whole answer comes as a file."""


def long_or_short(request: ModelRequest) -> Reply:
    words = asked_for(request)
    return finish(answer(f"Re: {words} {LONG if 'all' in words else ''}"))


async def test_of_several_answers_to_a_question_an_edit_leaves_one(redis_url: str) -> None:
    """Each of Retry, Ask again and Look deeper answers it once more; once it is edited all of these
    answers are to a question that is no more, and their files too: the newest is revised."""
    go = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        reply = long_or_short(request)
        return reply if go.is_set() else held(reply, go)

    async with deployed(brain, redis_url) as bot:
        root = await bot.ask(ADA, SALES, "Tell all?")
        await bot.ws.until(lambda: bot.api.requests and bot.own(SALES, root))
        await bot.ws.say(ADA, SALES, "stop", root)
        [stopped] = await bot.answered(SALES, root)
        go.set()
        for count, button in enumerate((RETRY, REGENERATE, DEEPER), 2):
            newest = bot.terminals(SALES, root)[-1]["ts"] if count > 2 else stopped["ts"]
            press = bot.ws.click if button == RETRY else partial(choose, bot.ws)
            await press(BEN if count > 2 else ADA, SALES, newest, button)
            await bot.answered(SALES, root, count)
            await bot.ws.until(lambda: not bot.ws.delivery.under_way)
        await bot.ws.until(lambda: len(_files(bot, root)) == 3)  # the long answer in each
        newest = bot.terminals(SALES, root)[-1]["ts"]
        await bot.ws.edit(ADA, SALES, root, f"<@{bot.ws.bot_user_id}> Tell all, now?")
        await bot.ws.until(lambda: _is_one(bot, root, "Tell all, now?", files=1), 20)
        assert bot.terminals(SALES, root)[0]["ts"] == newest
        await bot.ws.edit(ADA, SALES, root, f"<@{bot.ws.bot_user_id}> Briefly?")
        await bot.ws.until(lambda: _is_one(bot, root, "Briefly?", files=0), 20)


@pytest.mark.parametrize("change", ["edit", "delete", "cross"])
async def test_a_retry_under_way_is_of_the_question(redis_url: str, change: str) -> None:
    """Edited while it is answered once more, the question has one answer, in its new words; deleted,
    it has no further one; and a cross on it stops what its author asked again."""

    def brain(request: ModelRequest) -> Reply:
        reply = finish(answer(f"Re: {asked_for(request)}"))
        return held(reply, asyncio.Event()) if "How many?" in asked_for(request) else reply

    async with deployed(brain, redis_url) as bot:
        opening = await bot.ws.say(BEN, SALES, "A thread of people.")
        root = str(opening["ts"])
        asked = await bot.ask(ADA, SALES, "How many?", root)
        await bot.ws.until(lambda: bot.api.requests and bot.own(SALES, root))
        await bot.ws.say(ADA, SALES, "stop", root)
        [stopped] = await bot.answered(SALES, root)
        await bot.ws.click(ADA if change == "cross" else BEN, SALES, stopped["ts"], RETRY)
        await bot.ws.until(lambda: len(bot.api.requests) == 2 and len(bot.own(SALES, root)) == 2)
        if change == "edit":
            await bot.ws.edit(ADA, SALES, asked, f"<@{bot.ws.bot_user_id}> How few?")
            await bot.ws.until(lambda: _is_one(bot, root, "How few?", files=0), 20)
        elif change == "cross":
            await bot.ws.react(ADA, SALES, asked, "x")
            await bot.answered(SALES, root, 2)
        else:
            await bot.ws.delete(ADA, SALES, asked)
            await bot.ws.until(lambda: [m["ts"] for m in bot.own(SALES, root)] == [stopped["ts"]])


async def test_an_answer_says_that_its_question_was_deleted(redis_url: str) -> None:
    """It stays, as others may have read it; what was taken back is not asked again from there."""
    async with deployed(
        lambda r: finish(answer(f"Re: {asked_for(r)}", key_points=["A point."])), redis_url
    ) as bot:
        root = await bot.ask(ADA, SALES, "First?")
        await bot.answered(SALES, root)
        asked = await bot.ask(ADA, SALES, "Second?", root)
        [first, second] = await bot.answered(SALES, root, 2)
        await choose(bot.ws, BEN, SALES, second["ts"], REGENERATE)
        await bot.answered(SALES, root, 3)
        await bot.ws.delete(ADA, SALES, asked)

        def marked() -> list[bool]:
            return ["question was deleted" in str(m["blocks"]) for m in bot.own(SALES, root)]

        await bot.ws.until(lambda: marked() == [False, True, True])
        shown = [str(each["blocks"]) for each in bot.own(SALES, root)]
        assert [REGENERATE in each for each in shown] == [True, False, False]
        assert "Re: Second?" in shown[1]
        assert first["blocks"] == bot.own(SALES, root)[0]["blocks"]


def _files(bot: Deployment, root: str) -> list[str]:
    """Ids of the files that stand in the thread."""
    return [file["id"] for each in bot.own(SALES, root) for file in each.get("files", ())]


def _is_one(bot: Deployment, root: str, words: str, *, files: int) -> bool:
    """Whether one answer stands there, revised, with its files; and no others are kept."""
    ends, up = bot.terminals(SALES, root), _files(bot, root)
    kept = [file.id for file in bot.ws.state.files.values() if not file.deleted]
    shown = str(ends[0]["blocks"]) if len(ends) == 1 else ""
    own = len(bot.own(SALES, root)) - files
    return (
        f"Re: {words}" in shown
        and "Revised" in shown
        and sorted(up) == sorted(kept)
        and (len(up), own) == (files, 1)
    )


def _kept(bot: Deployment) -> list[object]:
    """Requests that were taken in: each shows at once that it was understood."""
    return [
        e
        for e in bot.ws.effects
        if e.method == "agents.sessions.setStatus" and e.args["status"] == "processing"
    ]


async def test_a_file_of_a_killed_run_goes_with_its_question(tmp_path: Path) -> None:
    """It was shared, and the process died before it could say so; then the question was edited."""
    orders, log = tmp_path / "orders", tmp_path / "log"
    orders.mkdir()
    (orders / "file-shared").write_text("kill")
    shared = {"name": "a.csv", "content": "a\n1\n", "handle": None, "comment": ""}
    asked = [
        call("acquire_tools", {"names": ["share_file"]}),
        call("share_file", shared),
        held(finish(answer("Re: How many?")), asyncio.Event()),  # if it goes on before the edit
    ]
    brain = ScriptBook({"How few?": [finish(answer("Re: How few?"))], "How many?": asked})
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot = Deployment(ws, api)
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        async with started("serve", settings, log) as process:
            root = await bot.ask(ADA, SALES, "How many?")
            await process.wait()
        assert len(_files(bot, root)) == 1
        async with started("serve", settings, log):
            await ws.edit(ADA, SALES, root, f"<@{ws.bot_user_id}> How few?")
            await one_message(bot, root, "Re: How few?")
        assert _files(bot, root) == []


class Reordered:
    """Slack's transport, which delivers messages, and edits to words with `late`, only once `released`."""

    def __init__(self, ws: Workspace) -> None:
        self.released, self.late = False, ""
        self._send = ws.delivery.transport.send
        ws.delivery.transport = self
        ws.delivery.retry_delays = (0.1,) * 100

    async def send(self, kind: str, payload: dict[str, Any], **how: Any) -> dict[str, Any]:
        event = payload.get("event") or {}
        is_change = event.get("subtype") in ("message_changed", "message_deleted")
        text = str((event.get("message") or {}).get("text"))
        is_held = bool(self.late) and self.late in text if is_change else True
        if kind == "events_api" and is_held and not self.released:
            raise NotAnswered("timeout")
        return await self._send(kind, payload, **how)


@pytest.mark.parametrize("place", ["channel", "thread", "direct"])
async def test_an_edit_that_comes_before_its_message_counts(redis_url: str, place: str) -> None:
    """C3: Slack retries the message's event, and its edits come first, the older of two last: the
    newest text is answered, once."""

    async with deployed(lambda r: finish(answer(f"Re: {asked_for(r)}")), redis_url) as bot:
        channel = "D0ADA00001" if place == "direct" else SALES
        mention = f"<@{bot.ws.bot_user_id}> " if place == "channel" else ""
        above = await bot.ask(ADA, SALES, "How are you?") if place == "thread" else None
        if above:
            await bot.answered(SALES, above)
        order = Reordered(bot.ws)
        said = str((await bot.ws.say(ADA, channel, f"{mention}How many?", above))["ts"])
        order.late = "How few?"
        await bot.ws.edit(ADA, channel, said, f"{mention}How few?")
        await bot.ws.edit(ADA, channel, said, f"{mention}How much?")
        count = 2 if above else 1

        def is_answered() -> bool:
            own = bot.terminals(channel, above or said)
            return len(own) == count and "Re: How much?" in str(own[-1])

        await bot.ws.until(is_answered, 20)
        order.released = True
        await bot.ws.until(lambda: not bot.ws.delivery.under_way, 20)
        await bot.ws.until(is_answered)
        assert len(bot.own(channel, above or said)) == count
        assert "Re: How much?" in str(bot.own(channel, above or said)[-1])


async def test_a_message_that_comes_after_its_deletion_asks_nothing(redis_url: str) -> None:
    """C3: the same for a deleted message, edited before or not."""

    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        order = Reordered(bot.ws)
        mention = f"<@{bot.ws.bot_user_id}>"
        plain = await bot.ask(ADA, SALES, "Plain?")
        edited = await bot.ask(ADA, SALES, "Edited?")
        order.late = "otherwise"
        await bot.ws.edit(ADA, SALES, edited, f"{mention} Edited otherwise?")
        for ts in (plain, edited):
            await bot.ws.delete(ADA, SALES, ts)
        await bot.ws.until(lambda: bot.ws.delivery.under_way == 5)  # two for each mention, one edit
        order.released = True
        await bot.ws.until(lambda: not bot.ws.delivery.under_way, 20)
        after = await bot.ask(ADA, SALES, "After?")
        await bot.answered(SALES, after)
        assert not bot.own(SALES, plain) + bot.own(SALES, edited)
        assert len(bot.api.requests) == 1
