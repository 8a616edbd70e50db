"""A question that is edited or deleted at every stage of its life: one message, one answer."""

from __future__ import annotations

import asyncio

from bot.local.model import ModelRequest, Reply, finish, held
from bot.local.workspace import ADA
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

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
            len(own) == 1 and text in str(own[0]["blocks"]) and len(bot.terminals(SALES, root)) == 1
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


def _kept(bot: Deployment) -> list[object]:
    """Requests that were taken in: each shows at once that it was understood."""
    return [
        e
        for e in bot.ws.effects
        if e.method == "agents.sessions.setStatus" and e.args["status"] == "processing"
    ]
