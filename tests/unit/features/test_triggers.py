"""A rule watches a channel: it answers the messages that it is for, and says nothing otherwise."""

from __future__ import annotations

import asyncio
import resource
from collections.abc import AsyncGenerator, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from bot.app.channel_policy import channel_policy
from bot.cli.operator import erase_lines
from bot.core.budgets import Cap
from bot.core.errors import ConfigurationError, NotPermitted
from bot.dev.model import ApiError, ModelRequest, Reply, call, finish
from bot.dev.workspace import ADA, BEN, CHLOE, GUS
from bot.dev.workspace.errors import CannotDo
from bot.features.triggers import following
from bot.features.triggers.judging import Posted, cheap_outcomes
from bot.features.triggers.pages import apps_in, ids_of
from bot.features.triggers.rules import Outcome, Rest, Rule, RuleState
from bot.features.triggers.service import RuleService
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.store import RuleStore
from bot.runs.policy.budgets import Budgets
from bot.runs.queue.engine import EngineOptions
from bot.settings import ChannelTable, Settings
from bot.settings.checks import check_prices, unpriced_models
from bot.slack.edge.client import clients_on, identify, slack_session, static_token
from bot.slack.edge.workspaces import Slack
from bot.slack.ui.buttons import REGENERATE
from bot.store import Stores, open_stores
from tests.security.model import question, won_over
from tests.support.deployment import Deployment, configured, deployed
from tests.support.runs import answer
from tests.support.slack import choose
from tests.triggers import brain as scripted_brain
from tests.triggers import play, script, settings

PLACE, SALES = "C0GENERAL1", "C0SALES001"
OTHER, STRANGER = "A0PAGER001", "A0UNKNOWN1"
ASK = "Look up the runbook, and say what to do first."
NOTHING = {**answer(""), "nothing_to_say": True}
POST = ("post_message", {"channel": "sales", "text": "CANARY", "thread": None})


def says(text: str) -> Reply:
    return finish({**answer(text), "nothing_to_say": False})


def is_question(request: ModelRequest) -> bool:
    return any(tool.get("name") == "decide" for tool in request.body.get("tools", ()))


def brain(request: ModelRequest) -> Reply | ApiError:
    """Answers whether a message is about an outage, obeys hostile ones, and answers the others."""
    said = str([item.get("content") for item in request.items if item.get("role") == "user"])
    if is_question(request):
        return call("decide", {"yes": "outage" in said.partition("The message")[2]})
    if '"do"' in said:
        return won_over(request)
    if "quiet" in said:
        return finish(NOTHING)
    if "broken" in said:
        return ApiError(400, "broken")
    return says("Restart queue 7 first.")


@dataclass
class Watched:
    """A bot, and what people do to its rules."""

    bot: Deployment
    stores: Stores
    rules: RuleService

    async def rule(self, *, owner: str = ADA, **fields: Any) -> Rule:
        """A rule that somebody proposed, and an admin approved."""
        whom = {} if {"people", "apps"} & fields.keys() else {"anyone": True}
        new = Rule(team="", channel=PLACE, owner=owner, instruction=ASK, **{**whom, **fields})
        proposed = await self.rules.propose(owner, new)
        return await self.rules.approve(ADA, proposed.id, proposed.revision)

    async def say(self, text: str, user: str = BEN, channel: str = PLACE, **more: Any) -> str:
        return str((await self.bot.ws.say(user, channel, text, **more))["ts"])

    async def quiet(self) -> None:
        """Wait until Slack has no event left, and no request waits or runs."""
        await self.bot.ws.until(lambda: not self.bot.ws.delivery.under_way, 30)
        async with asyncio.timeout(30):
            while await self.stores.mailbox.threads():  # noqa: ASYNC110 - Redis tells nobody
                await asyncio.sleep(0.02)

    def answers(self, ts: str) -> list[dict[str, Any]]:
        return self.bot.own(PLACE, ts)


@asynccontextmanager
async def watched(
    redis_url: str, think: Callable[[ModelRequest], Any] = brain, **more: Any
) -> AsyncGenerator[Watched]:
    async with deployed(think, redis_url, **more) as bot, open_stores(redis_url) as stores:
        config = configured(bot.ws, bot.api, redis_url, **more)
        async with slack_session() as session:
            clients = clients_on(
                session, static_token(bot.ws.bot_token), base_url=config.slack_api_url
            )
            slack = Slack.with_clients(clients, await identify(clients.reads))
            service = RuleService.of(
                config.triggers, config.access, channel_policy(config, stores), stores, slack
            )
            yield Watched(bot, stores, service)


