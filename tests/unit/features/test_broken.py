"""A bug of a feature costs what that feature does, and never the bot, an answer or a deletion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import Any, NoReturn, cast

import pytest
from aiohttp import web
from redis.asyncio import Redis

from bot.agent.events import Event, RunEnded
from bot.agent.hooks.chain import HookChain, Hooks
from bot.app.features import all_features, check_names
from bot.app.process import bot
from bot.core.approvals import Approval, ApprovalRecord, Decision, Verdict
from bot.core.chain import Item
from bot.core.errors import ConfigurationError
from bot.core.outcome import Outcome, RunStatus
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, finish
from bot.dev.workspace import ADA, BEN, Workspace
from bot.features import Feature, IntakeDeps
from bot.runs import watching
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.runs.watching import ModelCalled
from bot.settings import ChannelTable, Settings
from bot.slack.intake import slack_app
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui import words
from bot.slack.ui.approval_kinds import WaitKind, WaitKinds
from bot.slack.ui.blocks import Block, actions, button
from bot.slack.ui.buttons import RETRY, STOP, AnswerButton
from bot.store import Stores, open_stores
from bot.store.families import Family
from bot.store.values import Command
from bot.text.translation import Text
from bot.toolkit import Fetcher
from tests.support.deployment import Deployment, configured
from tests.support.redis import asked
from tests.support.runs import answer, bot_with
from tests.unit.slack.rig import listening

SALES = "C0SALES001"


class Bug(Exception):
    """A mistake in the code of a feature."""


def cannot_be_made(*_: object) -> NoReturn:
    raise Bug("made")


@asynccontextmanager
async def fails_in_the_background(_: IntakeDeps) -> AsyncGenerator[None]:
    async with asyncio.TaskGroup() as group:
        group.create_task(fails_soon())
        yield


async def fails_soon() -> None:
    await asyncio.sleep(0)
    raise Bug("in the background")


class BrokenInSlack(SlackPart):
    """Fails at whatever it is told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def fail(self, what: str) -> NoReturn:
        self.told.append(what)
        raise Bug(what)

    async def run(self) -> None:
        self.fail("run")

    async def take_due(self, schedule: Schedule) -> bool:
        self.fail("due")

    async def question_form(self, user: str) -> Block | None:
        self.fail("form")

    async def person_left(self, user: str) -> None:
        self.fail("left")

    async def message_changed(self, channel: str, thread: str, ts: str) -> None:
        self.fail("changed")


