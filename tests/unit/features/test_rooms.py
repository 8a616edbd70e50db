"""The bot without any feature, and with each alone: it answers, survives a kill, and erases."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from functools import partial
from itertools import count
from pathlib import Path

import pytest
from redis.asyncio import Redis

from bot.app.features import all_features
from bot.app.process import bot
from bot.core.approvals import Approval
from bot.core.request import WORKFLOW, Entry, Job, Request
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish
from bot.dev.workspace import ADA, Workspace
from bot.features import Feature
from bot.runs.queue import engine as engine_module
from bot.runs.queue.engine import EngineOptions, Handle, open_engine
from bot.runs.queue.requests import Requests
from bot.runs.run_deps import RunDeps
from bot.settings import Settings
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.press import Press
from bot.slack.intake.schedules import DueSchedules
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui import words
from bot.slack.ui.approval_kinds import WaitKinds
from bot.slack.ui.blocks import Block, notice_modal, text_object
from bot.store import open_stores
from bot.text.translation import Text
from tests.faults.processes import environment, started_code
from tests.support.deployment import Deployment, configured
from tests.support.runs import answer
from tests.unit.slack.rig import listening, wired

pytestmark = pytest.mark.usefixtures("redis_url")

SALES = "C0SALES001"
OUTPUTS = ["answer", "details", "data", "complete"]
ALL = all_features(Settings(_env_file=None))
ALONE = [(), *((feature,) for feature in ALL)]

SERVING = """
import asyncio
from bot.app.features import all_features
from bot.app.process import bot
from bot.core.request import Entry, Job, Request
from bot.app.process import bot
from bot.settings import load_settings

async def main():
    settings = load_settings()
    features = [feature for feature in all_features(settings) if feature.name in {names}]
    async with bot(settings, features=features):
        print(" ready", flush=True)
        await asyncio.Event().wait()

