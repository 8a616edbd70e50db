"""Refresh in Slack: who presses is told alone, posts it if they like, and may have it repeated."""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import Any

from pydantic import SecretStr

from bot.dev.workspace import ADA, BEN, GUS
from bot.features.refresh import words as said
from bot.features.refresh.feature import REFRESH_ANSWER
from bot.features.refresh.listeners import RefreshListeners
from bot.features.refresh.message import KEEP, POST, START, refresh_part
from bot.features.refresh.refreshed import FigureChange, Refreshed
from bot.library.tracing.findings import Findings
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.services.sql_databases import DatabaseConfig
from bot.slack.intake.schedules import DueSchedules, text_of
from bot.slack.ui.outcome import render
from bot.store import Stores, open_stores
from bot.text.translation import load_catalogue, reader
from tests.security.test_boundaries import press
from tests.security.test_forged import sent
from tests.support.deployment import Deployment, deployed
from tests.support.redis import asked
from tests.support.slack import choose, entry_of
from tests.unit.features.test_refresh_jobs import only_database, write
from tests.unit.slack.rig import wired
from tests.unit.slack.samples import outcome

SALES = "C0SALES001"
NORTH = "<!channel> North"  # what stands in a database may be written by anybody


def shop_in(folder: Path) -> tuple[Path, dict[str, Any]]:
    """A database, and the settings with it."""
    shop = folder / "shop.sqlite"
    write(shop, {NORTH: 220_919.5})
    return shop, {"databases": {"shop": DatabaseConfig(url=SecretStr(f"sqlite:///{shop}"))}}


async def answered(bot: Deployment, user: str) -> tuple[str, str]:
    """An answer whose figures come from the database: its thread and run."""
    thread = await bot.ask(user, SALES, "How much did North sell?")
    [message] = await bot.answered(SALES, thread)
    assert entry_of(message, START)["description"]["text"]
    return thread, str(message["metadata"]["event_payload"]["run"])


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


def top_view(bot: Deployment, user: str, text: str) -> dict[str, Any] | None:
    """The modal that the person has open, if it has `text`."""
    return next((view for view in bot.ws.views(user)[-1:] if text in str(view["blocks"])), None)


async def test_who_presses_is_told_alone_and_may_post_or_schedule_it(
    redis_url: str, tmp_path: Path
) -> None:
    """S2 S7: with the rights of whoever presses, one at a time; names from data are only words; what is
    posted says for whom and as of when, and the answer's prose stays. A schedule posts only what is
    new, in its owner's name (O6)."""
    shop, settings = shop_in(tmp_path)
    async with (
        deployed(only_database, redis_url, **settings) as bot,
        open_stores(redis_url) as stores,
    ):
        thread, run = await answered(bot, BEN)
        prose = bot.own(SALES, thread)
        write(shop, {NORTH: 231_004.0})
        [answer] = [m for m in prose if "filled in" in str(m["blocks"])]
        assert "1 figure: filled in" in str(answer["blocks"])
        await choose(bot.ws, ADA, SALES, answer["ts"], START)
        await pressed(bot, BEN, thread, START, run)
        await told(bot, thread, BEN, said.BUSY()[:20])
        changed = "They sold 220,919.50 → 231,004.00 in all."
        result = await bot.ws.until(lambda: top_view(bot, ADA, changed))
        assert result
        assert "1 of 1 changed:" in str(result["blocks"])  # as the line counts: not its places
        assert len(result["blocks"][0]["elements"][1]["elements"]) == 1
        assert "may no longer fit" in str(result["blocks"])
        assert bot.own(SALES, thread) == prose
        assert not private(bot, thread, ADA)
        assert "231,004" not in str([private(bot, thread, BEN), bot.ws.views(BEN)])

        await pressed(bot, BEN, thread, POST, run)  # not theirs
        await told(bot, thread, BEN, said.NOTHING_TO_POST()[:20])
        await bot.ws.click_in_view(ADA, result["id"], POST)
        await bot.ws.until(lambda: len(bot.own(SALES, thread)) > len(prose))
        await bot.ws.until(lambda: top_view(bot, ADA, said.POSTED()))
        posted = bot.own(SALES, thread)[-1]
        assert "220,919.50 → 231,004.00" in str(posted["blocks"])
        assert f"<@{ADA}>" in str(posted["blocks"])
        assert "As of" in str(posted["blocks"])
        await pressed(bot, ADA, thread, POST, run)
        await told(bot, thread, ADA, said.NOTHING_TO_POST()[:20])
        assert len(bot.own(SALES, thread)) == len(prose) + 1
        await pressed(bot, GUS, thread, START, run)  # a guest
        await bot.ws.until(lambda: "questions from guests" in str(bot.ws.effects[-3:]))

        await pressed(bot, BEN, thread, KEEP, f"{run} * * * * *")  # no choice of ours
        await pressed(bot, BEN, thread, KEEP, f"{run} 0 9 * * 1")
        await told(bot, thread, BEN, "every Monday at 09:00")
        [schedule] = await stores.schedules.of(bot.ws.team_id, BEN)
        assert (schedule.refresh, schedule.thread) == (run, thread)
        await load_catalogue("de")
        with reader("de-DE"):
            assert text_of(schedule).startswith("Die Zahlen aktuell halten: How")
        for sold, news in ((231_004.0, 1), (240_000.0, 2)):
            write(shop, {NORTH: sold})
            await asked_on_time(bot, stores, redis_url)
            assert len(bot.own(SALES, thread)) == len(prose) + news
        assert f"<@{BEN}>" in str(bot.own(SALES, thread)[-1]["blocks"])


