"""Rules as people see them: made in the Home tab or by asking, looked at, approved, changed and removed."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import product
from typing import Any

import pytest

from bot.dev.model import ModelRequest, Reply, Script, call, finish
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.dev.workspace.events import interactivity
from bot.dev.workspace.store.seed import ALERTS, add_alerts
from bot.dev.workspace.store.state import BOT_USER
from bot.features.home.view import CHANNEL
from bot.features.triggers import words
from bot.features.triggers.forms import (
    APPROVE,
    ASK,
    CHANGE,
    DECLINE,
    LOOK,
    PAUSE,
    REMOVE,
    RESUME,
    RuleTarget,
    done,
    rule_form,
    rule_view,
)
from bot.features.triggers.judging import DryRun, Judged, Posted
from bot.features.triggers.looking import found_blocks
from bot.features.triggers.pages import card
from bot.features.triggers.rules import Outcome, Rest, Rule, RuleState
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.slack_part import NEW, OPEN
from bot.features.triggers.store import RuleStore, Used
from bot.settings import ChannelTable
from bot.slack.edge.client import Identity
from bot.slack.ui.buttons import APPROVE as DECIDE
from bot.store import open_stores
from bot.text.translation import languages, reader
from tests.support.deployment import Deployment, deployed
from tests.support.runs import answer
from tests.unit.slack.judge import accept_blocks, accept_view
from tests.unit.slack.test_home import home

IDENTITY = Identity("T1", None, "U9", "B9", "Bot", "https://x.slack.com/")
GENERAL, FINANCE = "C0GENERAL1", "C0FINANCE1"
RUNBOOK = "Look up the runbook and answer."


def brain(request: ModelRequest) -> Reply:
    """Says yes to the question of a rule where it is about billing."""
    if "decide" in str(request.body.get("tools")):
        said = str([item.get("content") for item in request.items]).partition("The message")[2]
        return call("decide", {"yes": "billing" in said})
    return finish(answer("Done."))


def filled(**fields: Any) -> dict[str, Any]:
    """What somebody fills into the form."""
    return {name: {name: value} for name, value in fields.items()}


def top(bot: Deployment, user: str) -> dict[str, Any]:
    """The modal that somebody has open."""
    return bot.ws.views(user)[-1]


async def shows(bot: Deployment, user: str, text: str) -> dict[str, Any]:
    """The modal that somebody has open, once it has a text."""
    await bot.ws.until(lambda: bot.ws.views(user) and text in str(top(bot, user)))
    return top(bot, user)


async def opened(
    bot: Deployment, user: str, action: str, value: str | None = None
) -> dict[str, Any]:
    """The modal that somebody opens with a button or menu of their Home tab."""
    for view in reversed(bot.ws.views(user)):
        await bot.ws.close_view(user, view["id"])
    view = await home(bot, user, action)
    await bot.ws.click_in_view(user, view["id"], action, value=value)
    await bot.ws.until(lambda: bot.ws.views(user))
    return top(bot, user)


async def press(bot: Deployment, user: str, action: str) -> None:
    await bot.ws.click_in_view(user, top(bot, user)["id"], action)


async def forged(bot: Deployment, user: str, action: str, value: str) -> None:
    """A press in somebody's own Home tab of a button that they were never shown."""
    await bot.ws.open_home(user)
    view = await bot.ws.until(lambda: bot.ws.home(user))
    assert view
    element = {"type": "button", "action_id": action, "value": value}
    payload = interactivity.view_click(bot.ws, user, view, "forged", element, None)
    await bot.ws.delivery.ask("interactive", payload)


async def made(bot: Deployment, user: str, **fields: Any) -> dict[str, Any]:
    """A new rule of somebody, as its modal shows it."""
    form = await opened(bot, user, NEW)
    given = filled(channel=GENERAL, instruction=RUNBOOK) | filled(**fields)
    await bot.ws.submit(user, form["id"], given)
    return await shows(bot, user, "It is not on yet")


