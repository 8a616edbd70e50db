"""What is scheduled is taken back in the Home tab, once it has asked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import partial

from slack_sdk.web.async_client import AsyncWebClient

from bot.core.audit_kinds import AuditKind
from bot.core.schedule import Schedule
from bot.dev.workspace import ADA, BEN
from bot.features.home.view import AdminView, home_view
from bot.features.memories.home import FORGET, memory_blocks
from bot.features.schedules.home import CANCEL, CANCEL_MESSAGE, all_schedules, own_scheduled
from bot.features.schedules.message import ScheduledMessage
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.runs.policy.budgets import Budgets
from bot.runs.policy.preferences import Preferences
from bot.store import Stores, open_stores
from bot.toolkit import Memory, MemoryScope
from tests.security.judge import links
from tests.support.deployment import Deployment, deployed
from tests.unit.slack.test_home import GENERAL, answers, home


def planned(bot: Deployment, text: str) -> Schedule:
    where = {"team": bot.ws.team_id, "channel": GENERAL, "thread": "1.2", "user": BEN}
    late = {"next_at": 4_000_000_000, "cron": "0 9 * * MON"}
    return Schedule.model_validate({**where, **late, "text": text})


async def test_people_cancel_what_they_scheduled_and_admins_what_anybody_did(
    redis_url: str,
) -> None:
    """Admins see whose it is, where and when, not its words; only they cancel what is not theirs, its
    owner is told, and it is on record."""
    async with deployed(answers(0), redis_url) as bot, open_stores(redis_url) as stores:
        mine, other = planned(bot, "Profits of [us](https://evil.example)?"), planned(bot, "Sales?")
        for each in (mine, other):
            await stores.schedules.add(each, most=99)
        view = await home(bot, BEN, "Profits")
        assert links([{"view": view}]) == set()
        assert "every Monday at 09:00 (UTC), next <!date^4000000000^" in str(view)
        await bot.ws.click_in_view(BEN, view["id"], CANCEL, block_id=f"own-{mine.id}")
        await bot.ws.until(lambda: "Profits" not in str(bot.ws.home(BEN)))
        board = await home(bot, ADA, f"all-{other.id}")
        assert "Sales?" not in str(board)
        for is_admin in (False, True):
            bot.ws.people[ADA].is_admin = is_admin
            await bot.ws.click_in_view(ADA, board["id"], CANCEL, block_id=f"all-{other.id}")
            left = await stores.schedules.of(bot.ws.team_id, BEN)
            assert bool(left) is not is_admin
        direct = bot.ws.state.direct(BEN)
        assert direct is not None
        [told] = bot.ws.messages(direct.id)
        assert ", an admin, cancelled it" in told["text"]
        tried, kept = [each async for each in stores.audit.read(bot.ws.team_id)]
        assert tried.entry is not None
        assert (tried.entry.kind, tried.entry.who) == (AuditKind.REFUSED, ADA)
        assert kept.entry is not None
        assert (kept.entry.who, kept.entry.what) == (ADA, "cancelled a schedule")


async def waiting(bot: Deployment, stores: Stores, text: str) -> ScheduledMessage:
    """A message of Ben's that waits to be posted."""
    client = AsyncWebClient(bot.ws.bot_token, base_url=bot.ws.api_url)
    at = int((datetime.now(UTC) + timedelta(days=1)).timestamp())
    made = await client.chat_scheduleMessage(channel=GENERAL, text=text, post_at=at)
    about = {"team": bot.ws.team_id, "user": BEN, "channel": GENERAL, "text": text}
    waits = {"post_at": at, "slack_id": made["scheduled_message_id"]}
    kept = ScheduledMessage.model_validate(about | waits)
    await ScheduledMessageStore.of(stores).save(kept)
    return kept