class BrokenInRuns(RunPart):
    """Raises whatever it is asked or told, once it is made."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def fail(self, what: str) -> NoReturn:
        self.asked.append(what)
        raise Bug(what)

    async def opening(self) -> Sequence[Item]:
        self.fail("opening")

    def on_event(self, event: Event) -> None:
        self.fail("event")

    def on_model_call(self, call: ModelCalled) -> None:
        self.fail("call")

    def audit_facts(self, outcome: Outcome) -> Mapping[str, int]:
        return {"kind": 1, "ok": 0}  # not a feature's to say

    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        self.fail("complete")

    def saving(self, outcome: Outcome) -> Sequence[Command]:
        self.fail("saving")

    async def on_end(self, outcome: Outcome) -> None:
        self.fail("end")


class Counting(RunPart):
    """Counts runs in Redis, with commands that Redis and its client refuse."""

    def __init__(self, *commands: Command) -> None:
        self.commands = commands

    def saving(self, outcome: Outcome) -> Sequence[Command]:
        return self.commands


async def test_a_run_is_answered_once_without_what_its_parts_cannot_do(stores: Stores) -> None:
    """A part that fails delays no other, and its call of the model is charged (O12)."""
    part = BrokenInRuns()
    async with bot_with(stores, Script([finish(answer("There are four."))])) as place:
        place.change_frontend(listeners=[cannot_be_made])
        place.runner = place.runner.with_deps(parts=(lambda _: part,))
        outcome = await place.ask("How many?")
        request = place.board.finished and (await stores.runs.answer(outcome.run_id) or (None,))[0]
        assert request
        today, _ = await place.runner.deps.budgets.of_person(request.team, request.user)
    assert outcome.status is RunStatus.SUCCESS
    assert place.board.finished == [outcome]
    assert part.asked == [
        "opening",
        "event",
        "complete",
        "saving",
        "end",
    ]  # no event after the first
    assert today.position.spent.tokens


async def test_a_part_that_hangs_does_not_hold_the_thread(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Hanging(RunPart):
        async def opening(self) -> Sequence[Item]:
            await asyncio.Event().wait()
            return ()

        async def on_end(self, outcome: Outcome) -> None:
            await asyncio.Event().wait()

    monkeypatch.setattr(watching, "PART_SECONDS", 0.05)
    async with bot_with(stores, Script([finish(answer("There are four."))])) as place:
        place.runner = place.runner.with_deps(parts=(lambda _: Hanging(),))
        outcome = await place.ask("How many?")
        assert place.board.finished == [outcome]


@pytest.mark.parametrize(
    "refused",
    [
        ("INCR", "bot:v1:list"),
        ("NOTHING", "x"),
        ("SET", "x", None),
        ("SET", "x", HTTPStatus.OK),
        ("SADD", "many", *range(9_000)),
        ("SET", "x", "\ud800"),
        (),
    ],
)
async def test_a_run_is_saved_whole_though_redis_refuses_what_a_feature_adds(
    stores: Stores, redis: Redis, caplog: pytest.LogCaptureFixture, refused: Command
) -> None:
    """The next message goes on from it, other features are saved, and the log names the one."""
    await redis.rpush("bot:v1:list", "not a number")
    await redis.expire("bot:v1:list", 60)
    parts = Counting(refused), Counting(("SETEX", "bot:v1:counted", 60, 1))
    async with bot_with(stores, Script([finish(answer("There are four."))])) as place:
        place.runner = place.runner.with_deps(parts=tuple(lambda _, p=p: p for p in parts))
        outcome = await place.ask("How many?")
    assert place.board.finished == [outcome]
    saved = await stores.runs.answer(outcome.run_id)
    assert saved is not None
    assert saved[1] == outcome
    assert (await stores.caller_states.load(saved[0].thread_key)).previous_response_id
    assert await redis.get("bot:v1:counted")
    assert "test_broken.Counting" in caplog.text


async def test_the_bot_goes_on_answers_and_forgets_what_was_deleted(redis_url: str) -> None:
    """Work in the background, a schedule, the end of a run and a deletion fail in the feature alone."""
    held = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply:
        if "secret" in str(request.body["input"]):
            await held.wait()
        return finish(answer("There are four."))

    part = BrokenInSlack()
    broken = Feature(
        "broken",
        services={Bug: cannot_be_made},
        waits={"broken": cannot_be_made},
        run_part=lambda _: BrokenInRuns(),
        run_listener=cannot_be_made,
        slack_part=lambda _: part,
        buttons=(AnswerButton(Text("Show"), "show_broken", cannot_be_made),),
        process=cannot_be_made,
        intake=fails_in_the_background,
    )
    features = [broken, *all_features(Settings(_env_file=None))]
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=slow) as api,
        open_stores(redis_url) as stores,
    ):
        due = Schedule(
            team=ws.team_id,
            channel=SALES,
            thread="1.0",
            user=ADA,
            text="How many?",
            cron="0 9 * * 1",
            next_at=0,
        )
        await stores.schedules.add(due, most=9)
        async with bot(configured(ws, api, redis_url), features=features):
            deployment = Deployment(ws, api)
            await ws.until(lambda: {"run", "due"} <= {*part.told})
            thread = await deployment.ask(ADA, SALES, "How many?")
            [message] = await deployment.answered(SALES, thread)
            assert "There are four." in str(message["blocks"])

            deleted = await deployment.ask(ADA, SALES, "What is the secret?")
            await ws.until(lambda: "secret" in str([request.body for request in api.requests]))
            await ws.delete(ADA, SALES, deleted)
            await ws.until(lambda: "changed" in part.told)
            key = f"{ws.team_id}:{SALES}:{deleted}"
            held.set()
            async with asyncio.timeout(30):
                while await stores.mailbox.waiting(key):  # noqa: ASYNC110 - a worker does it
                    await asyncio.sleep(0.05)
        assert "There are four." not in str(deployment.own(SALES, deleted))


class Pressed(SlackPart):
    """Has a button with a bug, and one that hangs, and hears of people who left."""

    def __init__(self) -> None:
        self.left = ""

    def register(self, app: SlackApp) -> None:
        app.button("bug")(self._bug)
        app.button("hang")(self._hang)

    async def _bug(self, press: Press) -> str:
        raise Bug(press.action)

    async def _hang(self, press: Press) -> str:
        await asyncio.Event().wait()
        return press.action

    async def person_left(self, user: str) -> None:
        self.left = user


def ephemeral(ws: Workspace) -> list[str]:
    """What Ada alone reads in the channel."""
    return [m["text"] for m in ws.messages(SALES, None, ADA) if m.get("is_ephemeral")]


class Taking(SlackPart):
    """Listens to a button of the bot."""

    def register(self, app: SlackApp) -> None:
        app.button(RETRY)(_nothing)


@pytest.mark.usefixtures("redis_server")
async def test_a_part_that_cannot_listen_is_left_out_and_no_other_hears_less(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The log names it. Who presses a button with a bug, or one that hangs, reads a sentence."""
    monkeypatch.setattr(slack_app, "PRESS_SECONDS", 0.2)
    pressed, broken = Pressed(), BrokenInSlack()
    parts = [cannot_be_made, lambda _: Taking(), lambda _: broken, lambda _: pressed]
    features = [Feature(f"f{n}", slack_part=part) for n, part in enumerate(parts)]
    taking = WaitKind(draw=cannot_be_made, verdicts={STOP: Verdict.DENIED}, waiting=cannot_be_made)
    features.append(Feature("waits", waits={"taking": lambda _: taking}))
    async with Workspace.open() as ws, listening(ws, features=features) as rig:
        assert rig.features == [broken, pressed]
        assert "feature f0" in caplog.text
        assert "test_broken.Taking" in caplog.text

        buttons = [button(name, name, "1") for name in ("bug", "hang")]
        posted = await rig.clients.writes.chat_postMessage(
            channel=SALES, text="Here", blocks=[actions(*buttons)]
        )
        for count, name in enumerate(("bug", "hang"), 1):
            await ws.click(ADA, SALES, posted["ts"], name)
            told = await ws.until(
                partial(lambda n: seen if len(seen := ephemeral(ws)) >= n else [], count)
            )
            assert told == [words.WENT_WRONG()] * count
        answer = await ws.command(ADA, SALES, "/ask")
        assert words.ASK_COMMAND() in str(answer)
        await ws.deactivate(ADA, BEN)
        await ws.until(lambda: pressed.left == BEN)
    assert {"form", "left"} <= {*broken.told}


