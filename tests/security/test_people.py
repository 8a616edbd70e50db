"""Presses, forms and events by whom they are not for, or about what they are not for: no effect, and
whoever may decide still can (reliability 9, 10)."""

from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from bot.core.schedule import Schedule
from bot.dev.model import finish
from bot.dev.workspace import ADA, BEN, CHLOE, EVE, GUS
from bot.features.feedback.comment_form import COMMENT
from bot.features.feedback.slack_part import FEEDBACK
from bot.features.feedback.store import Ratings
from bot.features.memories.home import FORGET
from bot.features.memories.store import MemoryStore
from bot.features.schedules.home import CANCEL
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import Channels
from bot.settings import ChannelTable
from bot.slack.ui.buttons import APPROVE, APPROVE_THREAD, DENY, REGENERATE, SHOW_ALL
from bot.store import Stores
from bot.toolkit import Memory, MemoryScope
from tests.security.model import question, won_over
from tests.security.test_approving import POST, cards, posted
from tests.security.test_boundaries import press
from tests.security.test_forged import button, sent, view
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.support.slack import chosen
from tests.unit.slack.scene import button as shown

SALES, GENERAL, FINANCE, PARTNERS = "C0SALES001", "C0GENERAL1", "C0FINANCE1", "C0PARTNER1"
ADAS, BENS, CHLOES = "D0ADA00001", "D0BEN00001", "D0CHLOE001"
LONG = POST | {"text": "word " * 250 + "CANARY " * 20}


async def waits(bot: Deployment, user: str = ADA, post: dict[str, Any] = POST) -> dict[str, Any]:
    """Somebody's card, which waits for a decision."""
    thread = await bot.ask(user, SALES, question(("post_message", post), say=answer("Posted.")))
    [card] = await bot.ws.until(lambda: cards(bot, thread))
    await bot.ws.until(lambda: "Waiting" in str(bot.own(SALES, thread)))
    return card


def real(bot: Deployment, *given: Any) -> dict[str, Any]:
    """A press with a trigger that opens a modal."""
    return press(bot, *given) | {"trigger_id": bot.ws.new_trigger(given[0])}


async def ask_alone(bot: Deployment, root: str, text: str) -> None:
    """Ada asks about a message so that only she sees the answer."""
    await bot.ws.shortcut(ADA, "ask_about_message", channel=SALES, ts=root)
    form = bot.ws.views(ADA)[-1]
    block = next(b for b in form["blocks"] if b.get("block_id") == "where")
    me = next(o for o in block["element"]["options"] if o["value"] == "me")
    values = {"question": {"question": text}, "where": {"where": {"selected_option": me}}}
    await bot.ws.submit(ADA, form["id"], values)


async def test_a_card_is_decided_by_nobody_else_and_nowhere_else(redis_url: str) -> None:
    async with deployed(won_over, redis_url) as bot:
        card = await waits(bot)
        thread, approve = card["thread_ts"], shown(card, APPROVE)
        other = shown(await waits(bot, BEN, POST | {"text": "Other"}), APPROVE)
        await bot.ws.deactivate(ADA, CHLOE)
        for user in (BEN, CHLOE, GUS, EVE, "U0NOBODY01", bot.ws.bot_user_id):
            for action in (APPROVE, APPROVE_THREAD, DENY):
                for channel in (SALES, BENS):
                    forged = {**approve, "action_id": action}
                    await sent(bot, press(bot, user, channel, thread, forged))
        told = json.loads(approve["value"])
        for changed in (
            {"sha256": json.loads(other["value"])["sha256"]},
            {"sha256": ""},
            {"id": json.loads(other["value"])["id"]},
            {"id": told["id"] + ":x"},
            {"id": told["id"].partition(":")[0]},
        ):
            forged = {**approve, "value": json.dumps(told | changed)}
            await sent(bot, press(bot, ADA, SALES, thread, forged))
        for channel in (GENERAL, FINANCE, PARTNERS):
            await sent(bot, press(bot, ADA, channel, thread, approve))
        await asyncio.sleep(0.5)
        assert posted(bot) == []
        both = (bot.ws.click(ADA, SALES, card["ts"], APPROVE) for _ in range(2))
        await asyncio.gather(*both)
        await bot.answered(SALES, thread)
        await sent(bot, press(bot, ADA, SALES, thread, {**approve, "action_id": DENY}))
        await sent(bot, press(bot, ADA, SALES, thread, approve))
        await asyncio.sleep(0.3)
        assert len(posted(bot)) == 1