async def test_a_schedule_that_can_refresh_nothing_any_more_ends_and_says_so(
    redis_url: str, tmp_path: Path
) -> None:
    """evidence 1: the answer of an earlier release, whose figures were all worked out: once, in the
    thread, with a button that asks the question again."""
    _, settings = shop_in(tmp_path)
    async with (
        deployed(only_database, redis_url, **settings) as bot,
        open_stores(redis_url) as stores,
    ):
        thread, run = await answered(bot, BEN)
        await pressed(bot, ADA, thread, KEEP, f"{run} 0 9 * * 1")
        await told(bot, thread, ADA, "every Monday at 09:00")
        answer = await stores.runs.answer(run)
        assert answer
        key = stores.redis.key("run", run)
        without = answer[1].model_copy(update={"traced": Findings()}).model_dump_json()
        await stores.redis.call("HSET", key, "outcome", without)

        before = bot.own(SALES, thread)
        await submit_due(bot, stores, redis_url)
        await bot.ws.until(lambda: len(bot.own(SALES, thread)) > len(before))
        [ended] = bot.own(SALES, thread)[len(before) :]
        assert f"<@{ADA}> {said.ENDED()}" in str(ended["blocks"])
        while await stores.schedules.of(bot.ws.team_id, ADA):  # noqa: ASYNC110 - a worker does it
            await asyncio.sleep(0.1)
        [button] = ended["blocks"][-1]["elements"]
        assert button["text"]["text"] == "Ask again"
        await bot.ws.click(BEN, SALES, ended["ts"], button["action_id"], value=button["value"])
        await bot.ws.until(lambda: len(bot.terminals(SALES, thread)) == 2)
        await bot.ws.until(lambda: "Ask again" not in str(bot.own(SALES, thread)[len(before)]))


async def asked_on_time(bot: Deployment, stores: Stores, redis_url: str) -> None:
    """The schedules are due, and what they ask for is done."""
    before = await done(stores, bot.ws.team_id)
    await submit_due(bot, stores, redis_url)
    while await done(stores, bot.ws.team_id) == before or await stores.mailbox.threads():  # noqa: ASYNC110 - a worker does it
        await asyncio.sleep(0.3)


async def submit_due(bot: Deployment, stores: Stores, redis_url: str) -> None:
    """The schedules are due."""
    async with open_engine(redis_url, stores.mailbox) as engine, wired(bot.ws) as rig:
        rig.app.stores, rig.app.submit = stores, Requests(stores, engine).submit
        refresh = RefreshListeners.of(rig.app)
        look = DueSchedules(
            bot.ws.team_id, stores.schedules, stores.pause, [refresh], rig.slack, due
        )
        await look.submit_due()


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
            [REFRESH_ANSWER],
        )
        assert (START in str(shown.parts[-1].blocks)) is there


def test_a_sentence_is_shown_once_with_all_that_changed_in_it() -> None:
    """evidence 1: a figure counts once, and is not listed again for a table; one in no sentence is
    named, in words that mention nobody. What is not read again is counted."""
    sentence = "**North** sold 10, South 20."
    changes = (
        FigureChange(name="North", before="10", now="11", sentence=sentence, start=15),
        FigureChange(name="South", before="20", now="22", sentence=sentence, start=25, claim="s"),
        FigureChange(name="South", before="20", now="22", sentence=sentence, start=25, claim="s"),
        FigureChange(name="South", before="20.0", now="22.0", claim="s"),
        FigureChange(name="<!channel> West", before="5", now="6"),
    )
    part = refresh_part(
        Refreshed(
            run_id="r",
            request_id="q",
            user=ADA,
            figures=changes,
            others=2,
            answered_at=datetime.now(UTC),
        )
    )
    assert part.text.startswith("3 of 3 changed: North sold 10 → 11, South 20 → 22.; ")
    [_, west] = part.blocks[0]["elements"][1]["elements"]
    assert west["elements"] == [{"type": "text", "text": "<!channel> West 5 → 6"}]
    assert "Not checked: 2 figures that were calculated" in str(part.blocks)