async def test_an_admin_sees_what_a_rule_would_have_answered_before_switching_it_on(
    redis_url: str,
) -> None:
    """K14: with a link to each, and by which test. The form of the channel then lists it."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        for text in ("An error in billing", "Lunch?", "One more ERROR: disk full", "terrors"):
            await bot.ws.say(BEN, GENERAL, text)
        view = await made(bot, ADA, words="error, outage")
        assert "“error” or “outage”" in str(view)
        await press(bot, ADA, LOOK)
        view = await shows(bot, ADA, "It would have answered 2 of the last 4 messages")
        assert "An error in billing" in str(view)
        assert "Lunch" not in str(view)
        await press(bot, ADA, APPROVE)
        await shows(bot, ADA, "It is on")
        [rule] = await RuleStore(stores).in_team(bot.ws.team_id)
        assert rule.state is RuleState.ON
        assert rule.words == ("error", "outage")
        form = await opened(bot, ADA, CHANNEL, GENERAL)
        assert "Rules in this channel" in str(form)
        assert RUNBOOK in str(form)
        assert await bot.ws.submit(ADA, form["id"], filled(rules="off")) == {}
        settings = await stores.channels.load(f"{bot.ws.team_id}:{GENERAL}", ChannelTable)
        assert settings
        assert settings.rules == "off"


async def test_a_look_asks_the_small_model_from_the_budget_of_the_rule(redis_url: str) -> None:
    """It says before what that may cost, and then what it did; what is not paid for is not asked."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        for text in ("An error in billing", "An error in sales"):
            await bot.ws.say(BEN, GENERAL, text)
        view = await made(bot, BEN, question="Is this about money?", daily_dollars="0.01")
        assert "for at most $0.0100" in str(view)
        await press(bot, BEN, LOOK)
        view = await shows(bot, BEN, "It would have answered 1 of the last 2 messages")
        assert "An error in billing" in str(view)
        assert "the model says yes" in str(view)
        assert "Looking at them cost $" in str(view)
        store = RuleStore(stores)
        [rule] = await store.in_team(bot.ws.team_id)
        assert (await store.used(rule)).questions == 2
        await store.add_cost(rule, datetime.now(UTC), 1.0)
        await press(bot, BEN, LOOK)
        view = await shows(bot, BEN, "I did not ask the model about 2 messages")
        assert (await store.used(rule)).questions == 2


async def test_a_rule_of_somebody_else_waits_for_an_admin_and_is_theirs_to_change(
    redis_url: str,
) -> None:
    """K14: its card has the whole rule; a change waits again; nobody else opens, approves or removes it."""
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        rules = RuleStore(stores)

        async def stored() -> Rule:
            [rule] = await rules.in_team(bot.ws.team_id)
            return rule

        await made(bot, BEN, words="error")
        await press(bot, BEN, ASK)
        await shows(bot, BEN, "I asked")
        direct = bot.ws.state.direct(ADA)
        assert direct

        def cards() -> list[dict[str, Any]]:
            return [m for m in bot.ws.messages(direct.id) if APPROVE in str(m.get("blocks"))]

        [asking] = await bot.ws.until(cards)
        for said in (RUNBOOK, "“error”", f"<#{GENERAL}>", f"<@{BEN}>", "10 answers an hour"):
            assert said in str(asking["blocks"])
        # Pressing what only others are shown does nothing.
        value = RuleTarget.value(await stored())
        for user, action in ((BEN, APPROVE), (CHLOE, APPROVE), (CHLOE, REMOVE), (CHLOE, OPEN)):
            await forged(bot, user, action, value)
        assert (await stored()).state is RuleState.WAITING
        await bot.ws.click(ADA, direct.id, asking["ts"], APPROVE)
        await bot.ws.until(lambda: not cards())
        assert f"<@{ADA}> approved this rule" in str(bot.ws.messages(direct.id))
        told = bot.ws.state.direct(BEN)
        assert told
        await bot.ws.until(lambda: "approved your rule" in str(bot.ws.messages(told.id)))
        assert (await stored()).state is RuleState.ON
        # Its owner changes it, and it waits again.
        await opened(bot, BEN, OPEN)
        await press(bot, BEN, CHANGE)
        form = await shows(bot, BEN, "callback_id")
        assert "owner" not in {block["block_id"] for block in form["blocks"]}
        await bot.ws.submit(BEN, form["id"], filled(words="error, outage"))
        await shows(bot, BEN, "It is not on yet")
        assert (await stored()).state is RuleState.WAITING
        # A card that shows an earlier form of it approves nothing.
        await forged(bot, ADA, APPROVE, value)
        assert (await stored()).state is RuleState.WAITING
        # An admin switches it on, pauses it, gives it to herself, and removes it.
        await opened(bot, ADA, OPEN)
        await press(bot, ADA, APPROVE)
        await shows(bot, ADA, "It is on")
        await opened(bot, ADA, OPEN)
        await press(bot, ADA, PAUSE)
        await shows(bot, ADA, RESUME)
        assert (await stored()).state is RuleState.PAUSED
        await forged(bot, BEN, RESUME, RuleTarget.value(await stored()))
        assert RESUME not in str(await opened(bot, BEN, OPEN))
        assert (await stored()).state is RuleState.PAUSED
        await press(bot, ADA, RESUME)
        await shows(bot, ADA, PAUSE)
        await press(bot, ADA, CHANGE)
        form = await shows(bot, ADA, "callback_id")
        await bot.ws.submit(ADA, form["id"], filled(owner=[CHLOE]))
        await shows(bot, ADA, f"<@{CHLOE}>")
        assert (await stored()).owner == CHLOE
        await press(bot, ADA, REMOVE)
        await shows(bot, ADA, "is removed")
        assert await rules.in_team(bot.ws.team_id) == []