@pytest.mark.parametrize("private", [False, True])
async def test_what_a_card_leaves_out_is_shown_to_nobody_who_has_no_such_card(
    redis_url: str, private: bool
) -> None:
    async with deployed(won_over, redis_url) as bot:
        if private:
            root = (await bot.ws.say(BEN, SALES, "a message"))["ts"]
            await ask_alone(bot, root, question(("post_message", LONG), say=answer("Posted.")))
            [card] = await bot.ws.until(
                lambda: [m for m in bot.ws.messages(ADAS) if SHOW_ALL in str(m)]
            )
        else:
            card = await waits(bot, post=LONG)
        thread, whole = card.get("thread_ts") or card["ts"], shown(card, SHOW_ALL)
        places = {BEN: [BENS, GENERAL], GUS: [GENERAL, "D0GUS00001"], EVE: [PARTNERS, "D0EVE00001"]}
        if private:  # else the card stands in that thread
            places[BEN].append(SALES)
        for user, channels in places.items():
            for channel in channels:
                await sent(bot, real(bot, user, channel, thread, whole))
        await asyncio.sleep(0.3)
        assert [user for user in places if "CANARY" in str(bot.ws.views(user))] == []
        await sent(bot, real(bot, ADA, ADAS if private else SALES, thread, whole))
        await bot.ws.until(lambda: "CANARY" in str(bot.ws.views(ADA)))


CHANGES = {
    "tool": ChannelTable(tools=("find_people",)),
    "people": ChannelTable(people=(BEN,)),
}


@pytest.mark.parametrize("change", [*CHANGES, "guest", "deactivated"])
async def test_what_was_asked_for_by_who_may_not_any_more_is_not_done(
    redis_url: str, stores: Stores, change: str
) -> None:
    """Somebody else approves; the settings of the channel or the asker changed meanwhile."""
    async with deployed(won_over, redis_url, access=Policy(approvers=(BEN,))) as bot:
        card = await waits(bot)
        if change in CHANGES:
            await Channels({}, stores.channels).change(bot.ws.team_id, SALES, CHANGES[change])
            await asyncio.sleep(1.1)  # other processes look at settings once a second
        elif change == "guest":
            bot.ws.people[ADA].is_guest = True
        else:
            bot.ws.people[BEN].is_admin = True
            await bot.ws.deactivate(BEN, ADA)
        await bot.ws.click(BEN, SALES, card["ts"], APPROVE)
        await bot.answered(SALES, card["thread_ts"])
        assert posted(bot) == []


async def test_nobody_votes_who_may_not_ask_or_about_what_is_not_there(
    redis_url: str, stores: Stores
) -> None:
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        ts = await bot.ask(ADA, SALES, "How many?")
        [done] = await bot.answered(SALES, ts)
        run = done["metadata"]["event_payload"]["run"]
        value = f"good:{run}"
        vote = {"type": "feedback_buttons", "action_id": FEEDBACK, "value": value}
        bad = vote | {"value": value.replace("good", "bad")}
        await bot.ws.deactivate(ADA, CHLOE)
        for user in (GUS, EVE, CHLOE, "U0NOBODY01"):
            for each in (vote, bad):
                await sent(bot, real(bot, user, SALES, ts, each))
        theirs = {"run_id": run, "verdict": "bad", "user": BEN}
        for where in (
            {"team": "T0OTHER001", "channel": SALES},
            {"team": bot.ws.team_id, "channel": SALES, "user": ADA},
        ):
            form = view(callback_id=COMMENT, private_metadata=json.dumps(theirs | where))
            form["state"] = {"values": {"question": {"question": {"value": "It is wrong."}}}}
            submitted = real(bot, BEN, SALES, ts, {}) | {"type": "view_submission", "view": form}
            await sent(bot, submitted)
        assert await Ratings.of(stores).latest(99) == []
        await sent(bot, real(bot, ADA, SALES, ts, vote))
        assert len(await Ratings.of(stores).latest(99)) == 1


