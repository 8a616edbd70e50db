"""Questions that are asked later: once, in time, in their owner's name, and with their rights (issue 6)."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from typing_extensions import override

from bot.app.process import bot
from bot.core.context import RequestContext, bound_request
from bot.core.errors import ToolError
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Entry, Request
from bot.core.schedule import MOST, Schedule, first_time
from bot.dev.model import ResponsesServer, Script, call, finish
from bot.dev.workspace import ADA, BEN, GUS, Workspace
from bot.features.schedules.own import OwnSchedules
from bot.features.schedules.tools import cancel_schedule, list_schedules, schedule_prompt
from bot.runs.policy.access import Policy
from bot.slack.intake import schedules as intake_schedules
from bot.slack.intake.schedules import DueSchedules, WorkspaceSchedules
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.buttons import APPROVE
from bot.store import Stores, open_stores
from bot.testing.conversation import asked
from tests.security.judge import links
from tests.support.deployment import Deployment, configured, deployed, is_terminal
from tests.support.redis import asked as asked_in
from tests.support.runs import answer
from tests.unit.slack.rig import wired

GENERAL = "C0GENERAL1"
NOW = datetime(2026, 3, 27, 12, tzinfo=UTC).timestamp()
MONDAYS = "0 9 * * MON"
GOOD = Outcome(run_id="", status=RunStatus.SUCCESS, stop_reason=StopReason.COMPLETED)
FAILED = Outcome(
    run_id="",
    status=RunStatus.FAILED,
    stop_reason=StopReason.MODEL_ERROR,
    note="The quota is\nused up. <!channel>",
)
PAUSED = Outcome(run_id="", status=RunStatus.FAILED, stop_reason=StopReason.PAUSED)


def schedule(ws: Workspace, thread: str, user: str = ADA, **more: object) -> Schedule:
    fields = {"team": ws.team_id, "channel": GENERAL, "thread": thread, "user": user}
    return Schedule.model_validate(
        {**fields, "text": "How many?", "next_at": int(NOW) - 900_000, **more}
    )


async def test_one_that_cannot_be_read_keeps_nobody_from_adding_more(stores: Stores) -> None:
    """Whatever stands there in its place."""
    async with Workspace.open() as ws:
        made = schedule(ws, "1.0")
    for damaged in ("5", "null", "{"):
        await stores.redis.call("HSET", stores.redis.key("schedules", made.team), damaged, damaged)
    assert await stores.schedules.add(made, most=1)
    assert [each.id for each in await stores.schedules.of_all(made.team)] == [made.id]


async def test_what_was_missed_is_asked_once_and_answered_in_its_thread(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often it was due while nothing ran; then it waits for its next time. Whose it is is
    called. K11: nor is it asked again when its process died before it set the next time."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.2)
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=lambda _: finish(answer("Seven."))) as api,
        open_stores(redis_url) as stores,
    ):
        root = (await ws.say(ADA, GENERAL, "Figures"))["ts"]
        made = schedule(ws, root, cron=MONDAYS)
        await stores.schedules.add(made, most=99)
        async with bot(configured(ws, api, redis_url)):
            deployed = Deployment(ws, api)
            [said] = await deployed.answered(GENERAL, root)
            claim = ("schedule-claim", ws.team_id, made.id, str(made.next_at))
            await stores.redis.call("DEL", stores.redis.key(*claim))
            assert await stores.schedules.move(made)
            while await stores.schedules.of(ws.team_id, ADA) == [made]:  # noqa: ASYNC110 - the bot moves it
                await asyncio.sleep(0.1)
        assert deployed.own(GENERAL, root) == [said]  # K11: one message, not two
        assert "Seven." in said["text"]
        line = said["blocks"][0]["elements"][0]["text"]
        assert line.startswith(f":alarm_clock: Scheduled by <@{ADA}> on <!date^")
        assert f"due <!date^{int(NOW) - 900_000}^" in line
        assert line.endswith(": How many?")
        first = next(e.args for e in ws.effects if e.method == "chat.postMessage")
        assert f"<@{ADA}>" in first["text"]  # which Slack notifies, unlike a later change
        assert "scheduled this on" in str(api.requests[0].body["input"])
        assert " asks in " not in str(api.requests[0].body["input"])
        [kept] = await stores.schedules.of(ws.team_id, ADA)
        assert kept.next_at > datetime.now(UTC).timestamp()


async def test_one_of_several_processes_asks(ws: Workspace, stores: Stores) -> None:
    async with wired(ws) as rig:
        root = (await ws.say(ADA, GENERAL, "Figures"))["ts"]
        await stores.schedules.add(schedule(ws, root), most=99)
        looks = [
            DueSchedules(
                ws.team_id,
                stores.schedules,
                stores.pause,
                rig.features,
                rig.slack,
                lambda: NOW,
            )
            for _ in range(3)
        ]
        for each in looks:
            await each.submit_due()
        assert [(r.user, r.text, r.thread) for r in rig.requests] == [(ADA, "How many?", root)]
        assert await stores.schedules.of(ws.team_id, ADA) == []


async def test_who_may_not_ask_any_more_is_told_after_three_times(
    ws: Workspace, stores: Stores
) -> None:
    """Rights are those of the moment: a guest's schedule asks nothing."""
    async with wired(ws) as rig:
        root = (await ws.say(GUS, GENERAL, "Figures"))["ts"]
        await stores.schedules.add(schedule(ws, root, GUS, cron=MONDAYS), most=99)
        now = NOW
        look = DueSchedules(
            ws.team_id,
            stores.schedules,
            stores.pause,
            rig.features,
            rig.slack,
            lambda: now,
        )
        for _ in range(3):
            await look.submit_due()
            now += 8 * 86_400
        assert rig.requests == []
        assert await stores.schedules.of(ws.team_id, GUS) == []
        direct = rig.direct(GUS)
        rests, stopped = [m["text"] for m in ws.messages(direct)]
        assert "did not run this time" in rests  # K11: told at once, and not at each time
        assert "I stopped what you scheduled" in stopped


