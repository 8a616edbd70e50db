"""Messages that are posted later belong to who asked for them (reliability 3, 9)."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from datetime import UTC, datetime, timedelta

import pytest

from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.request import Entry, Request
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.features.schedules.messages import SlackScheduledMessages
from bot.features.schedules.waiting import WaitingMessages
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.messages import MessageReader
from bot.store import Stores
from tests.unit.slack.rig import Rig, wired
from tools.messages import cancel_scheduled_message, list_scheduled_messages, schedule_message

GENERAL, FINANCE = "C0GENERAL1", "C0FINANCE1"
TOMORROW = (datetime.now(UTC) + timedelta(days=1)).replace(microsecond=0)


class Diary:
    """Scheduled messages as somebody's question in #general, or in a direct message, meets them."""

    def __init__(self, ws: Workspace, rig: Rig, kept: Stores) -> None:
        self.ws, self.kept = ws, ScheduledMessageStore.of(kept)
        channels = ReachableChannels(rig.slack)
        self.mine = WaitingMessages(ws.team_id, rig.clients, self.kept)
        self.messages = SlackScheduledMessages(self.mine, channels, MessageReader(rig.slack))

    def by(self, user: str, channel: str = GENERAL):
        request = Request(
            entry=Entry.MENTION,
            team=self.ws.team_id,
            channel=channel,
            thread="1.0",
            ts="1.0",
            user=user,
            text="?",
        )
        return bound_request(RequestContext(request=request, run_id="run_1"))

    async def schedule(self, text: str, channel: str = "general") -> str:
        said = await schedule_message(channel, text, TOMORROW.isoformat(), self.messages)
        return said.rpartition("id: ")[2]

    async def listed(self) -> list[str]:
        """Their ids."""
        lines = (await list_scheduled_messages(self.messages)).split("\n")
        return [each.partition(" ")[0] for each in lines[1:]]

    @property
    def waiting(self) -> list[str]:
        """What will be posted."""
        return [each["text"] for each in self.ws.state.scheduled.values()]


@pytest.fixture
async def diary(ws: Workspace, stores: Stores) -> AsyncGenerator[Diary]:
    async with wired(ws) as rig:
        yield Diary(ws, rig, stores)


async def test_ones_own_are_listed_and_cancelled(diary: Diary) -> None:
    with diary.by(BEN):
        bens = await diary.schedule("Ben's news")
    with diary.by(ADA):
        first, second = await diary.schedule("Doors <open>"), await diary.schedule("Lunch")
        said = await list_scheduled_messages(diary.messages)
        assert f"{first} · {TOMORROW:%a %Y-%m-%d %H:%M} in #general · Doors <open>" in said
        assert bens not in said
        await cancel_scheduled_message(first, "Doors <open>", diary.messages)
        assert await diary.listed() == [second]
        for gone in (first, bens):
            with pytest.raises(ToolError, match=f"no message {gone} waiting"):
                await cancel_scheduled_message(gone, "Doors", diary.messages)
    assert diary.waiting == ["Ben's news", "Lunch"]


async def test_what_is_cancelled_is_what_was_shown_to_who_approved(diary: Diary) -> None:
    """(reliability 10) Another beginning, or too little of it, is refused."""
    text = "The party is on Friday, at the usual place, and everybody comes"
    with diary.by(ADA):
        waits = await diary.schedule(text)
        for told in ("The", "The party is off, at the usual place, and everybody comes"):
            with pytest.raises(ToolError, match="not how it begins"):
                await cancel_scheduled_message(waits, told, diary.messages)
        assert diary.waiting == [text]
        await cancel_scheduled_message(waits, text[:45], diary.messages)
    assert diary.waiting == []


async def test_what_goes_to_a_private_channel_is_not_told_of_in_front_of_others(
    diary: Diary,
) -> None:
    diary.ws.channels[FINANCE].members.append(diary.ws.bot_user_id)
    with diary.by(ADA):
        waits = await diary.schedule("CANARY", FINANCE)
        said = await list_scheduled_messages(diary.messages)
        assert said.startswith("0 waiting · more wait that are told of in a direct message only")
        assert "CANARY" not in said
    with diary.by(ADA, "D0ADA00001"):
        assert await diary.listed() == [waits]


async def test_a_lost_reply_leaves_nothing_that_nobody_can_cancel(diary: Diary) -> None:
    """It is not scheduled twice, and its owner finds it; a lost reply to the cancelling is said."""
    diary.ws.faults.fail("chat.scheduleMessage", after_effect=True)
    with diary.by(ADA):
        with pytest.raises(ToolError, match="may have been done or not"):
            await diary.schedule("Lunch")
        [waits] = await diary.listed()
        diary.ws.faults.fail("chat.deleteScheduledMessage", after_effect=True)
        with pytest.raises(ToolError, match="may have been done or not"):
            await cancel_scheduled_message(waits, "Lunch", diary.messages)
        assert await diary.listed() == []
    assert len([e for e in diary.ws.effects if e.method == "chat.scheduleMessage"]) == 1


async def test_home_lists_what_waits_also_where_the_reply_was_lost_and_nothing_refused(
    diary: Diary,
) -> None:
    """Slack is asked only then; whose it is not cannot cancel it."""
    refused, lost = {"error": "restricted_too_many"}, {"after_effect": True}
    for text, fault in (("Never", refused), ("Lunch", lost)):
        diary.ws.faults.fail("chat.scheduleMessage", **fault)
        with diary.by(ADA), pytest.raises(ToolError):
            await diary.schedule(text)
    [waits] = await diary.mine.of(ADA)
    assert waits.text == "Lunch"
    assert not await diary.mine.cancel_by_id(BEN, waits.id)
    assert diary.waiting == ["Lunch"]
    assert await diary.mine.cancel_by_id(ADA, waits.id)
    assert diary.waiting == []
    assert await diary.kept.of_person(diary.ws.team_id, ADA) == []


async def test_too_late_to_cancel_and_forgotten_once_posted(diary: Diary) -> None:
    """Slack takes nothing back in the last minute."""
    with diary.by(ADA):
        waits = await diary.schedule("Lunch")
        diary.ws.state.scheduled[waits]["post_at"] = int(datetime.now(UTC).timestamp()) + 30
        with pytest.raises(ToolError, match="no longer scheduled"):
            await cancel_scheduled_message(waits, "Lunch", diary.messages)
        [kept] = await diary.kept.of_person(diary.ws.team_id, ADA)
        await diary.kept.save(kept.model_copy(update={"post_at": 1}))
        diary.ws.state.scheduled.clear()
        assert await diary.listed() == []
    assert await diary.kept.of_person(diary.ws.team_id, ADA) == []
