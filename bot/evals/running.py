"""Runner of cases with the real loop and tools, separate from the bot's data: runs use a temporary Redis."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from pydantic import BaseModel, SecretStr
from typing_extensions import override

from bot.agent.events import SkillAcquired
from bot.agent.hooks.chain import HookChain, Hooks
from bot.agent.state import LoopState
from bot.app.features import all_features
from bot.app.run_setup import open_runner, redis_and_stores
from bot.core.answers import GIVEN
from bot.core.approvals import Approval, Decision, Verdict
from bot.core.errors import ConfigurationError
from bot.core.ids import new_id
from bot.core.outcome import StopReason
from bot.core.request import Entry, FileRef, Request
from bot.evals.cases import SKILL, Case
from bot.evals.material import CaseCanvases, CaseWebSearch, conversation_of
from bot.evals.results import CaseResult, Evaluation, reasons
from bot.features import Feature
from bot.library.tracing import findings
from bot.runs.policy.budgets import Budgets
from bot.runs.results.result_markdown import result_text
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.runs.runner import Runner
from bot.services.sql_databases import DatabaseConfig
from bot.settings import ChannelTable, Settings
from bot.store import Stores
from bot.testing.surface import RecordingSurface
from bot.toolkit import Canvases, WebSearch
from bot.toolkit.tool import Services, Tool, ToolResult


class StopAfterFirstTools(Hooks):
    """A hook of one run that stops it after the first turn in which a tool ran."""

    def __init__(self) -> None:
        self._ran = False

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self._ran = True
        return ""

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return StopReason.STOP_HOOK if self._ran else None


CHANNEL = TEAM = "evaluation"
"""The ids of the channel and the workspace in which the cases ask."""

OnResult = Callable[[CaseResult], None]
"""Called with the result of each run as it ends."""


async def evaluate(
    settings: Settings,
    cases: Sequence[Case],
    *,
    parallel: int,
    repeat: int,
    on_result: OnResult,
    without: str = "",
) -> Evaluation:
    """Run every case `repeat` times, or as often as it says, `parallel` runs at once. The tool or skill
    that is named `without` is there for none.

    Raises ConfigurationError when the model cannot be called, or when a case limits dollars and the
    model's price is unknown.
    """
    separate, options = separated(settings), dict[str, Any]()
    if without:
        cases = [case.without(without) for case in cases]
        options["features"] = (*all_features(settings), _withholding(without))
    slots = asyncio.Semaphore(parallel)

    async def run_one(stores: Stores, case: Case) -> CaseResult:
        async with slots:
            result = await run_case(separate, stores, case, **options)
        on_result(result)
        return result

    try:
        async with (
            redis_and_stores(separate, data_dir=None) as (_, stores),
            stores.signals.listening(),
            asyncio.TaskGroup() as tasks,
        ):
            every = [case for case in cases for _ in range(max(repeat, case.repeat))]
            runs = [tasks.create_task(run_one(stores, case)) for case in every]
    except ExceptionGroup as group:
        if wrong := group.subgroup(ConfigurationError):
            raise wrong.exceptions[0] from None
        raise
    results = tuple(run.result() for run in runs)
    return Evaluation(model=settings.openai_model, without=without, results=results)


def _withholding(name: str) -> Feature:
    """Return a feature that withholds the tool or skill of this name from all runs."""

    def part(_run: Run) -> RunPart:
        made = RunPart()
        made.withheld = (name,)
        return made

    return Feature("without", run_part=part)


def separated(settings: Settings) -> Settings:
    """Return `settings` for a temporary Redis, in which no budget counts and nobody has an account."""
    update = {"redis_url": None, "budgets": Budgets()}
    return settings.without_personal_servers.model_copy(update=update)


async def run_case(settings: Settings, stores: Stores, case: Case, **options: Any) -> CaseResult:
    """Run a case once. `settings` and `stores` are separate from the bot's own; `options` are those
    of `open_runner`.

    Raises ConfigurationError as `evaluate` does.
    """
    (conversation, attached), recorder = conversation_of(case), RecordingSurface(_deny)
    async with open_runner(
        _configured(settings, case),
        stores,
        conversation,
        recorder.open,
        dry_run=True,
        **options,
        services=_services(case),
        may_decide=_nobody,
        may_administer=_nobody,
    ) as runner:
        *before, last = _requests(case, attached)
        for request in before:
            await runner.answer(request)
        recorder.shown.clear()  # only the tools of the last question count
        outcome = await (_bounded(runner) if case.bounded else runner).answer(last)
        catalogue = runner.deps.toolbox.catalogue
    traced = outcome.traced or findings.Findings()
    called, skills = recorder.called, [f"{SKILL}{each.name}" for each in recorder.of(SkillAcquired)]
    succeeded = [name for tool in recorder.succeeded for name in catalogue.names_of(tool)]
    return CaseResult(
        case=case.name,
        reasons=tuple(reasons(case, outcome, [*succeeded, *skills], [*called, *skills])),
        share=case.share,
        status=outcome.status,
        stop_reason=outcome.stop_reason,
        tools=(*skills, *called),
        totals=outcome.totals,
        said=result_text(outcome) if outcome.result is not None else outcome.note,
        claims=len(traced.items),
        untraced=tuple(finding.text for finding in traced.of(findings.Verdict.UNTRACED)),
        figures=findings.FigureCounts.of(traced),
    )


def _requests(case: Case, attached: tuple[FileRef, ...]) -> list[Request]:
    """Return the requests of one thread in order; files are attached to the first."""
    thread = new_id("case")
    approvals = [
        Request(
            entry=Entry.HEADLESS,
            team=TEAM,
            channel=CHANNEL,
            thread=thread,
            ts=f"{thread}.{number}",
            user="evaluator",
            place="a thread" if case.thread else "a terminal",
            text=text,
            files=() if number else attached,
        )
        for number, text in enumerate((*case.before, case.question))
    ]
    response_schema = case.response_schema
    wanted = {
        "response_type": case.response if response_schema is None else GIVEN,
        "response_schema": response_schema,
    }
    return [*approvals[:-1], approvals[-1].model_copy(update=wanted)]


def _configured(settings: Settings, case: Case) -> Settings:
    """Return `settings` with the limits, the instructions, the skills and the databases of the case."""
    bounds = {"turns": case.limits.turns, "run_seconds": case.limits.seconds}
    if case.limits.cost is not None:
        bounds["cost"] = case.limits.cost
    databases = {
        name: DatabaseConfig(url=SecretStr(f"sqlite:///{path.absolute()}"))
        for name, path in case.databases.items()
    }
    channel = settings.channels.get(CHANNEL, ChannelTable())
    if case.instructions:
        channel = channel.model_copy(update={"instructions": case.instructions})
    if case.skills:
        channel = channel.model_copy(update={"load": case.skills})
    return settings.model_copy(
        update={
            "limits": settings.limits.model_copy(update=bounds),
            "databases": settings.databases if case.live else databases,
            "channels": {**settings.channels, CHANNEL: channel},
        }
    )


def _bounded(runner: Runner) -> Runner:
    """Return `runner` with runs that end after the first turn in which a tool ran."""

    def hooks(run: Run) -> HookChain:
        return HookChain((*runner.deps.hooks_for(run).hooks, StopAfterFirstTools()))

    return runner.with_deps(hooks_for=hooks)


def _services(case: Case) -> Services:
    """Return what the case offers to tools besides its conversation."""
    canvases: dict[type, object] = {Canvases: CaseCanvases(case.canvases)} if case.canvases else {}
    return canvases | ({WebSearch: CaseWebSearch(case.web)} if case.web else {})


async def _nobody(_user: str) -> bool:
    """Return False: no person takes part, so nothing is approved."""
    return False


def _deny(_approval: Approval) -> Decision:
    return Decision(verdict=Verdict.DENIED, comment="nobody decides in an evaluation")