async def test_a_message_that_waits_to_be_posted_is_taken_back_in_home(redis_url: str) -> None:
    """It says what, where and when, and Slack asks before the button acts; nobody else sees it.
    Opening the tab asks Slack for nothing."""
    async with deployed(answers(0), redis_url) as bot, open_stores(redis_url) as stores:
        text = "Doors &lt;open&gt; at noon, see `evil.example`"
        kept = await waiting(bot, stores, text)
        view = await home(bot, BEN, "Doors")
        assert links([{"view": view}]) == set()
        [block] = [b for b in view["blocks"] if b.get("block_id") == f"own-{kept.id}"]
        shown = block["text"]["text"]
        assert "Doors &lt;open&gt; at noon" in shown
        assert f"to be posted <!date^{kept.post_at}^" in shown
        assert f"in <#{GENERAL}>" in shown
        sure = block["accessory"]["confirm"]
        assert sure["title"]["text"] == "Cancel this?"
        assert "Doors <open> at noon" in sure["text"]["text"]
        assert "chat.scheduledMessages.list" not in {each.method for each in bot.ws.effects}
        assert "Doors" not in str(await home(bot, ADA, "For admins"))
        await bot.ws.click_in_view(BEN, view["id"], CANCEL_MESSAGE)
        await bot.ws.until(lambda: "Doors" not in str(bot.ws.home(BEN)))
        assert bot.ws.state.scheduled == {}
        assert bot.ws.views(BEN) == []
        assert await ScheduledMessageStore.of(stores).of_person(bot.ws.team_id, BEN) == []


async def test_what_cannot_be_taken_back_in_home_is_said(redis_url: str) -> None:
    """Posted meanwhile: it goes from the list. A reply that was lost: it stays, and the next press
    tells."""
    async with deployed(answers(0), redis_url) as bot, open_stores(redis_url) as stores:
        for lost, told in ((False, "This message is no longer scheduled"), (True, "don't know")):
            await waiting(bot, stores, f"Lunch {lost}")
            view = await home(bot, BEN, f"Lunch {lost}")
            if lost:
                bot.ws.faults.fail("chat.deleteScheduledMessage", after_effect=True)
            else:
                bot.ws.state.scheduled.clear()
            await bot.ws.click_in_view(BEN, view["id"], CANCEL_MESSAGE)
            [modal] = await bot.ws.until(partial(bot.ws.views, BEN))
            assert told in str(modal)
            await bot.ws.close_view(BEN, modal["id"])
        assert "Lunch True" in str(bot.ws.home(BEN))
        view = await home(bot, BEN, "Lunch True")
        await bot.ws.click_in_view(BEN, view["id"], CANCEL_MESSAGE)
        [modal] = await bot.ws.until(partial(bot.ws.views, BEN))
        assert "This message is no longer scheduled" in str(modal)
        await bot.ws.until(lambda: "Lunch" not in str(bot.ws.home(BEN)))


def test_whatever_ends_something_in_home_asks_first() -> None:
    """Each Cancel and Forget, an admin's of what others scheduled too; what is meant stands in it,
    but not what others are asked."""
    where = {"team": "T1", "channel": GENERAL, "user": BEN, "text": "Sales?"}
    schedule = Schedule.model_validate({**where, "thread": "1.2", "next_at": 4_000_000_000})
    message = ScheduledMessage.model_validate({**where, "post_at": 4_000_000_000})
    memory = Memory(scope=MemoryScope.USER, text="Likes tea", by=BEN)
    board = AdminView(Budgets(), [], {}, [], sections=all_schedules([schedule]))
    sections = [
        *memory_blocks([memory], may_ask=True),
        *own_scheduled([schedule], [message]),
    ]
    view = home_view("Bot", [], Preferences(), board, "en-US", sections=sections)
    buttons = [block["accessory"] for block in view["blocks"] if "accessory" in block]
    asks = [
        (each["action_id"], each["confirm"]["title"]["text"], each["confirm"]["text"]["text"])
        for each in buttons
        if "confirm" in each
    ]
    assert asks == [
        (FORGET, "Forget this?", "Likes tea"),
        (CANCEL, "Cancel this?", "“Sales?” will not run again."),
        (CANCEL_MESSAGE, "Cancel this?", "“Sales?” will not be posted."),
        (
            CANCEL,
            "Cancel this?",
            "What was scheduled for 2096-10-02 07:06 UTC will not run again. If somebody else "
            "scheduled it, I tell them.",
        ),
    ]