async def test_a_rule_answers_once_in_the_thread(redis_url: str) -> None:
    """(39.1) By a word, in the name of the owner, with nothing before the answer; and once."""
    async with watched(redis_url) as w:
        rule = await w.rule(words=("error",))
        hit = await w.say("Error 500 in checkout")
        miss = await w.say("All is well")
        [posted] = await w.bot.answered(PLACE, hit)
        await w.quiet()
        assert "Restart queue 7 first." in str(posted["blocks"])
        assert "By a rule of Ada" in str(posted["blocks"])
        assert (len(w.answers(hit)), w.answers(miss)) == (1, [])
        sent = str(w.bot.api.requests[0].body["input"])
        assert ASK in sent
        assert "wrote:" in sent
        # Slack brings the event again, and an edit changes nothing.
        event = next(m for m in w.bot.ws.messages(PLACE) if m["ts"] == hit)
        w.bot.ws.emit(
            {**event, "channel": PLACE, "channel_type": "channel"}, w.bot.ws.channels[PLACE]
        )
        await w.bot.ws.edit(BEN, PLACE, hit, "Error 501 in checkout")
        await w.quiet()
        assert len(w.answers(hit)) == 1
        assert len(w.bot.api.requests) == 1
        assert {*written(w, 0)} == {"chat.postMessage"}, "no status, no stream"
        used = await w.rules.store.used(rule)
        assert (used.hour, used.day) == (1, 1)


async def test_silence_is_the_default_and_failures_stop_the_rule(redis_url: str) -> None:
    """(39.1) A run with nothing to say, or that fails, shows nothing in the channel, not even that it
    works; an outcome and an audit entry tell of it. After three failures the rule rests, and its owner
    is told once."""
    async with watched(redis_url) as w:
        rule = await w.rule()
        before = len(w.bot.ws.effects)
        roots = [await w.say(text) for text in ("quiet please", "broken 1", "broken 2")]
        await w.quiet()
        assert [w.answers(ts) for ts in roots] == [[], [], []]
        assert written(w, before) == []
        ended = [e.entry for e in await audited(w) if e.entry.kind == "ended"]
        assert [entry.ok for entry in ended] == [True, False, False]
        assert all(entry.cost is not None for entry in ended)
        await w.say("quiet again")  # a success: failures count in a row
        await w.quiet()
        for number in range(3):
            await w.say(f"broken {number}")
            await w.quiet()
        now = await w.rules.store.get(rule.team, PLACE, rule.id)
        assert now is not None
        assert (now.state, now.rest, now.failures) == (RuleState.PAUSED, Rest.FAILED, 3)
        assert now.revision == rule.revision, "nobody has changed it under an open form"
        [told] = [e.args for e in w.bot.ws.effects if e.method == "chat.postMessage"]
        assert told["channel"] == "D0ADA00001"
        assert "failed 3 times" in told["text"]
        calls = len(w.bot.api.requests)
        await w.say("anybody?")
        await w.quiet()
        assert len(w.bot.api.requests) == calls
        # Nothing waits, and nothing is left to restore or sweep.
        assert not await w.stores.mailbox.threads()


async def test_a_question_to_a_small_model_comes_before_the_run(redis_url: str) -> None:
    """(39.1) It is asked only of what code lets through, counts to the rule's budget and not as a run,
    and is not asked again when the message comes again."""
    triggers = TriggerSettings(model="gpt-5.4-nano", questions_per_day=3)
    async with watched(redis_url, triggers=triggers) as w:
        rule = await w.rule(question="Is this about an outage?", words=("checkout",))
        yes = await w.say("checkout: outage in Frankfurt")
        no = await w.say("checkout is lovely today")
        await w.say("lunch?")
        await w.bot.answered(PLACE, yes)
        await w.quiet()
        again = next(m for m in w.bot.ws.messages(PLACE) if m["ts"] == no)
        place = {"channel": PLACE, "channel_type": "channel"}
        w.bot.ws.emit({**again, **place, "client_msg_id": "again"}, w.bot.ws.channels[PLACE])
        await w.quiet()
        asked = [request.body["model"] for request in w.bot.api.requests]
        assert asked.count("gpt-5.4-nano") == 2
        assert len(asked) == 3
        assert w.answers(no) == []
        used = await w.rules.store.used(rule)
        assert (used.day, used.questions) == (1, 2)
        assert used.dollars > 0
        asked_of = [e.entry for e in await audited(w) if e.entry.what == f"question of {rule.id}"]
        assert sorted(entry.ok for entry in asked_of) == [False, True]
        # The third question of the day is the last.
        for number in range(3):
            await w.say(f"checkout: outage {number}")
        await w.quiet()
        assert (await w.rules.store.used(rule)).questions == 3