class Buggy(SlackPart):
    """Fails at whatever is due."""

    @override
    async def take_due(self, schedule: Schedule) -> bool:
        raise LookupError(schedule.id)


class Hanging(SlackPart):
    """Never does what is due."""

    @override
    async def take_due(self, schedule: Schedule) -> bool:
        await asyncio.Event().wait()
        return True


@pytest.mark.parametrize(
    ("part", "cron", "sentence", "stays"),
    [
        (Buggy(), "", "I stopped what you scheduled", False),
        (Hanging(), MONDAYS, "did not run this time", True),
    ],
    ids=["raises", "hangs"],
)
async def test_who_scheduled_what_a_bug_prevents_is_told_in_the_end(
    ws: Workspace,
    stores: Stores,
    monkeypatch: pytest.MonkeyPatch,
    part: SlackPart,
    cron: str,
    sentence: str,
    *,
    stays: bool,
) -> None:
    """K11: not at once, as what fails a few times still comes."""
    monkeypatch.setattr(intake_schedules, "PART_SECONDS", 0.05)
    async with wired(ws) as rig:
        made = schedule(ws, "", cron=cron)
        await stores.schedules.add(made, most=99)
        claim = stores.redis.key("schedule-claim", ws.team_id, made.id, str(made.next_at))
        look = DueSchedules(
            ws.team_id,
            stores.schedules,
            stores.pause,
            [part],
            rig.slack,
            lambda: NOW,
        )
        for _ in range(9):
            await look.submit_due()
            [tried] = await stores.schedules.of(ws.team_id, ADA)
            assert tried.next_at == made.next_at
            await stores.redis.call("DEL", claim)  # which ends within two minutes
        assert ws.messages(rig.direct(ADA)) == []
        await look.submit_due()
        [told] = ws.messages(rig.direct(ADA))
        assert sentence in told["text"]
        later = await stores.schedules.of(ws.team_id, ADA)
        assert [(each.next_at > NOW, each.tries) for each in later] == [(True, 0)] * stays