async def test_nobody_forgets_or_cancels_what_is_anothers(redis_url: str, stores: Stores) -> None:
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        team = bot.ws.team_id
        holder = f"{team}:{ADA}"
        memory = Memory(scope=MemoryScope.USER, text="I pay on Fridays.", by=ADA)
        await MemoryStore.of(stores).add(holder, memory, most=9)
        later = Schedule(
            team=team, channel=SALES, thread="1.5", user=ADA, text="?", next_at=9_999_999_999
        )
        await stores.schedules.add(later, most=9)
        for user in (BEN, GUS, EVE, "U0NOBODY01"):
            for action, value in ((FORGET, memory.id), (CANCEL, later.id), (CANCEL, "*")):
                await sent(bot, press(bot, user, SALES, "1.5", button(action, value)))
        assert len(await MemoryStore.of(stores).all(MemoryScope.USER, holder)) == 1
        assert len(await stores.schedules.of(team, ADA)) == 1
        for action, value in ((FORGET, memory.id), (CANCEL, later.id)):
            await sent(bot, press(bot, ADA, SALES, "1.5", button(action, value)))
        assert await MemoryStore.of(stores).all(MemoryScope.USER, holder) == []
        assert await stores.schedules.of(team, ADA) == []


async def test_forms_and_follow_ups_about_places_of_others(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """A form or a button names a channel, a thread or a person; code looks at who sends it."""
    async with deployed(lambda _: finish(answer("Two.")), redis_url) as bot:
        bot.ws.channels[FINANCE].members[:] = [BEN, bot.ws.bot_user_id]
        secret = (await bot.ws.say(BEN, FINANCE, "CANARY"))["ts"]
        for where in ("thread", "me"):
            for channel, thread in (
                (FINANCE, secret),
                (BENS, secret),
                (SALES, secret),
                (SALES, "1.5"),
                (SALES, "1.5:x"),
                ("", ""),
                ("workflow", "1.5"),
            ):
                about: dict[str, Any] = {
                    "channel": channel,
                    "thread": thread,
                    "quoted": "",
                    "files": [],
                }
                form = view(id=f"V{where}{channel}{thread}", private_metadata=json.dumps(about))
                form["state"]["values"]["where"]["where"]["selected_option"]["value"] = where
                payload = real(bot, CHLOE, SALES, "1.5", {}) | {"type": "view_submission"}
                await sent(bot, payload | {"view": form})
        for private in (False, True):
            for thread in (secret, "1.5", "1.5:x", f"{secret}:{FINANCE}"):
                value = json.dumps({"question": "x?", "thread": thread, "private": private})
                for user, channel in (
                    (CHLOE, SALES),
                    (CHLOE, FINANCE),
                    (EVE, SALES),
                    (CHLOE, BENS),
                ):
                    forged = press(bot, user, channel, "1.6", button("follow_up_0", value))
                    await sent(bot, forged)
        await asyncio.sleep(1)
        places = {
            e.args["channel"]
            for e in bot.ws.effects
            if e.ok and e.method in ("chat.postMessage", "chat.startStream")
        }
        assert places <= {CHLOES}  # where she may ask, and alone reads the answer
        assert "CANARY" not in str([each.body for each in bot.api.requests])
        assert "a listener failed" not in caplog.text


async def test_one_press_of_many_counts(redis_url: str) -> None:
    """Two people at once, each delivered twice, and once more when it is long over."""
    async with deployed(lambda _: finish(answer("There are 2.")), redis_url) as bot:
        ts = await bot.ask(ADA, SALES, "How many?")
        [done] = await bot.answered(SALES, ts)
        again = chosen(done, REGENERATE)
        presses = [press(bot, user, SALES, ts, again) for user in (ADA, BEN, EVE, GUS)]
        await asyncio.gather(*[sent(bot, each) for each in presses * 2])
        await bot.answered(SALES, ts, 1)
        await bot.ws.until(lambda: len(bot.api.requests) == 2)
        await asyncio.gather(*[sent(bot, each) for each in presses])
        await asyncio.sleep(0.5)
        assert len(bot.api.requests) == 2
