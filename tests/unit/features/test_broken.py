"""A bug of a feature costs what that feature does, and never the bot, an answer or a deletion."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NoReturn

import pytest

from bot.agent.hooks.chain import HookChain, Hooks
from bot.app.features import all_features, check_names
from bot.app.process import bot
from bot.core.errors import ConfigurationError
from bot.core.outcome import Outcome
from bot.core.schedule import Schedule
from bot.dev.model import ModelRequest, Reply, ResponsesServer, Script, finish
from bot.dev.workspace import ADA, Workspace
from bot.features import Feature
from bot.runs.policy.channels import ChannelSettings
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.settings import Settings
from bot.slack.intake.slack_part import SlackPart
from bot.slack.ui.buttons import AnswerButton
from bot.store import Stores, open_stores
from bot.store.families import Family
from bot.text.translation import Text
from bot.toolkit import Fetcher
from tests.support.deployment import Deployment, configured
from tests.support.redis import asked
from tests.support.runs import answer, bot_with

SALES = "C0SALES001"


class Bug(Exception):
    """A mistake in the code of a feature."""


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

    async def message_changed(self, channel: str, thread: str, ts: str) -> None:
        self.fail("changed")


class BrokenInRuns(RunPart):
    """Cannot count the outcome of a run."""

    def saving(self, outcome: Outcome) -> Sequence[tuple[str, ...]]:
        raise Bug("saving")


async def test_the_bot_goes_on_answers_and_forgets_what_was_deleted(redis_url: str) -> None:
    """Work in the background, a schedule, the end of a run and a deletion fail in the feature alone."""
    held = asyncio.Event()

    async def slow(request: ModelRequest) -> Reply:
        if "secret" in str(request.body["input"]):
            await held.wait()
        return finish(answer("There are four."))

    part = BrokenInSlack()
    broken = Feature("broken", slack_part=lambda _: part, run_part=lambda _: BrokenInRuns())
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


async def test_no_call_is_made_without_the_hook_of_a_part_that_cannot_be_made(
    stores: Stores,
) -> None:
    """A refresh makes calls as a run does: the operator's commands are among these hooks."""

    def cannot_be_made(_: Run) -> RunPart:
        raise Bug("made")

    async with bot_with(stores, Script([])) as place:
        deps = replace(place.runner.deps, parts=(cannot_be_made,))
        run = Run.of_job(deps, asked(), ChannelSettings(), "run_1")
        with pytest.raises(Bug):
            await run.loop_deps()


def _nothing(*_: object) -> None:
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
    ],
)
def test_a_name_that_only_one_can_have_is_refused(feature: Feature, line: str) -> None:
    """Else the audit log would be missing from backups, or a press would reach the other feature."""
    check_names(all_features(Settings(_env_file=None)))
    with pytest.raises(ConfigurationError, match=f"Feature mine: {line}"):
        check_names([*all_features(Settings(_env_file=None)), feature])


def test_two_features_cannot_give_tools_the_same_service() -> None:
    first, second = (Feature(name, services={Fetcher: _nothing}) for name in ("one", "two"))
    with pytest.raises(ConfigurationError, match="Feature two: one has the service 'Fetcher'"):
        check_names([first, second])


def test_a_hook_cannot_take_the_memory_of_another() -> None:
    """The guard of what leaves would forget what the thread has read."""

    class Egress(Hooks):
        name = "egress"

    with pytest.raises(ValueError, match="two hooks have one name: egress"):
        HookChain((Egress(), Egress()))