async def test_nothing_is_asked_in_the_name_of_who_left(ws: Workspace, stores: Stores) -> None:
    """From the moment on, though they were known a minute ago; its thread is told, once, where others
    can have it asked in their own name (reliability 9)."""
    async with wired(ws) as rig:
        root = (await ws.say(BEN, GENERAL, "Figures"))["ts"]
        await rig.slack.people.find(BEN)
        await stores.schedules.add(schedule(ws, root, BEN, cron=MONDAYS), most=99)
        await ws.deactivate(ADA, BEN)
        await DueSchedules(
            ws.team_id,
            stores.schedules,
            stores.pause,
            rig.features,
            rig.slack,
            lambda: NOW,
        ).submit_due()
        assert rig.requests == []
        assert await stores.schedules.of(ws.team_id, BEN) == []
        [_, told] = ws.messages(GENERAL, root)
        assert "“How many?”" in told["text"]
        assert "every Monday at 09:00" in told["text"]


async def test_a_thread_that_is_gone_keeps_no_other_schedule_waiting(
    ws: Workspace, stores: Stores
) -> None:
    """Its owner is told; what others scheduled is asked in the same look."""
    async with wired(ws) as rig:
        root = (await ws.say(BEN, GENERAL, "Figures"))["ts"]
        await stores.schedules.add(schedule(ws, "1111.000100"), most=99)
        await stores.schedules.add(schedule(ws, root, BEN, next_at=int(NOW) - 60), most=99)
        await DueSchedules(
            ws.team_id,
            stores.schedules,
            stores.pause,
            rig.features,
            rig.slack,
            lambda: NOW,
        ).submit_due()
        assert [(r.user, r.thread) for r in rig.requests] == [(BEN, root)]
        assert ["thread" in m["text"] for m in ws.messages(rig.direct(ADA))] == [True]


async def test_what_fails_three_times_in_a_row_is_stopped(ws: Workspace, stores: Stores) -> None:
    """Its owner is told once, with how to begin it again. A run counts once, however often its end is
    told; a good one begins the count anew, and a pause of the bot counts for nothing."""
    made = schedule(ws, "1.0", cron=MONDAYS)
    await stores.schedules.add(made, most=99)
    async with wired(ws) as rig:
        schedules = WorkspaceSchedules(ws.team_id, stores.schedules, rig.clients)
        request = Request(
            **made.model_dump(include={"team", "channel", "thread", "user", "text"}),
            entry=Entry.SCHEDULE,
            ts="1.1",
            schedule=made.id,
        )
        for number, end in enumerate([FAILED, FAILED, GOOD, FAILED, PAUSED, FAILED, FAILED]):
            assert [each.id for each in await schedules.of(ADA)] == [made.id]
            for _ in range(2):  # as after a crash
                await schedules.ended(request, end.model_copy(update={"run_id": f"run_{number}"}))
        assert await schedules.of(ADA) == []
        [told] = ws.messages(rig.direct(ADA))
    assert "failed 3 times" in told["text"]
    assert "Last error: “The quota is used up. @" in told["text"]  # U15: not only elsewhere
    assert "<!channel>" not in told["text"]
    assert "every Monday at 09:00 (" in told["text"]


async def test_one_whose_account_has_ended_rests_until_it_is_connected(
    ws: Workspace, stores: Stores
) -> None:
    """(R3) Its owner is told once, and not asked again and again; once they have connected the account,
    it goes on at its next time. What waits for another account stays."""
    async with wired(ws) as rig:
        schedules = WorkspaceSchedules(ws.team_id, stores.schedules, rig.clients)
        made = schedule(ws, "1.0", cron=MONDAYS)
        await stores.schedules.add(made, most=1)
        run = Request(
            **made.model_dump(include={"team", "channel", "thread", "user", "text"}),
            entry=Entry.SCHEDULE,
            ts="1.1",
            schedule=made.id,
        )
        for _ in range(2):
            await schedules.wait_for_account(run, "notion")
        told = [m["text"] for m in ws.messages(rig.direct(ADA))]
        assert len(told) == 1
        assert "Notion" in told[0]
        assert await stores.schedules.due(ws.team_id, NOW) == []
        await schedules.connected(ADA, "hubspot")
        [waiting] = await schedules.of(ADA)
        assert waiting.waits_for == "notion"
        await schedules.connected(ADA, "notion")
        [again] = await schedules.of(ADA)
        assert again.waits_for == ""
        assert again.next_at < waiting.next_at


