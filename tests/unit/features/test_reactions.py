"""An emoji on a message asks about it, in the name of whoever reacted."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from bot.app.features import all_features, check_features
from bot.core.errors import ConfigurationError
from bot.dev.model import ModelRequest, Reply, ResponsesServer, finish
from bot.dev.workspace import ADA, BEN, GUS, Person, Workspace
from bot.settings import ChannelTable, Settings
from bot.store import open_stores
from tests.faults.fleet import RETRIES
from tests.faults.processes import environment, started
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer

POLL = "U0POLLAPP1"
PLACE, SALES = "C0GENERAL1", "C0SALES001"
ASKED = "Translate this message into English."
POST = ("post_message", {"channel": "sales", "text": "CANARY", "thread": None})


def brain(request: ModelRequest) -> Reply:
    """Obeys a message that says what to do, and translates others."""
    said = [str(item.get("content")) for item in request.items if item.get("role") == "user"]
    return won_over(request) if '"do"' in str(said) else finish(answer("It says hello."))


async def quiet(bot: Deployment) -> None:
    """Wait until Slack has no event left, so that every request there will be is stored."""
    await bot.ws.until(lambda: not bot.ws.delivery.under_way, 30)


async def test_a_reaction_asks_once_in_the_name_of_whoever_reacted(redis_url: str) -> None:
    """One answer of an emoji on a message, whoever adds it again and however often its event comes; apps
    and guests start none, and what the message says has no right of its own."""
    channels = {PLACE: ChannelTable(reactions={"eyes": "", "ticket": ASKED})}
    everywhere = {"globe": ASKED, "eyes": "Say whether it is true."}
    async with (
        deployed(brain, redis_url, reactions=everywhere, channels=channels) as bot,
        open_stores(redis_url) as stores,
    ):
        ws = bot.ws

        async def written(text: str) -> str:
            return str((await ws.say(BEN, PLACE, text))["ts"])

        def event(user: str, ts: str) -> dict[str, Any]:
            item = {"type": "message", "channel": PLACE, "ts": ts}
            who = {"user": user, "item_user": BEN}
            return {"type": "reaction_added", "reaction": "globe", "item": item, **who}

        # Asked, and answered below the message.
        ts = await written("Guten Tag")
        await ws.react(ADA, PLACE, ts, "globe")
        await bot.answered(PLACE, ts)
        asked = bot.own(PLACE, ts)[0]
        assert "Ada" in str(asked["blocks"])
        assert ASKED in str(asked["blocks"])
        assert "Guten Tag" in str(bot.api.requests[0].body["input"])
        # Again, by somebody else, by apps, with an emoji that means nothing here: nothing more.
        await ws.take_reaction_back(ADA, PLACE, ts, "globe")
        await ws.react(ADA, PLACE, ts, "globe")
        await ws.react(BEN, PLACE, ts, "globe")
        await ws.react(ADA, PLACE, ts, "eyes")
        await ws.react(ADA, PLACE, ts, "tada")
        ws.emit(event(ADA, ts), ws.channels[PLACE])
        other = await written("Bonjour")
        ws.people[POLL] = Person(POLL, "poll", "Poll", "#000000", is_bot=True)
        ws.channels[PLACE].members.append(POLL)
        for app in (ws.bot_user_id, POLL):
            ws.emit(event(app, other), ws.channels[PLACE])
        # A guest is told so alone, once, and takes nobody's place.
        for _ in range(2):
            await ws.react(GUS, PLACE, other, "globe")
            await ws.take_reaction_back(GUS, PLACE, other, "globe")
        await quiet(bot)
        assert not await stores.mailbox.threads()
        assert (len(bot.own(PLACE, ts)), bot.own(PLACE, other)) == (2, [])
        assert len(bot.api.requests) == 1

        def told(user: str) -> list[str]:
            seen = (*ws.messages(PLACE, None, user), *ws.messages(PLACE, other, user))
            return list({m["ts"]: str(m["text"]) for m in seen if m.get("is_ephemeral")}.values())

        [sentence] = await ws.until(lambda: told(GUS))
        assert "guests" in sentence
        assert told(ADA) + told(POLL) == []
        await ws.react(ADA, PLACE, other, "ticket")
        await bot.answered(PLACE, other)
        # Two people at once: one answer.
        both = await written("Buenos días")
        await asyncio.gather(*(ws.react(user, PLACE, both, "globe") for user in (ADA, BEN)))
        await bot.answered(PLACE, both)
        await quiet(bot)
        assert len(bot.own(PLACE, both)) == 2
        # What the message wants done waits for whoever reacted, whose run only they stop this way.
        hostile = await written(question(POST))
        await ws.react(ADA, PLACE, hostile, "globe")
        while not await stores.redis.call("KEYS", "*:parked:*"):  # noqa: ASYNC110 - the bot does it
            await asyncio.sleep(0.05)
        await ws.react(BEN, PLACE, hostile, "globe")
        await ws.take_reaction_back(BEN, PLACE, hostile, "globe")
        await quiet(bot)
        assert not bot.terminals(PLACE, hostile)
        await ws.take_reaction_back(ADA, PLACE, hostile, "globe")
        await bot.answered(PLACE, hostile)
        # Then somebody else can ask, and whose event may only come again cannot.
        await ws.react(ADA, PLACE, hostile, "globe")
        await quiet(bot)
        assert not await stores.mailbox.threads()
        await ws.react(BEN, PLACE, hostile, "globe")
        await bot.ws.until(lambda: "Ben" in str(bot.own(PLACE, hostile)))
        await ws.take_reaction_back(BEN, PLACE, hostile, "globe")
        await bot.answered(PLACE, hostile, 2)
        assert "CANARY" not in str(ws.messages(SALES))


@pytest.mark.timeout(180)
async def test_a_reaction_is_answered_once_though_its_process_is_killed(
    redis_url: str, tmp_path: Path
) -> None:
    """After the question is said, and once the event was acknowledged and its run began."""
    orders, config = tmp_path / "orders", tmp_path / "bot.toml"
    orders.mkdir()
    config.write_text(
        f'[reactions]\nglobe = "{ASKED}"\n[engine]\nlease = 4.0\nsweep = 1.0\n', "utf-8"
    )
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=brain) as api,
        open_stores(redis_url) as stores,
    ):
        ws.delivery.retry_delays = RETRIES
        more = {"bot_failpoints": str(orders), "bot_config": str(config), "redis_url": redis_url}
        settings, bot, roots = environment(ws, api, tmp_path, **more), Deployment(ws, api), []
        for window in ("question-said", "run-started"):
            (orders / window).write_text("kill", "utf-8")
            async with started("serve", settings, tmp_path / "log") as process:
                roots.append(str((await ws.say(BEN, PLACE, "Guten Tag"))["ts"]))
                await ws.react(ADA, PLACE, roots[-1], "globe")
                await process.wait()
            assert (orders / f"{window}.taken").exists()
            for lock in await stores.redis.call(
                "KEYS", "*:lock:reaction:*"
            ):  # ends within half a minute
                await stores.redis.call("DEL", lock)
        async with started("serve", settings, tmp_path / "log"):
            for root in roots:
                await bot.answered(PLACE, root, seconds=60)
            await quiet(bot)
        assert [len(bot.own(PLACE, root)) for root in roots] == [2, 2]


def test_an_emoji_that_stops_runs_cannot_ask() -> None:
    """The operator hears it as the bot starts, instead of that people cannot stop a run."""
    settings = Settings(_env_file=None, reactions={"x": ASKED})
    with pytest.raises(ConfigurationError, match="x, which stops a run"):
        check_features(all_features(settings))
