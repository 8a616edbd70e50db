"""Refresh in Slack: who presses is told alone, posts it if they like, and may have it repeated."""

from __future__ import annotations

import asyncio
import time
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.core.findings import Claim, Finding, Findings, Place, Verdict
from bot.dev.workspace import ADA, BEN, GUS
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.runs.refresh.plan import recorded_calls
from bot.services.databases import DatabaseConfig
from bot.slack.actions.due_schedules import DueSchedules
from bot.slack.actions.refresh import AnswerRefresh
from bot.slack.render import refresh_words as said
from bot.slack.render.buttons import REFRESH
from bot.slack.render.outcome import render
from bot.slack.render.refresh import KEEP, POST
from bot.store import Stores, open_stores
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.redis import asked, redis_server, redis_url
from tests.unit.runs.test_refresh import SALES as SOLD
from tests.unit.runs.test_refresh import only_database, write
from tests.unit.slack.rig import wired
from tests.unit.slack.samples import outcome

__all__ = ["redis_server", "redis_url"]

SALES = "C0SALES001"


def shop_in(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A database, and the settings with it."""
    shop = folder / "shop.sqlite"
    write(shop, SOLD)
    return shop, {"databases": {"shop": DatabaseConfig(url=SecretStr(f"sqlite:///{shop}"))}}


async def answered(bot: Deployment, stores: Stores, user: str) -> tuple[str, str]:
    """An answer whose one figure comes from the database: its thread and run."""
    thread = await bot.ask(user, SALES, "How much did <!channel> North sell?")
    [message] = await bot.answered(SALES, thread)
    run = str(message["metadata"]["event_payload"]["run"])
    key = f"{bot.ws.team_id}:{SALES}:{thread}"
    recorded = recorded_calls(await stores.ledger.entries(key))
    [call] = [each for each in recorded.values() if each.tool == "query_database"]
    line = next(n for n, each in enumerate(call.output.splitlines(), 1) if "220919.5" in each)
    place = Place(
        call_id=call.call_id,
        tool=call.tool,
        line=line,
        row="<!channel> *North*",
        column="revenue",
        text="220919.5",
    )
    figure = Finding(
        field="summary",
        text="220,919.50",
        kind=Claim.FIGURE,
        verdict=Verdict.READ,
        places=(place,),
    )
    kept = await stores.runs.outcome(run)
    assert kept is not None
    traced = kept.model_copy(update={"traced": Findings(items=(figure,))})
    await stores.redis.call(
        "HSET", stores.redis.key("run", run), "outcome", traced.model_dump_json()
    )
    return thread, run


def private(bot: Deployment, thread: str, user: str) -> list[dict[str, Any]]:
    """What only that person sees in the thread."""
    return [m for m in bot.ws.messages(SALES, thread, user) if m.get("is_ephemeral")]


async def pressed(bot: Deployment, user: str, thread: str, action: str, value: str) -> None:
    button = {"action_id": action, "type": "button", "value": value}
    if action == KEEP:
        button = {"action_id": action, "type": "static_select", "selected_option": {"value": value}}  # type: ignore[dict-item]
    await sent(bot, press(bot, user, SALES, thread, button))


async def told(bot: Deployment, thread: str, user: str, text: str) -> dict[str, Any]:
    """The message to that person with `text`, once it is there."""
    found = await bot.ws.until(
        lambda: [m for m in private(bot, thread, user) if text in str(m.get("blocks", m["text"]))]
    )
    return dict(found[-1])


async def test_who_presses_is_told_alone_and_may_post_it(redis_url: str, tmp_path: Path) -> None:
    """S2 S7: with the rights of whoever presses, one at a time; names from data are only words; what is
    posted says for whom and as of when, and the answer's prose stays."""
    shop, settings = shop_in(tmp_path)
    async with (
        deployed(only_database, redis_url, **settings) as bot,
        open_stores(redis_url) as stores,
    ):
        thread, run = await answered(bot, stores, BEN)
        prose = bot.own(SALES, thread)
        write(shop, {"North": 231_004.0})
        await pressed(bot, ADA, thread, REFRESH, run)
        await pressed(bot, BEN, thread, REFRESH, run)
        assert said.BUSY in (await told(bot, thread, BEN, said.BUSY[:20]))["text"]
        result = await told(bot, thread, ADA, "220,919.50 → 231,004.00")
        assert "1 of 1 changed:" in str(result["blocks"])
        kinds = {
            each["type"]
            for b in result["blocks"][:1]
            for part in b["elements"]
            for each in part["elements"]
        }
        assert kinds == {"text", "rich_text_section"}  # no mention of everybody
        assert "<!channel>" not in result["text"]
        assert bot.own(SALES, thread) == prose
        assert not [m for m in private(bot, thread, BEN) if "231,004" in str(m)]

        await pressed(bot, BEN, thread, POST, run)  # not theirs
        await told(bot, thread, BEN, said.NOTHING_TO_POST[:20])
        await bot.ws.click(ADA, SALES, result["ts"], POST, value=run)
        await bot.ws.until(lambda: len(bot.own(SALES, thread)) > len(prose))
        posted = bot.own(SALES, thread)[-1]
        assert "220,919.50 → 231,004.00" in str(posted["blocks"])
        assert f"<@{ADA}>" in str(posted["blocks"])
        assert "As of" in str(posted["blocks"])
        await pressed(bot, ADA, thread, POST, run)
        await told(bot, thread, ADA, said.NOTHING_TO_POST[:20])
        assert len(bot.own(SALES, thread)) == len(prose) + 1

        await pressed(bot, GUS, thread, REFRESH, run)  # a guest
        await bot.ws.until(lambda: "questions from guests" in str(bot.ws.effects[-3:]))


async def test_a_schedule_posts_only_what_is_new(redis_url: str, tmp_path: Path) -> None:
    """O6: with its owner's rights, listed in their Home tab; in the thread only when a figure changed
    since the last time."""
    shop, settings = shop_in(tmp_path)
    async with (
        deployed(only_database, redis_url, **settings) as bot,
        open_stores(redis_url) as stores,
        open_engine(redis_url, stores.mailbox) as engine,
        wired(bot.ws) as rig,
    ):
        thread, run = await answered(bot, stores, BEN)
        prose = len(bot.own(SALES, thread))
        await pressed(bot, BEN, thread, KEEP, f"{run} 0 9 * * 1")
        assert "every Monday at 09:00" in (await told(bot, thread, BEN, "every Monday"))["text"]
        [schedule] = await stores.schedules.of(bot.ws.team_id, BEN)
        assert (schedule.refresh, schedule.thread) == (run, thread)
        await pressed(bot, BEN, thread, KEEP, f"{run} * * * * *")  # no choice of ours
        assert len(await stores.schedules.of(bot.ws.team_id, BEN)) == 1
        refresh = AnswerRefresh(
            rig.asking,
            answer_of=stores.runs.answer,
            store=stores.refreshes,
            schedules=stores.schedules,
            submit=Requests(stores, engine).submit,
            clients=rig.clients,
            alone=stores.sharing,
        )
        look = DueSchedules(
            bot.ws.team_id, stores.schedules, stores.pause, rig.asking, refresh, rig.clients, due
        )
        for number, (sold, news) in enumerate(
            ((220_919.5, 0), (231_004.0, 1), (231_004.0, 1), (240_000.0, 2)), 1
        ):
            write(shop, {"North": sold})
            await look.submit_due()
            while await done(stores, bot.ws.team_id) < number:  # noqa: ASYNC110 - a worker does it
                await asyncio.sleep(0.05)
            await bot.ws.until(lambda n=news: len(bot.own(SALES, thread)) == prose + n)  # type: ignore[misc]
        assert f"<@{BEN}>" in str(bot.own(SALES, thread)[-1]["blocks"])


def due() -> float:
    """A time in the far future, each time two years later."""
    return next(_TIMES)


_TIMES = count(int(time.time()) + 86_400 * 30, 86_400 * 700)


async def done(stores: Stores, team: str) -> int:
    """How many refreshes have been made."""
    log = [each.entry async for each in stores.audit.read(team)]
    return sum(each is not None and each.what == "query_database" for each in log) - 1


def test_the_button_is_there_where_something_can_be_read_again() -> None:
    """Not under a private answer, which everybody would read once it is posted."""
    request, made = asked("How many?"), outcome()
    for refreshable, private_too, there in (
        (True, False, True),
        (False, False, False),
        (True, True, False),
    ):
        shown = render(
            made.model_copy(update={"refreshable": refreshable}),
            request.model_copy(update={"private": private_too}),
        )
        assert (REFRESH in str(shown.parts[-1].blocks)) is there