async def test_the_ends_of_its_runs_are_counted(redis_url: str) -> None:
    """From the question that is asked by itself to the word to its owner, in a whole bot."""
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=lambda _: finish(answer())) as api,
        open_stores(redis_url) as stores,
    ):
        root = (await ws.say(ADA, GENERAL, "Figures"))["ts"]
        made = schedule(ws, root, cron=MONDAYS)
        await stores.schedules.add(made, most=99)
        for run_id in ("run_1", "run_2"):
            await stores.schedules.ended(ws.team_id, made.id, run_id, failed=True)
        api.faults.fail("quota", times=1)
        direct = ws.state.direct(ADA)
        assert direct is not None
        async with bot(configured(ws, api, redis_url)):
            [told] = await ws.until(lambda: ws.messages(direct.id))
            assert "failed 3 times" in told["text"]
            assert len(Deployment(ws, api).terminals(GENERAL, root)) == 1
        assert await stores.schedules.of(ws.team_id, ADA) == []


async def test_what_is_cancelled_while_it_is_asked_stays_cancelled(
    ws: Workspace, stores: Stores
) -> None:
    made = schedule(ws, "1.0", cron=MONDAYS)
    await stores.schedules.add(made, most=99)
    [due] = await stores.schedules.due(ws.team_id, NOW)
    await stores.schedules.remove(ws.team_id, made.id)
    assert not await stores.schedules.move(due.model_copy(update={"next_at": int(NOW) + 60}))
    assert await stores.schedules.of(ws.team_id, ADA) == []


async def test_they_are_made_listed_and_cancelled_by_their_owner(stores: Stores) -> None:
    own = OwnSchedules(stores.schedules, lambda: NOW)
    with asked(time_zone="Europe/Berlin"):
        said = await schedule_prompt("Sales of last week?", own, cron=MONDAYS)
        # The clocks go forward on the 29th: nine o'clock stays nine o'clock.
        assert "next Mon 2026-03-30 09:00 Europe/Berlin" in said
        [made] = await own.all()
        assert made.id in await list_schedules(own)
        await cancel_schedule(made.id, own)
        none = await list_schedules(own)
        assert none.startswith("No question or reminder is scheduled")
        assert "list_scheduled_messages" in none  # what else "scheduled" may mean
        with pytest.raises(ToolError, match="no schedule"):
            await cancel_schedule(made.id, own)


SCHEDULES = [
    call("acquire_tools", {"names": ["schedule_prompt"]}),
    call("schedule_prompt", {"text": "See https://x.example/a", "at": None, "cron": MONDAYS}),
    finish(answer("It is scheduled.")),
]


async def test_who_schedules_for_oneself_in_ones_own_messages_needs_no_yes(redis_url: str) -> None:
    """U10, S4: nobody else reads them. The model worded the text, so no word or address in it counts as
    the asker's own when it is asked."""
    async with deployed(Script(SCHEDULES), redis_url) as bot, open_stores(redis_url) as stores:
        direct = bot.ws.state.direct(ADA)
        assert direct is not None
        thread = await bot.ask(ADA, direct.id, "every Monday at nine, look at it")
        [message] = await bot.answered(direct.id, thread)
        assert "It is scheduled." in str(message["blocks"])
        assert APPROVE not in str(bot.ws.messages(direct.id, thread))
        [made] = await stores.schedules.of(bot.ws.team_id, ADA)
        async with wired(bot.ws) as rig:
            again = DueSchedules(
                made.team,
                stores.schedules,
                stores.pause,
                rig.features,
                rig.slack,
                lambda: 9e9,
            )
            await again.submit_due()
            [request] = rig.requests
    assert (request.text, request.suggested) == (made.text, True)