async def test_whom_the_settings_of_a_channel_name_decides_there(redis_url: str) -> None:
    """They alone get the card, once, with the whole rule however long it is; Home lists what waits."""
    channels = {GENERAL: ChannelTable(rule_approvers=(CHLOE,))}
    long = f"{'Look it up. ' * 200}THE END"
    async with (
        deployed(brain, redis_url, channels=channels) as bot,
        open_stores(redis_url) as stores,
    ):
        await made(bot, BEN, instruction=long, words=", ".join(f"word {n}" for n in range(20)))
        for said in ("I asked", "I have asked already"):
            await press(bot, BEN, ASK)
            await shows(bot, BEN, said)
            await opened(bot, BEN, OPEN)
        direct, admin = bot.ws.state.direct(CHLOE), bot.ws.state.direct(ADA)
        assert direct
        assert admin
        [asking] = [m for m in bot.ws.messages(direct.id) if DECLINE in str(m.get("blocks"))]
        assert "THE END" in str(asking["blocks"])
        assert "word 19" in str(asking["blocks"])
        assert DECLINE not in str(bot.ws.messages(admin.id))
        await home(bot, CHLOE, "attendent votre approbation")
        await bot.ws.click(CHLOE, direct.id, asking["ts"], DECLINE)
        told = bot.ws.state.direct(BEN)
        assert told
        await bot.ws.until(lambda: "declined your rule" in str(bot.ws.messages(told.id)))
        assert await RuleStore(stores).in_team(bot.ws.team_id) == []


def proposing(**arguments: Any) -> Script:
    """A model that proposes a rule."""
    given = {"instruction": RUNBOOK, "words": ["error"], "question": None, "people": None}
    proposed = call("propose_rule", given | {"apps": None} | arguments)
    return Script([proposed, finish(answer("It is proposed."))])


@pytest.mark.parametrize("user", [ADA, BEN])
async def test_whoever_asks_for_a_rule_approves_exactly_that(redis_url: str, user: str) -> None:
    """The card says it in plain words. That of an admin is on then; that of others waits for one."""
    brain = proposing(people=[CHLOE], apps=["alerts"])
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        add_alerts(bot.ws.state)
        bot.ws.channels[GENERAL].members.append(ALERTS)
        await bot.ws.say(ALERTS, GENERAL, "An error in billing")
        asked = "When somebody posts an error here, look up the runbook and answer"
        thread = await bot.ask(user, GENERAL, asked)

        def cards() -> list[dict[str, Any]]:
            return [m for m in bot.own(GENERAL, thread) if DECIDE in str(m.get("blocks"))]

        [asking] = await bot.ws.until(cards)
        title = "When Chloe Martin or the app Alerts posts “error” here: Look up the"
        assert title in str(asking["blocks"])
        for named in (f"Chloe Martin ({CHLOE})", "Alerts (A0ALERTS01)", RUNBOOK):
            assert named in str(asking["blocks"])
        await bot.ws.click(user, GENERAL, asking["ts"], DECIDE)
        await bot.answered(GENERAL, thread)
        [rule] = await RuleStore(stores).in_team(bot.ws.team_id)
        facts = (rule.owner, rule.people, rule.apps, rule.anyone)
        assert facts == (user, (CHLOE,), ("A0ALERTS01",), False)
        direct = bot.ws.state.direct(ADA)
        assert direct
        is_asked = APPROVE in str(bot.ws.messages(direct.id))
        assert (rule.state, is_asked) == (
            (RuleState.ON, False) if user == ADA else (RuleState.WAITING, True)
        )


