"""Several messages of one run of which one is deleted, edited or stopped: nothing stays unanswered."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, held
from bot.dev.workspace import ADA, Workspace
from tests.faults.processes import environment, started
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

SALES = "C0SALES001"
MOST_TURNS = 5


class Paced:
    """A model that calculates so many times, then answers; each reply comes when it is let go."""

    def __init__(self, sums: int) -> None:
        self.sums = sums
        self.asked = 0
        self.replies = [asyncio.Event() for _ in range(MOST_TURNS)]

    def __call__(self, request: ModelRequest) -> Reply:
        self.asked += 1
        works = self.asked <= self.sums
        reply = call("calculate", {"expression": "1+1"}) if works else finish(answer("Two."))
        return held(reply, self.replies[self.asked - 1])

    def let(self, *numbers: int) -> None:
        for number in numbers:
            self.replies[number - 1].set()


PLACES = ("messages-joining", "messages-joined", "run-finished", "message-left", "message-posted")


@pytest.mark.timeout(120)
async def test_a_process_killed_with_two_messages_in_hand_loses_and_doubles_none(
    tmp_path: Path,
) -> None:
    """Reliability, promise: each message reaches the model once, and both have one answer, whether
    the process dies around the step that takes the second in, or with the answer decided."""
    both_said = asyncio.Event()

    def brain(request: ModelRequest) -> Reply:
        if any(item.get("type") == "function_call_output" for item in request.input):
            return finish(answer("Two."))
        return held(call("calculate", {"expression": "1+1"}), both_said)

    orders = tmp_path / "orders"
    orders.mkdir()
    async with Workspace.open() as ws, ResponsesServer.open(brain=brain) as api:
        bot, log, roots = Deployment(ws, api), tmp_path / "log", dict[str, str]()
        cut = dict[str, bool]()
        settings = environment(ws, api, tmp_path, bot_failpoints=str(orders))
        for place in PLACES:
            both_said.clear()
            async with started("serve", settings, log) as process:
                before = len(api.requests)
                roots[place] = await bot.ask(ADA, SALES, f"First, {place}?")
                await ws.until(lambda: str(api.requests[before:]).count("First"))  # noqa: B023
                await ws.until(lambda: bot.own(SALES, roots[place]))  # noqa: B023
                await bot.ask(ADA, SALES, f"Second, {place}?", roots[place])
                # What a killed process did not acknowledge comes again only after a minute.
                title = f"Second, {place}?"
                await ws.until(
                    lambda: any(e.args.get("title") == title for e in ws.effects)  # noqa: B023
                )
                (orders / place).write_text("kill")
                both_said.set()
                await process.wait()
                second_asked = "function_call_output" in str(api.requests[before:])
                cut[place] = second_asked and not bot.terminals(SALES, roots[place])
        async with started("serve", settings, log):
            for place, root in roots.items():
                await bot.answered(SALES, root, seconds=30)
                assert len(bot.own(SALES, root)) == 1, place
        heard = str([each.body["input"] for each in api.requests])
        for place in PLACES:
            assert heard.count(f"First, {place}?") == 1
            # On a slow machine the update is one of progress: the call that it cut off is made again.
            again = place == "message-updated" and cut[place]
            assert 1 <= heard.count(f"Second, {place}?") <= 1 + again


@dataclass
class Scene:
    """A run that has taken a second message in, and has its second call to the model out."""

    bot: Deployment
    model: Paced
    root: str
    first: str
    second: str

    def heard(self, number: int) -> str:
        """What the nth call to the model brought it."""
        return str(self.bot.api.requests[number - 1].body["input"])

    async def calls(self, count: int) -> None:
        await self.bot.ws.until(lambda: len(self.bot.api.requests) >= count)

    async def taken_in(self) -> None:
        """Everything that happened in Slack has reached the bot."""
        await self.bot.ws.until(lambda: not self.bot.ws.delivery.under_way)

    async def told(self, text: str, count: int = 1) -> None:
        """So many ends stand in the thread, and nothing else; one says this."""

        def says() -> bool:
            own, ends = self.bot.own(SALES, self.root), self.bot.terminals(SALES, self.root)
            return len(own) == len(ends) == count and text in str(ends)

        await self.bot.ws.until(says)


@asynccontextmanager
async def joined(redis_url: str, sums: int) -> AsyncGenerator[Scene]:
    model = Paced(sums)
    async with deployed(model, redis_url) as bot:
        root = str((await bot.ws.say(ADA, SALES, "A thread of people."))["ts"])
        first = await bot.ask(ADA, SALES, "First?", root)
        await bot.ws.until(lambda: bot.api.requests)
        second = await bot.ask(ADA, SALES, "Second?", root)
        scene = Scene(bot, model, root, first, second)
        await scene.taken_in()
        model.let(1)
        await scene.calls(2)
        assert "Second?" in scene.heard(2)
        yield scene


async def test_it_is_shown_and_answered_with_the_rest(redis_url: str) -> None:
    """K12: the card says what was taken in; the one message that ends it stands below the messages that
    it answers."""
    async with joined(redis_url, sums=1) as scene:
        await scene.bot.ws.until(lambda: "Also: Second?" in str(scene.bot.own(SALES, scene.root)))
        scene.model.let(2)
        await scene.told("Two.")
        [end] = scene.bot.terminals(SALES, scene.root)
        assert float(end["ts"]) > float(scene.second)
    assert len(scene.bot.api.requests) == 2


async def test_a_deleted_one_is_left_out_and_the_run_goes_on(redis_url: str) -> None:
    async with joined(redis_url, sums=2) as scene:
        await scene.bot.ws.delete(ADA, SALES, scene.second)
        await scene.taken_in()
        scene.model.let(2, 3)
        await scene.told("Two.")
    assert "took this message back" in scene.heard(3)


async def test_an_edited_one_counts_in_its_new_words(redis_url: str) -> None:
    async with joined(redis_url, sums=2) as scene:
        mention = f"<@{scene.bot.ws.bot_user_id}>"
        await scene.bot.ws.edit(ADA, SALES, scene.second, f"{mention} Third?")
        await scene.taken_in()
        scene.model.let(2, 3)
        await scene.told("Two.")
    assert "took this message back" in scene.heard(3)
    assert "Third?" in scene.heard(3)
    assert len(scene.bot.api.requests) == 3


async def test_when_the_first_is_deleted_the_others_are_asked_by_themselves(redis_url: str) -> None:
    """The run stops without a word and its message goes; what was asked besides is answered."""
    async with joined(redis_url, sums=1) as scene:
        await scene.bot.ws.delete(ADA, SALES, scene.first)
        await scene.calls(3)
        scene.model.let(3)
        await scene.told("Two.")
    assert "Second?" in scene.heard(3)
    assert "First?" not in scene.heard(3)


async def test_when_the_first_is_edited_both_are_answered(redis_url: str) -> None:
    """The edit in the place of the first, the other below."""
    async with joined(redis_url, sums=1) as scene:
        mention = f"<@{scene.bot.ws.bot_user_id}>"
        await scene.bot.ws.edit(ADA, SALES, scene.first, f"{mention} Third?")
        scene.model.let(3, 4)
        await scene.told("Two.", 2)
    assert "Third?" in scene.heard(3)
    assert "Second?" in scene.heard(4)


async def test_edited_after_the_answer_all_of_it_is_answered_again(redis_url: str) -> None:
    """One message answered both: it does so again, each in its words of now."""
    async with joined(redis_url, sums=1) as scene:
        bot, mention = scene.bot, f"<@{scene.bot.ws.bot_user_id}>"
        scene.model.let(2, 3, 4)
        await scene.told("Two.")
        await bot.ws.edit(ADA, SALES, scene.second, f"{mention} Third?")
        await scene.calls(3)
        await scene.told("Revised")
        assert "First?\n\n---\n\nThird?" in scene.heard(3).encode().decode("unicode_escape")
        await bot.ws.edit(ADA, SALES, scene.first, f"{mention} Fourth?")
        await scene.calls(4)
        await scene.told("Revised")
        assert "Fourth?\n\n---\n\nThird?" in scene.heard(4).encode().decode("unicode_escape")


async def test_deleted_while_all_is_answered_again_the_others_are_asked_by_themselves(
    redis_url: str,
) -> None:
    """The one message that answered both has made place for the edit, and goes with it."""
    async with joined(redis_url, sums=1) as scene:
        bot, mention = scene.bot, f"<@{scene.bot.ws.bot_user_id}>"
        scene.model.let(2)
        await scene.told("Two.")
        await bot.ws.edit(ADA, SALES, scene.first, f"{mention} Third?")
        await scene.calls(3)
        await bot.ws.delete(ADA, SALES, scene.first)
        await scene.calls(4)
        scene.model.let(4)
        await scene.told("Two.")
        await scene.taken_in()
        assert len(bot.api.requests) == 4
    asked = scene.heard(4).rpartition("asks in #sales")[2]
    assert "Second?" in asked
    assert "Third?" not in asked


async def test_a_cross_on_either_stops_them_together(redis_url: str) -> None:
    async with joined(redis_url, sums=1) as scene:
        await scene.bot.ws.react(ADA, SALES, scene.second, "x")
        await scene.told("Stopped")
    assert len(scene.bot.api.requests) == 2