@pytest.mark.parametrize(
    "case", ["in a channel", "all changes are asked about", "by itself", "hourly", "twice a day"]
)
async def test_what_others_read_or_nobody_is_there_for_needs_a_yes(
    redis_url: str, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A scheduled question may not schedule others while nobody is there; nobody pays for many without
    having agreed, whatever the model has read."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.2)
    moments = [datetime.now(UTC) + timedelta(hours=hours) for hours in (1, 24)]
    twice = [{"text": "How many?", "at": each.isoformat(), "where": "direct"} for each in moments]
    hourly = {"text": "Look again", "at": None, "cron": "0 * * * *"}
    replies = {
        "by itself": [finish(answer("Seven.")), *SCHEDULES],
        "hourly": [SCHEDULES[0], call("schedule_prompt", hourly)],
        "twice a day": [SCHEDULES[0], *(call("schedule_prompt", each) for each in twice)],
    }.get(case, SCHEDULES)
    policy = Policy(confirm="always" if case.startswith("all") else "sensitive")
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=Script(replies)) as api,
        open_stores(redis_url) as stores,
        bot(configured(ws, api, redis_url, access=policy)),
    ):
        deployment = Deployment(ws, api)
        direct = ws.state.direct(ADA)
        assert direct is not None
        channel = GENERAL if case in ("in a channel", "twice a day") else direct.id
        if case == "by itself":
            thread = await deployment.ask(ADA, channel, "Figures")
            await deployment.answered(channel, thread)
            await stores.schedules.add(schedule(ws, thread, channel=channel), most=99)
        else:
            thread = await deployment.ask(ADA, channel, "every Monday at nine")
        await ws.until(lambda: APPROVE in str(deployment.own(channel, thread)), 20)
        made = await stores.schedules.of(ws.team_id, ADA)
        assert [each.text for each in made] in ([], ["How many?"])


async def approved(bot: Deployment, thread: str) -> dict[str, Any]:
    """Approve the card in a thread, and return it as it was."""
    cards = [m for m in bot.own(GENERAL, thread) if APPROVE in str(m["blocks"])]
    [card] = cards or await bot.ws.until(
        lambda: [m for m in bot.own(GENERAL, thread) if APPROVE in str(m["blocks"])]
    )
    await bot.ws.click(ADA, GENERAL, card["ts"], APPROVE)
    return card


def scheduling(**arguments: Any) -> Script:
    """A model that schedules something which is due in a moment, or answers what is due."""
    soon = (datetime.now(UTC) + timedelta(seconds=1)).isoformat()
    asked_for = {"at": soon, "cron": None, "remind": False, "where": None} | arguments
    acquired = call("acquire_tools", {"names": ["schedule_prompt"]})
    done = finish(answer("It is scheduled."))
    return Script([acquired, call("schedule_prompt", asked_for), done, finish(answer("Seven."))])


def from_bot(bot: Deployment, channel: str) -> list[dict[str, Any]]:
    return [m for m in bot.ws.messages(channel) if m.get("user") == bot.ws.bot_user_id]