async def test_no_call_is_made_without_the_hook_of_a_part_that_cannot_be_made(
    stores: Stores,
) -> None:
    """A refresh makes calls as a run does: the operator's commands are among these hooks."""

    async with bot_with(stores, Script([])) as place:
        deps = replace(place.runner.deps, parts=(cannot_be_made,))
        run = Run.of_job(deps, asked(), ChannelTable(), "run_1")
        with pytest.raises(Bug):
            await run.loop_deps()


async def test_a_decided_card_that_cannot_be_drawn_holds_up_no_run() -> None:
    """It says so in its place; one that is open would be pressed by nobody, so its run fails."""
    kinds = WaitKinds(str, {"broken": WaitKind(cannot_be_made, {}, cannot_be_made)})
    asked = cast(Any, Approval).model_construct(kind="broken", id="run_1:call_1")
    decided = ApprovalRecord(asked, Decision(verdict=Verdict.DENIED, by=ADA))
    assert (await kinds.card(decided)).text == words.WENT_WRONG()
    with pytest.raises(Bug):
        await kinds.card(ApprovalRecord(asked))


def _nothing(*_: object) -> Any:
    return None


@pytest.mark.parametrize(
    ("feature", "line"),
    [
        (Feature("mine", stored=(Family("audit", "stream", is_brief=True),)), "the bot has"),
        (Feature("mine", stored=(Family("memories"),)), "memories has the family of keys"),
        (
            Feature("mine", buttons=(AnswerButton(Text("Show"), "show_evidence", _nothing),)),
            "evidence has the button 'show_evidence'",
        ),
        (Feature("mine", jobs={"refresh": _nothing}), "refresh has the kind of job"),
        (Feature("mine", waits={"input": _nothing}), "server_questions has the kind of wait"),
        (Feature("mine", waits={"call": _nothing}), "the bot has the kind of wait"),
    ],
)
def test_a_name_that_only_one_can_have_is_refused(feature: Feature, line: str) -> None:
    """Else the audit log would be missing from backups, or a press would reach the other feature."""
    check_names(all_features(Settings(_env_file=None)))
    with pytest.raises(ConfigurationError, match=f"Feature mine: {line}"):
        check_names([*all_features(Settings(_env_file=None)), feature])


def test_a_package_cannot_have_the_name_of_one_of_our_features() -> None:
    """Its names would count as those of ours."""
    with pytest.raises(ConfigurationError, match="Two features have the name 'evidence'"):
        check_names([*all_features(Settings(_env_file=None)), Feature("evidence")])


@pytest.mark.parametrize(
    ("adds", "what"),
    [
        ({"services": {Fetcher: _nothing}}, "service 'Fetcher'"),
        ({"pages": [web.get("/show", _nothing)]}, "page 'GET /show'"),
    ],
)
def test_two_features_cannot_add_the_same(adds: dict[str, Any], what: str) -> None:
    first, second = (Feature(name, **adds) for name in ("one", "two"))
    with pytest.raises(ConfigurationError, match=f"Feature two: one has the {what}"):
        check_names([first, second])


def test_a_hook_cannot_take_the_memory_of_another() -> None:
    """The guard of what leaves would forget what the thread has read."""

    class Egress(Hooks):
        name = "egress"

    with pytest.raises(ValueError, match="two hooks have one name: egress"):
        HookChain((Egress(), Egress()))