async def test_people_list_and_remove_their_own_rules_by_asking(redis_url: str) -> None:
    rule = Rule(team="T0LOCAL001", channel=GENERAL, owner=BEN, anyone=True, instruction=RUNBOOK)
    others = rule.model_copy(update={"id": "rule_other", "owner": CHLOE, "instruction": "Theirs."})
    removal = call("remove_rule", {"id": rule.id}), call("remove_rule", {"id": others.id})
    listed = [call("list_rules", {}), *removal, finish(answer("Removed."))]
    brain = Script([call("acquire_tools", {"names": ["list_rules", "remove_rule"]}), *listed])
    async with deployed(brain, redis_url) as bot, open_stores(redis_url) as stores:
        store = RuleStore(stores)
        for each in (rule, others):
            await store.add(each.model_copy(update={"team": bot.ws.team_id}), most=9)
        thread = await bot.ask(BEN, GENERAL, "Which rules do I have?")
        await bot.answered(GENERAL, thread)
        sent = str([request.body["input"] for request in bot.api.requests])
        assert RUNBOOK in sent
        assert "Theirs." not in sent
        assert [left.id for left in await store.in_team(bot.ws.team_id)] == [others.id]


async def test_a_form_says_what_a_rule_cannot_have(redis_url: str) -> None:
    async with deployed(brain, redis_url) as bot:
        add_alerts(bot.ws.state)
        bot.ws.channels[GENERAL].members.append(ALERTS)
        await bot.ws.say(ALERTS, GENERAL, "An error in billing")
        bot.ws.channels[FINANCE].members[:] = [ADA, BOT_USER, ALERTS]
        await bot.ws.say(ALERTS, FINANCE, "Which apps post here is nobody else's business")
        form = await opened(bot, BEN, NEW)
        given = filled(channel=GENERAL, instruction=RUNBOOK, who="anybody", people=[])
        given |= filled(apps="", pattern="")
        for fields, name, said in (
            ({"who": "these"}, "who", "Choose people"),
            ({"people": [CHLOE]}, "who", "Only these people"),
            ({"apps": "Pager"}, "apps", "These apps have: Alerts."),
            ({"who": "these", "people": [ALERTS]}, "people", "field below"),
            ({"pattern": "(unclosed"}, "pattern", "no regular expression"),
            ({"channel": "C0RANDOM01"}, "channel", "invite me"),
            ({"channel": FINANCE, "apps": "Pager"}, "channel", "needs to be in its channel"),
        ):
            reply = await bot.ws.submit(BEN, form["id"], given | filled(**fields))
            assert said in reply["errors"].get(name, ""), reply["errors"]
        await bot.ws.submit(BEN, form["id"], given | filled(who="apps", apps="alerts"))
        view = await shows(bot, BEN, "It is not on yet")
        assert "When the app Alerts posts something" in str(view)


@pytest.mark.parametrize("locale", ["en-US", *map("{0}-{0}".format, sorted(languages()))])
def test_everything_that_is_shown_of_a_rule_fits_into_slack(locale: str) -> None:
    """As long as it can be, and as short; Home has no more blocks than Slack takes."""
    short = Rule(team="T1", channel="C1", owner="U1", anyone=True, instruction="x")
    long = Rule(
        team="T1",
        channel="C1",
        owner="U1",
        people=[f"U{number:09}" for number in range(50)],
        apps=[f"A{number:09}" for number in range(50)],
        words=[f"{number:02}{'w`<@U1>' * 11}" for number in range(50)],
        pattern="(x|y)" * 100,
        question="<&> x.example " * 35,
        instruction="<!channel> `x` https://x.example " * 90,
        replies=True,
        again=True,
    )
    used, names = Used(10**6, 10**6, 10.0**6, 10**6), dict.fromkeys(long.apps, "*A*" * 99)
    with reader(locale):
        states: list[tuple[RuleState, Rest | None]] = [(state, None) for state in RuleState]
        states += [(RuleState.PAUSED, why) for why in Rest]
        for rule, (state, why), may in product((short, long), states, (True, False)):
            stored = rule.model_copy(update={"state": state, "rest": why})
            accept_view(rule_view(stored, apps=names, used=used, may_approve=may), "modal")
        for of_form in (short, long, None):
            accept_view(rule_form(of_form, TriggerSettings(), names, with_owner=True), "modal")
        for rule in (short, long):
            accept_blocks(card(rule, names))
            accept_blocks(card(rule, names, "x" * 3_000))
            posted = Posted("C1", "1.0", "1.0", "U1", "", "<https://x|y> " * 999)
            for count in (0, 1, 50):
                judged = [Judged(posted, Outcome.RUN)] * count
                run = DryRun(judged, asked=True)
                accept_blocks(found_blocks(rule, run, IDENTITY, cost=0.01, unasked=1))
        accept_blocks(
            found_blocks(short, DryRun([Judged(posted, Outcome.REPLY)], False), IDENTITY, 0)
        )
        accept_view(done(words.IS_REMOVED()), "modal")