@pytest.mark.parametrize("where", [None, "thread", "channel"])
async def test_a_reminder_is_one_message_without_a_model(
    redis_url: str, where: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K11: in direct messages if nothing else is said, which needs nobody's approval. It calls its owner;
    nothing in it is a link or a mention."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.2)
    script = scheduling(text="Call <!channel> of https://x.example/a", remind=True, where=where)
    async with deployed(script, redis_url) as bot:
        thread = await bot.ask(ADA, GENERAL, "remind me to call them")
        if where:
            card = await approved(bot, thread)
            assert (
                f"Reminder in {'a channel' if where == 'channel' else 'this thread'} for"
                in card["text"]
            )
            assert where != "channel" or f"<#{GENERAL}>" in str(card["blocks"])
            assert "https://x.example/a" in str(card["blocks"])
        direct = bot.ws.state.direct(ADA)
        assert direct is not None

        def reminders() -> list[dict[str, Any]]:
            places = (from_bot(bot, direct.id), bot.own(GENERAL, thread), from_bot(bot, GENERAL))
            return [m for place in places for m in place if m["text"].startswith(":alarm_clock:")]

        [reminder] = await bot.ws.until(reminders)
        await bot.answered(GENERAL, thread)
        assert (reminder in from_bot(bot, direct.id)) is (where is None)
        assert (reminder in bot.own(GENERAL, thread)) is (where == "thread")
        assert (reminder in from_bot(bot, GENERAL)) is (where == "channel")
        assert links([reminder]) == set()
        assert f"<@{ADA}>" in reminder["text"]
        assert "<!channel>" not in reminder["text"]
        await asyncio.sleep(0.5)  # two more looks
        assert reminders() == [reminder]
        assert len(bot.api.requests) == 3


async def test_a_schedule_posts_its_answer_in_the_channel(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """K11: as one message that all see, approved once: the card says where, when and what. People go on
    below it."""
    monkeypatch.setattr(intake_schedules, "LOOK_SECONDS", 0.2)
    async with deployed(scheduling(text="How many?", where="channel"), redis_url) as bot:
        thread = await bot.ask(ADA, GENERAL, "tell us in the channel")
        card = await approved(bot, thread)
        assert "How many?" in str(card["blocks"])
        await bot.answered(GENERAL, thread)
        [message] = await bot.ws.until(
            lambda: [m for m in from_bot(bot, GENERAL) if is_terminal(m)]
        )
        assert "Seven." in str(message["blocks"])
        assert "Scheduled by" in str(message["blocks"][0])
        assert len(from_bot(bot, GENERAL)) == 1
        assert bot.own(GENERAL, message["ts"]) == [message]
        bot.api.brain = lambda _: finish(answer("Eight."))
        await bot.ws.say(ADA, GENERAL, "And now?", message["ts"])
        await bot.ws.until(lambda: "Eight." in str(bot.own(GENERAL, message["ts"])))


@pytest.mark.parametrize("remind", [False, True])
@pytest.mark.parametrize("who", ["bot", BEN])
async def test_one_for_a_channel_rests_while_its_owner_or_the_bot_is_not_there(
    ws: Workspace, stores: Stores, remind: bool, who: str
) -> None:
    """K11: nothing is posted, and its owner hears of it once; it goes on when they are back."""
    await stores.schedules.add(schedule(ws, "", BEN, cron=MONDAYS, remind=remind), most=99)
    gone, now = ws.bot_user_id if who == "bot" else who, iter(range(int(NOW), 9**11, 8 * 86_400))
    why = "Invite me" if who == "bot" else "You are not in that channel"
    await ws.remove(ADA, GENERAL, gone)
    before = len(ws.messages(GENERAL))
    for looks in (2, 1):
        async with wired(ws) as rig:
            look = DueSchedules(
                ws.team_id, stores.schedules, stores.pause, rig.features, rig.slack, now.__next__
            )
            for _ in range(looks):
                await look.submit_due()
            [told] = [m["text"] for m in ws.messages(rig.direct(BEN))]
            assert why in told
            assert "I try again <!date^" in told
        if looks == 2:
            assert len(ws.messages(GENERAL)) == before
            await ws.invite(ADA, GENERAL, gone)
            before = len(ws.messages(GENERAL))
    assert len(ws.messages(GENERAL)) == before + 1


async def test_a_private_reminder_is_told_of_in_private_alone(stores: Stores) -> None:
    """K11: also where its owner asks what is scheduled in a channel."""
    direct = OwnSchedules(stores.schedules, lambda: NOW, direct_channel=_direct)
    with asked():
        await schedule_prompt("See the lawyer", direct, cron=MONDAYS, remind=True)
        await schedule_prompt("Sales?", direct, cron=MONDAYS)
        listed = await list_schedules(direct)
        assert "Sales?" in listed
        assert "lawyer" not in listed
        assert "in a direct message only" in listed
    private = asked_in("?").model_copy(update={"private": True})
    with bound_request(RequestContext(private, "run_1")):
        assert "lawyer" in await list_schedules(direct)
        await schedule_prompt("Water the plants", direct, cron=MONDAYS, remind=True)
        with pytest.raises(ToolError, match="in private"):
            await schedule_prompt("Sales?", direct, cron=MONDAYS)


async def test_what_comes_within_a_day_of_another_is_one_too_many(stores: Stores) -> None:
    """K11: whichever of the two repeats. Reminders and what somebody approved for a thread count not."""
    direct = OwnSchedules(stores.schedules, lambda: NOW, direct_channel=_direct)
    friday, monday = datetime.fromtimestamp(NOW, UTC), datetime(2026, 4, 6, 20, tzinfo=UTC)
    with asked():
        await direct.add("Sales?", at=friday, cron="")
        await direct.add("Plants", at=friday, cron="", remind=True, where="direct")
        assert not await direct.is_crowded(at=friday, cron="")
        once = await direct.add("Sales?", at=monday, cron="", where="direct")
        crowded = [("", 20), ("", -20), (MONDAYS, 0), ("0 9 * * *", 0)]
        for cron, hours in [*crowded, ("", 24), ("", -24), ("0 9 * * WED", 0)]:
            at = None if cron else monday + timedelta(hours=hours)
            assert await direct.is_crowded(at=at, cron=cron) is ((cron, hours) in crowded)
        await direct.cancel(once.id)
        await direct.add("Sales?", at=None, cron=MONDAYS, where="direct")
        assert await direct.is_crowded(at=monday, cron="")
        assert not await direct.is_crowded(at=monday + timedelta(days=2), cron="")
        assert await direct.is_crowded(at=None, cron="0 9 * * WED")


async def _direct(_user: str) -> str:
    return "D1"


async def test_nobody_else_cancels_them(ws: Workspace, stores: Stores) -> None:
    theirs = schedule(ws, "1.0", BEN, team="T1")
    await stores.schedules.add(theirs, most=99)
    with asked(), pytest.raises(ToolError, match="no schedule"):
        await OwnSchedules(stores.schedules).cancel(theirs.id)


async def test_there_are_bounds(stores: Stores) -> None:
    own = OwnSchedules(stores.schedules, lambda: NOW)
    with asked():
        now = datetime.fromtimestamp(NOW, UTC)
        just_passed = await own.add("Call Ben", at=now - timedelta(minutes=2), cron="")
        assert just_passed.next_at < NOW  # approved a little late: it comes at once
        await own.cancel(just_passed.id)
        with pytest.raises(ToolError, match="has passed"):
            await own.add("Late?", at=now - timedelta(hours=1), cron="")
        with pytest.raises(ToolError, match="too far off"):
            await own.add("Late?", at=now + timedelta(days=400), cron="")
        with pytest.raises(ToolError, match="either at or cron"):
            await own.add("When?", at=None, cron="")
        more = [own.add("Again?", at=None, cron=MONDAYS) for _ in range(MOST + 2)]  # of many runs
        ended = await asyncio.gather(*more, return_exceptions=True)
        assert sum("cancel one first" in str(each) for each in ended) == 2
        assert len(await own.all()) == MOST


@pytest.mark.parametrize(
    ("cron", "why"),
    [
        ("soon", "no cron expression"),
        ("* * * * *", "every 15 minutes"),
        ("0,10 12 * * *", "every 15 minutes"),  # the next two times are a day apart
        ("0 0 30 2 *", "never comes|no cron"),
    ],
)
def test_expressions_that_cannot_be_used_are_refused(cron: str, why: str) -> None:
    with pytest.raises(ToolError, match=why):
        first_time(cron, "UTC", NOW)


def test_a_card_says_a_schedule_as_people_do() -> None:
    """What somebody approves is a time, not a cron expression; a wrong one is shown as it stands."""
    of = schedule_prompt.tool
    for when, said in (
        ({"cron": MONDAYS}, "Schedule in this thread, every Monday at 09:00 (UTC)"),
        ({"cron": "9h"}, "Schedule in this thread, 9h (UTC)"),
        ({"cron": MONDAYS, "where": "channel"}, "Schedule in C1, every Monday at 09:00 (UTC)"),
        (
            {"at": datetime.fromtimestamp(NOW, UTC), "remind": True},
            "Reminder in direct messages for Fri 27 Mar 2026 at 12:00 UTC",
        ),
    ):
        with asked():
            assert of.title(of.arguments(text="Sales?", **when)) == said