async def test_an_outage_uses_up_no_questions(redis_url: str) -> None:
    """(39.1) However often the small model is asked of a message, that is one question of the day."""
    refusals = [ApiError(503, "overloaded", headers={"retry-after-ms": "1"})] * 3

    def away_at_first(request: ModelRequest) -> Reply | ApiError:
        return refusals.pop() if is_question(request) and refusals else brain(request)

    triggers = TriggerSettings(questions_per_day=1)
    async with watched(redis_url, away_at_first, triggers=triggers) as w:
        rule = await w.rule(question="Is this about an outage?")
        posted = await w.say("An outage")
        await w.bot.answered(PLACE, posted)
        assert (await w.rules.store.used(rule)).questions == 1


async def test_a_deleted_message_is_not_answered(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(39.1) Whether its run is under way or waits, and whoever posted it."""
    monkeypatch.setattr(following, "_WAIT_SECONDS", 0.05)
    gate = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply | ApiError:
        await gate.wait()
        return brain(request)

    async with watched(redis_url, slow) as w:
        rule = await w.rule(daily_dollars=1.0, anyone=True, apps=(OTHER,))
        posted = [await w.say("error one")]
        await w.bot.ws.until(lambda: w.bot.api.requests)
        by = {"bot_id": "B0PAGER001", "app_id": OTHER}
        posted += [await w.say("error two"), await w.say("error three", **by)]
        await w.bot.ws.until(lambda: not w.bot.ws.delivery.under_way)
        for ts in posted:
            await w.bot.ws.delete(ADA, PLACE, ts)
        await w.bot.ws.until(lambda: not w.bot.ws.delivery.under_way)
        gate.set()
        await w.quiet()
        assert [w.answers(ts) for ts in posted] == [[], [], []]
        used = await w.rules.store.used(rule)
        assert (used.day, used.reserved) == (1, 0)


async def test_a_changed_rule_answers_nothing_that_waited_before(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(39.1) Its words may be others now, and the instruction of what waits is the former one."""
    monkeypatch.setattr(following, "_WAIT_SECONDS", 0.05)
    gate = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply | ApiError:
        await gate.wait()
        return brain(request)

    async with watched(redis_url, slow) as w:
        rule = await w.rule(daily_dollars=1.0)
        posted = [await w.say("error one")]
        await w.bot.ws.until(lambda: w.bot.api.requests)
        posted += [await w.say("lunch?")]
        await w.bot.ws.until(lambda: not w.bot.ws.delivery.under_way)
        await w.rules.change(ADA, rule.id, rule.revision, {"words": ("error",)})
        gate.set()
        await w.quiet()
        assert [len(w.answers(ts)) for ts in posted] == [1, 0]


async def test_a_watched_message_has_no_rights(redis_url: str) -> None:
    """(attack) It orders a post elsewhere: the owner is asked, alone and each time, and whoever wrote
    it can neither decide nor be answered as if they had asked. When the rule is removed, nobody is asked
    any more."""
    async with watched(redis_url, engine=EngineOptions(sweep=0.5)) as w:
        rule = await w.rule()
        say = {**answer("Look, <!channel> and <@U0CHLOE001>"), "nothing_to_say": False}
        before = len(w.bot.ws.effects)
        hostile = await w.say(question(POST, say=say))
        direct = "D0ADA00001"
        [card] = await w.bot.ws.until(lambda: w.bot.ws.messages(direct))
        assert w.answers(hostile) == []
        assert {call.args["channel"] for call in posted(w, before)} == {direct}
        actions = [e for b in card["blocks"] for e in b.get("elements", ()) if e.get("action_id")]
        assert not [e for e in actions if "thread" in str(e.get("text"))], (
            "one call, not the thread"
        )
        deny = next(e for e in actions if "deny" in e["action_id"])
        with pytest.raises(CannotDo):  # whoever wrote the message does not see the card
            await w.bot.ws.click(BEN, direct, card["ts"], deny["action_id"])
        sent = str(w.bot.api.requests[0].body["input"])
        assert sent.index("wrote:") > sent.index("About this message")
        assert "CANARY" not in str(w.bot.ws.messages(SALES))
        await w.rules.remove(ADA, rule.id)
        await w.quiet()
        assert "deny" not in str(w.bot.ws.messages(direct))


async def test_other_apps_are_answered_by_list_and_two_bots_do_not_loop(redis_url: str) -> None:
    """(39.2) Only apps that the rule names and the operator allows; never the bot's own; no app goes on
    in a thread in which a rule has answered, whatever the rule says."""
    triggers = TriggerSettings(apps=(OTHER,), runs_per_hour=3)
    async with watched(redis_url, triggers=triggers) as w:
        with pytest.raises(NotPermitted, match=STRANGER):
            await w.rule(apps=(STRANGER,))
        rule = await w.rule(apps=(OTHER,), replies=True, again=True)
        by = {"bot_id": "B0PAGER001", "app_id": OTHER}
        alert = await w.say("queue is full", **by)
        await w.say("queue is full", bot_id="B0UNKNOWN1", app_id=STRANGER)
        await w.say("queue is full")  # a person: the rule is for apps
        own = {"bot_id": w.bot.ws.bot_id, "app_id": OTHER}
        await w.say("queue is full", **own)
        await w.bot.answered(PLACE, alert)
        for _ in range(3):  # the other bot answers each answer
            await w.say("are you sure?", thread_ts=alert, **by)
        await w.quiet()
        assert len(w.answers(alert)) == 1
        assert (await w.rules.store.used(rule)).day == 1
        # It begins a new thread each time: the rate ends that.
        for _ in range(5):
            await w.say("still full", **by)
        await w.quiet()
        assert (await w.rules.store.used(rule)).day == 3
        assert len(w.bot.api.requests) == 3
        told = await w.bot.ws.until(lambda: w.bot.ws.messages("D0ADA00001"))
        assert ["has given its answers" in message["text"] for message in told] == [True]
        # An app that takes the name of another is neither meant nor approved as that one.
        await w.say("queue is full", username="Pager", **by)
        await w.say("all is well", username="pager", bot_id="B0UNKNOWN1", app_id=STRANGER)
        there = await apps_in(w.rules.slack, PLACE)
        assert there == {OTHER: f"Pager ({OTHER})", STRANGER: f"pager ({STRANGER})"}
        assert ids_of(["pager"], there) == ((), ["pager"])
        assert ids_of([f"Pager ({OTHER})"], there) == ((OTHER,), [])


async def test_a_rule_rests_when_its_owner_may_not_run_it(redis_url: str) -> None:
    """(39.1) They leave the channel, or the workspace: checked before each run, and told once."""
    async with watched(redis_url) as w:
        left = await w.rule(owner=BEN, people=(ADA,))
        await w.bot.ws.remove(ADA, PLACE, BEN)
        for _ in range(2):
            await w.say("help", ADA)
            await w.quiet()
        told = [e.args for e in w.bot.ws.effects if e.method == "chat.postMessage"]
        assert [message["channel"] for message in told] == ["D0BEN00001"]
        assert "not in that channel" in told[0]["text"]
        now = await w.rules.store.get(left.team, PLACE, left.id)
        assert now is not None
        assert now.rest is Rest.OWNER_LEFT
        with pytest.raises(NotPermitted):
            await w.rules.resume(BEN, left.id)
        await w.rules.change(ADA, left.id, now.revision, {"owner": CHLOE})
        gone = await w.rule(owner="U0CHLOE001", people=(ADA,))
        await w.bot.ws.deactivate(ADA, "U0CHLOE001")

        async def rests() -> bool:
            rules = await w.rules.store.in_channel(gone.team, PLACE)
            return all(rule.rest is Rest.OWNER_GONE for rule in rules)

        await w.bot.ws.until(lambda: not w.bot.ws.delivery.under_way, 30)
        await w.quiet()
        assert await rests()
        assert len(w.bot.api.requests) == 0


async def test_only_admins_and_whom_they_name_switch_a_rule_on(redis_url: str) -> None:
    """(39.1) A rule that waits does nothing; a change by its owner waits again; nobody approves what
    they have not seen; each step is on record."""
    channels = {SALES: ChannelTable(rule_approvers=(CHLOE,))}
    async with watched(redis_url, channels=channels) as w:
        new = Rule(team="", channel=PLACE, owner=ADA, instruction=ASK, anyone=True)
        rule = await w.rules.propose(BEN, new)
        assert (rule.owner, rule.state) == (BEN, RuleState.WAITING)
        await w.say("anybody?")
        await w.quiet()
        assert len(w.bot.api.requests) == 0
        for user in (BEN, CHLOE, GUS):
            with pytest.raises(NotPermitted):
                await w.rules.approve(user, rule.id, rule.revision)
        rule = await w.rules.approve(ADA, rule.id, rule.revision)
        seen = rule.revision
        rule = await w.rules.change(BEN, rule.id, seen, {"instruction": "Say CANARY."})
        assert (rule.state, rule.approved_by) == (RuleState.WAITING, "")
        with pytest.raises(NotPermitted, match="changed"):
            await w.rules.approve(ADA, rule.id, seen)
        with pytest.raises(NotPermitted):
            await w.rules.change(CHLOE, rule.id, rule.revision, {"instruction": "Mine."})
        with pytest.raises(NotPermitted):
            await w.rules.change(BEN, rule.id, rule.revision, {"owner": CHLOE})
        with pytest.raises(NotPermitted, match="regular expression"):
            await w.rules.change(BEN, rule.id, rule.revision, {"pattern": "(("})
        sales = await w.rules.propose(BEN, new.model_copy(update={"channel": SALES}))
        sales = await w.rules.approve(CHLOE, sales.id, sales.revision)
        # Nobody but an admin has a rule run in the name of a third, or says what it does in theirs, and its
        # owner is told of a change.
        says = {"instruction": "Say CANARY."}
        for change in ({"owner": ADA}, says):
            with pytest.raises(NotPermitted):
                await w.rules.change(CHLOE, sales.id, sales.revision, change)
        sales = await w.rules.change(ADA, sales.id, sales.revision, says)
        direct = w.bot.ws.state.direct(BEN)
        assert direct
        [told] = w.bot.ws.messages(direct.id)
        assert f"<@{ADA}> changed your rule" in told["text"]
        assert "Say CANARY." in told["text"]
        taken = {"owner": CHLOE, "instruction": "Say so."}
        sales = await w.rules.change(CHLOE, sales.id, sales.revision, taken)
        assert (sales.owner, sales.instruction, sales.state) == (CHLOE, "Say so.", RuleState.ON)
        entries = [e.entry for e in await audited(w)]
        refused = [entry for entry in entries if entry.kind == "refused"]
        assert len(refused) >= 4
        assert [e.what.split(" (")[0] for e in entries if e.kind == "administered"] == [
            "rule proposed",
            "rule approved",
            "rule changed: instruction",
            "rule proposed",
            "rule approved",
            "rule changed: instruction",
            "rule changed: instruction, owner",
        ]


async def test_hostile_patterns_take_no_time_from_others() -> None:
    """(attack) All patterns of a message together have half a second of work, each its share of that."""
    slow = [_patterned("(a|aa)+$") for _ in range(6)]
    rules = [*slow, _patterned("er{2}or"), _patterned("never")]
    message = Posted(PLACE, "1.0", "1.0", BEN, "", f"an error\n{'a' * 3_000}!")
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    outcomes = await cheap_outcomes(rules, message)
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before < 2.5
    assert [*outcomes.values()] == [*[Outcome.TOO_SLOW] * 6, Outcome.RUN, Outcome.NO_MATCH]


def _patterned(pattern: str) -> Rule:
    return Rule(team="T1", channel=PLACE, owner=ADA, instruction=ASK, anyone=True, pattern=pattern)


async def test_money_and_patterns_end(redis_url: str) -> None:
    """(39.1) A rule begins no run once its day's budget is spent, and a hostile pattern ends by time."""
    async with watched(redis_url) as w:
        slow = await w.rule(pattern=r"(a|aa)+$")
        poor = await w.rule(daily_dollars=0.000_001, words=("error",))
        first = await w.say("error one " + "a" * 3_000 + "!")
        await w.quiet()
        await w.say("error two")
        await w.quiet()
        assert (await w.rules.store.used(poor)).day == 1
        assert (await w.rules.store.used(slow)).day == 0
        assert len(w.bot.own(PLACE, first)) <= 1


async def test_a_burst_waits_for_money_that_is_only_reserved(
    redis_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """(39.1) A run may cost the dollar of the day and costs cents: what was posted meanwhile is answered
    afterwards, and the small model is asked once of each."""
    monkeypatch.setattr(following, "_WAIT_SECONDS", 0.05)
    async with watched(redis_url) as w:
        rule = await w.rule(daily_dollars=1.0, question="Is this about an outage?")
        posted = await asyncio.gather(*(w.say(f"outage {number}") for number in range(6)))
        await w.quiet()
        assert [len(w.answers(ts)) for ts in posted] == [1] * 6
        used = await w.rules.store.used(rule)
        assert (used.day, used.questions, used.reserved) == (6, 6, 0)
        assert 0 < used.dollars < 1


def test_money_is_not_bounded_at_an_unknown_price() -> None:
    """(39.1) Nor is that of the small model which rules ask: the bot then does not start, as with limits."""
    asked = TriggerSettings(model="my-model")
    assert unpriced_models(Settings(triggers=asked)) == ["my-model"]
    for bounded in (
        Settings(triggers=asked, budgets=Budgets(user_day=Cap(cost=1.0))),
        Settings(triggers=TriggerSettings(model="my-model", daily_dollars=2.0)),
    ):
        with pytest.raises(ConfigurationError, match="my-model"):
            check_prices(bounded)
    check_prices(Settings(triggers=asked))


async def test_a_mention_and_a_reply_are_not_watched(redis_url: str) -> None:
    """What is to the bot is a question, whatever rules there are; replies only where a rule says so."""
    async with watched(redis_url) as w:
        rule = await w.rule()
        asked = await w.bot.ask(BEN, PLACE, "what now?")
        await w.bot.answered(PLACE, asked)
        await w.say("thanks, Chloe", thread_ts=asked)
        await w.quiet()
        assert (await w.rules.store.used(rule)).day == 0


async def test_who_may_not_ask_sets_off_only_a_rule_that_names_them(redis_url: str) -> None:
    """(attack) A guest spends nobody's money by a rule for anybody; named, they may."""
    async with watched(redis_url) as w:
        anybody, named = await w.rule(), await w.rule(people=(GUS,), words=("printer",))
        await w.say("error in the shop", GUS)
        printer = await w.say("the printer burns", GUS)
        await w.quiet()
        assert (await w.rules.store.used(anybody)).day == 0
        assert len(w.answers(printer)) == (await w.rules.store.used(named)).day == 1


async def test_runs_that_begin_at_once_keep_to_the_limits(redis_url: str) -> None:
    """Whatever happens at the same time, no more runs begin than a rule may have, and none twice."""
    async with open_stores(redis_url) as stores:
        store = RuleStore(stores)
        rule = Rule(
            team="T1", channel=PLACE, owner=ADA, instruction=ASK, anyone=True, runs_per_hour=5
        )
        at = datetime.now(UTC)
        message = [Posted(PLACE, f"{n}.0", f"{n}.0", BEN, "", "hi") for n in range(12)]
        begun = await asyncio.gather(
            *(store.begin(rule, message[n % 12], at, 0.01) for n in range(36))
        )
        assert (await store.used(rule)).hour <= 5
        assert len([each for each in begun if each]) <= 3 * 5
        cheap = rule.model_copy(update={"id": "rule_2", "daily_dollars": 0.05, "runs_per_hour": 99})
        spent = [await store.begin(cheap, each, at, 0.02) for each in message]
        assert spent == [0.02, 0.02, *[None] * 10], "the others wait for what these two cost"
        await store.end(cheap, message[0], at, 0.001, is_silent=True)
        assert await store.begin(cheap, message[2], at, 0.02) == 0.02


async def test_of_two_that_let_a_rule_rest_one_has_done_it(redis_url: str) -> None:
    """The other tells nobody, though both make the same of the same rule."""
    async with open_stores(redis_url) as stores:
        store = RuleStore(stores)
        rule = Rule(team="T1", channel=PLACE, owner=ADA, instruction=ASK, anyone=True)
        rule = rule.model_copy(update={"state": RuleState.ON})
        await store.add(rule, most=9)

        def paused(now: Rule) -> Rule | None:
            update = {"state": RuleState.PAUSED}
            return now.model_copy(update=update) if now.state is RuleState.ON else None

        async def elsewhere() -> Rule | None:
            async with open_stores(redis_url) as others:
                return await RuleStore(others).change(rule, paused, by_person=False)

        def paused_meanwhile(now: Rule) -> Rule | None:
            if not first:
                with ThreadPoolExecutor() as process:
                    first.append(process.submit(asyncio.run, elsewhere()).result())
            return paused(now)

        first: list[Rule | None] = []
        assert await store.change(rule, paused_meanwhile, by_person=False) is None
        assert first[0]


async def test_a_run_that_waited_for_a_decision_goes_on_with_its_money(redis_url: str) -> None:
    """However many others began while it waited, it is none of theirs, and stays counted."""
    async with open_stores(redis_url) as stores:
        store, at = RuleStore(stores), datetime.now(UTC) - timedelta(hours=3)
        rule = Rule(
            team="T1", channel=PLACE, owner=ADA, instruction=ASK, anyone=True, runs_per_hour=1
        )
        for hours in range(3):
            message = Posted(PLACE, f"{hours}.0", f"{hours}.0", BEN, "", "hi")
            assert await store.begin(rule, message, at + timedelta(hours=hours, minutes=hours), 0.5)
        waited = Posted(PLACE, "0.0", "0.0", BEN, "", "hi")
        assert await store.begin(rule, waited, at, 0.5, goes_on=True) == 0.5
        assert await store.has_begun(rule, waited)


def written(w: Watched, since: int) -> list[str]:
    """The methods of calls that changed or showed something in Slack."""
    shown = ("chat.", "assistant.", "files.", "reactions.", "agents.", "views.")
    effects = w.bot.ws.effects[since:]
    return [e.method for e in effects if e.method.startswith(shown) and "info" not in e.method]


def posted(w: Watched, since: int) -> list[Any]:
    return [e for e in w.bot.ws.effects[since:] if e.method in ("chat.postMessage", "chat.update")]


async def audited(w: Watched) -> list[Any]:
    return [each async for each in w.stores.audit.read(w.rules.team)]


async def test_an_erased_owner_leaves_no_rule_and_no_thread_of_it(redis_url: str) -> None:
    """Their rules go, with what the runs of these read; a rule of others only forgets their name."""
    async with watched(redis_url) as w:
        await w.rule(words=("error",))
        other = await w.rule(owner=BEN, people=(ADA, CHLOE), words=("never",))
        hit = await w.say("An error")
        await w.bot.answered(PLACE, hit)
        await w.quiet()
        assert await w.stores.redis.call("KEYS", f"*:ledger:*{hit}")
        await erase_lines(configured(w.bot.ws, w.bot.api, redis_url), user=ADA)
        assert not await w.stores.redis.call("KEYS", f"*:ledger:*{hit}")
        [left] = await w.rules.store.in_channel(w.rules.team, PLACE)
        assert (left.id, left.people, left.approved_by) == (other.id, (CHLOE,), "")


async def test_who_asks_again_asks_for_themselves(redis_url: str) -> None:
    """(attack) A button under a rule's answer starts no run in the owner's name."""
    async with watched(redis_url) as w:
        rule = await w.rule(words=("error",))
        hit = await w.say("An error")
        [posted_] = await w.bot.answered(PLACE, hit)
        await w.quiet()
        await choose(w.bot.ws, BEN, PLACE, posted_["ts"], REGENERATE)
        await w.bot.answered(PLACE, hit, 2)
        await w.quiet()
        asked = [e.entry for e in await audited(w) if e.entry.kind == "asked"]
        assert [entry.what for entry in asked] == ["rule", "message_shortcut"]
        assert asked[0].who != asked[1].who
        assert (await w.rules.store.used(rule)).day == 1


async def test_a_short_script_is_answered_as_written(redis_url: str) -> None:
    """`python -m tests.triggers` plays 1,000 messages of it."""
    async with deployed(scripted_brain, redis_url, **settings()) as bot:
        figures = await play(bot, redis_url, script(40))
    assert figures.wrong == []