asyncio.run(main())
"""


def calculates(request: ModelRequest) -> Reply:
    if request.input[-1].get("type") == "function_call_output":
        return finish(answer("1,000 and 234 are 1,234."))
    return call("calculate", {"expression": "1000+234"})


@pytest.mark.parametrize(
    "features", ALONE, ids=lambda features: "".join(each.name for each in features) or "none"
)
async def test_a_killed_run_is_resumed_and_answered_without_the_other_features(
    features: Sequence[Feature], redis_url: str, tmp_path: Path
) -> None:
    """A process starts and is killed; the next answers once, and the next question, too. Then nothing
    is left of whoever asked."""
    resumed = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply:
        if request.input[-1].get("type") == "function_call_output":
            await resumed.wait()
        return calculates(request)

    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=slow) as api,
        open_stores(redis_url) as stores,
    ):
        place = Deployment(ws, api)
        thread = ""
        if not features or features[0].run_part:  # what the others do is no part of a run
            variables = environment(ws, api, tmp_path, redis_url=redis_url)
            code = SERVING.format(names=[feature.name for feature in features])
            async with started_code(code, variables, tmp_path / "log") as process:
                thread = await place.ask(ADA, SALES, "How much is that?")
                await ws.until(lambda: len(api.requests) == 2, 30)  # what it calculated is kept
                process.kill()
                await process.wait()
        resumed.set()
        engine = EngineOptions(lease=1.0, sweep=1.0)
        settings = configured(ws, api, redis_url, bot_data_dir=tmp_path, engine=engine)
        async with bot(settings, features=features):
            thread = thread or await place.ask(ADA, SALES, "How much is that?")
            await place.answered(SALES, thread, seconds=60)
            await place.ask(ADA, SALES, "Are you sure?", thread)
            messages = await place.answered(SALES, thread, 2, seconds=60)
            while await stores.mailbox.threads():  # noqa: ASYNC110 - the process does it
                await asyncio.sleep(0.1)
        others = [button.action for each in ALL if each not in features for button in each.buttons]
        for message in messages:
            assert "1,000 and 234 are 1,234." in str(message["blocks"])
            assert not [action for action in others if f"'{action}'" in str(message["blocks"])]
        erased = await stores.erasure.person(ADA)
        assert not erased.busy
    async with Redis.from_url(redis_url, decode_responses=True) as client:
        keys = [key async for key in client.scan_iter("bot:v1:*")]
    naming = [key for key in keys if ADA in key or thread in key]
    assert not [key for key in naming if ":claim:" not in key]  # so that it is taken in once


class Broken(SlackPart):
    """A part of a feature with a mistake, and one that shows too much."""

    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        raise ZeroDivisionError

    async def admin_home(self, user: str) -> Sequence[Block]:
        return [{"type": "divider"}] * 30


class TooMuch(SlackPart):
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        return [{"type": "divider"}] * 200


async def test_all_our_own_features_listen_to_slack() -> None:
    """A part that cannot be registered is left out, which nobody would notice here."""
    async with Workspace.open() as ws, wired(ws) as rig:
        assert len(rig.features) == sum(feature.slack_part is not None for feature in ALL)


async def test_a_section_of_home_that_is_broken_or_too_long_hides_no_other(redis_url: str) -> None:
    more = [Feature("broken", slack_part=lambda _: Broken())]
    more += [Feature("too much", slack_part=lambda _: TooMuch())]
    async with (
        Workspace.open() as ws,
        ResponsesServer.open(brain=calculates) as api,
        bot(configured(ws, api, redis_url), features=[*ALL, *more]),
    ):
        await ws.open_home(ADA)
        await ws.until(lambda: ws.home(ADA))
        home = ws.home(ADA)
    assert home
    assert len(home["blocks"]) == 100
    assert "What I remember about you" in str(home["blocks"])
    assert "For admins" in str(home["blocks"])


class Invalid(SlackPart):
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        return [{"type": "no_such_block"}]


async def test_a_section_of_home_that_slack_refuses_hides_the_sections_alone() -> None:
    features = [*ALL, Feature("invalid", slack_part=lambda _: Invalid())]
    async with Workspace.open() as ws, listening(ws, features=features):
        await ws.open_home(ADA)
        await ws.until(lambda: ws.home(ADA))
        assert "For admins" in str(ws.home(ADA))
        assert "no_such_block" not in str(ws.home(ADA))


GONE = "of_no_feature"


class Opening(SlackPart):
    """A part whose button opens a modal that nothing listens to, as that of a feature that is gone."""

    def register(self, app: SlackApp) -> None:
        app.button("open")(self._open)

    async def _open(self, press: Press) -> None:
        view = notice_modal("Form", "Fill it in.") | {"callback_id": GONE}
        await press.open(view | {"submit": text_object("Send")})


def used(kind: str, **more: object) -> Block:
    """An element of a message whose feature is gone."""
    return {"type": kind, "action_id": f"{GONE}_{kind}", **more}


async def test_whatever_people_do_with_a_feature_that_is_switched_off_says_so() -> None:
    """Buttons, menus, thumbs, modals, shortcuts and commands, each as Slack needs it; a link opens."""
    option = {"text": text_object("One"), "value": "1"}
    elements = [
        used("button", text=text_object("Do it"), value="1"),
        used("static_select", placeholder=text_object("Choose"), options=[option]),
        {"type": "button", "action_id": "open", "text": text_object("Open"), "value": "1"},
        {
            "type": "button",
            "action_id": "link",
            "text": text_object("Go"),
            "url": "https://a.example",
        },
    ]
    thumbs = {"positive_button": option, "negative_button": {**option, "value": "2"}}
    blocks = [
        {"type": "actions", "elements": elements},
        {"type": "context_actions", "elements": [used("feedback_buttons", **thumbs)]},
    ]
    parts = [Feature("opening", slack_part=lambda _: Opening())]
    async with Workspace.open() as ws, listening(ws, features=parts) as rig:
        posted = await rig.clients.writes.chat_postMessage(
            channel=SALES, text="Here", blocks=blocks
        )
        await ws.click(ADA, SALES, posted["ts"], "link")
        for count, (kind, value) in enumerate(
            (("button", None), ("static_select", "1"), ("feedback_buttons", "2")), 1
        ):
            await ws.click(ADA, SALES, posted["ts"], f"{GONE}_{kind}", value=value)
            await ws.until(partial(lambda n: len(ephemeral(ws)) >= n, count))
            seen = ephemeral(ws)
        assert seen == [words.SWITCHED_OFF()] * 3

        await ws.click(ADA, SALES, posted["ts"], "open")
        await ws.submit(ADA, ws.views(ADA)[-1]["id"])
        assert words.SWITCHED_OFF() in str(ws.views(ADA))
        await ws.close_view(ADA, ws.views(ADA)[-1]["id"])
        for where in ({}, {"channel": SALES, "ts": posted["ts"]}):
            await ws.shortcut(ADA, GONE, **where)
            assert words.SWITCHED_OFF() in str(ws.views(ADA))
            await ws.close_view(ADA, ws.views(ADA)[-1]["id"])
        answer = await ws.command(ADA, SALES, "/gone")
        assert words.SWITCHED_OFF() in str(answer)
        step = await ws.run_step(GONE, {}, OUTPUTS)
        await ws.until(lambda: ws.execution(step).is_over)
        assert ws.execution(step).error == words.SWITCHED_OFF()


def ephemeral(ws: Workspace) -> list[str]:
    """What Ada alone sees in the channel."""
    return [m["text"] for m in ws.messages(SALES, None, ADA) if m.get("is_ephemeral")]


def test_yes_to_a_feature_that_is_switched_off_says_so() -> None:
    """Where its card is still there, the word sends people to the button."""
    approval = Approval(
        kind=GONE,
        id="run_1:call_1",
        thread_key="T1:C1:1.0",
        tool="ask",
        title="Ask",
        arguments="{}",
        sha256="",
        requester=ADA,
        approvers=(ADA,),
        expires=0,
        mutates=False,
    )
    assert WaitKinds(str, {}).yes_typed([approval], ADA) == words.SWITCHED_OFF()


def no_job(_deps: RunDeps, _slack: Slack) -> Handle:
    raise ZeroDivisionError


@pytest.mark.parametrize(
    ("features", "sentence"),
    [
        ((), words.JOB_SWITCHED_OFF),
        ((Feature("broken", jobs={GONE: no_job}),), words.WENT_WRONG),
    ],
    ids=["switched off", "broken"],
)
async def test_a_job_that_no_feature_does_says_so(
    redis_url: str,
    monkeypatch: pytest.MonkeyPatch,
    features: Sequence[Feature],
    sentence: Text,
) -> None:
    """To the person who started it, where they did; a broken one once all attempts have failed."""
    monkeypatch.setattr(engine_module, "MAX_JOB_FAILURES", 1)
    async with Workspace.open() as ws, ResponsesServer.open(brain=calculates) as api:
        settings = configured(ws, api, redis_url)
        request = Request(
            entry=Entry.JOB,
            team=ws.team_id,
            channel=SALES,
            thread="run_1",
            ts="1.0",
            user=ADA,
            author="Ada",
            text="",
            private=True,
            job=Job(kind=GONE, subject="run_1"),
        )
        async with (
            open_stores(redis_url) as stores,
            open_engine(redis_url, stores.mailbox) as engine,
            bot(settings, features=features),
        ):
            await Requests(stores, engine).submit(request, "job:1")
            assert await ws.until(lambda: ephemeral(ws)) == [sentence()]


async def test_a_step_whose_feature_is_switched_off_ends_with_a_sentence(redis_url: str) -> None:
    """Its run is queued; the workflow shows the sentence."""
    async with Workspace.open() as ws, ResponsesServer.open(brain=calculates) as api:
        step = await ws.run_step("answer_question", {"question": "How much is that?"}, OUTPUTS)
        request = Request(
            entry=Entry.WORKFLOW_STEP,
            team=ws.team_id,
            channel=WORKFLOW,
            thread=step,
            ts=step,
            user=WORKFLOW,
            text="How much is that?",
        )
        async with (
            open_stores(redis_url) as stores,
            open_engine(redis_url, stores.mailbox) as engine,
            bot(configured(ws, api, redis_url), features=()),
        ):
            await Requests(stores, engine).submit(request, "step:1")
            execution = ws.execution(step)
            await ws.until(lambda: execution.is_over)
    assert execution.error == words.JOB_SWITCHED_OFF()


async def test_the_schedule_of_a_feature_that_is_switched_off_ends_with_a_sentence(
    redis_url: str,
) -> None:
    """It asks nothing in its feature's place; its owner is told after three times."""
    async with Workspace.open() as ws, wired(ws) as rig, open_stores(redis_url) as stores:
        root = (await ws.say(ADA, SALES, "Figures"))["ts"]
        kept = Schedule(
            team=ws.team_id,
            channel=SALES,
            thread=root,
            user=ADA,
            text="Keep it up to date",
            cron="0 9 * * 1",
            next_at=0,
            refresh="run_1",
        )
        await stores.schedules.add(kept, most=9)
        times = count(int(time.time()), 30 * 86_400)
        look = DueSchedules(
            ws.team_id, stores.schedules, stores.pause, [], rig.slack, times.__next__
        )
        for _ in range(3):
            await look.submit_due()
        assert await stores.schedules.of(ws.team_id, ADA) == []
        assert rig.requests == []
        told = ws.messages(rig.direct(ADA))
    assert [words.SWITCHED_OFF() in each["text"] for each in told] == [True, True]
