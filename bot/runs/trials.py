"""Trials: the same cases with what is saved, and with what somebody would have instead.

They show what a change, such as of instructions, does to answers before anybody saves it. A trial runs in the
name and on the budget of one person, and changes nothing.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.audit_kinds import AuditKind
from bot.core.errors import BotError, CallRefused, ConfigurationError
from bot.core.ids import new_id
from bot.core.request import Redacted, Request
from bot.model import Model
from bot.runs.audit_trail import request_entry
from bot.runs.policy.channels import ChannelSettings
from bot.runs.run import Run
from bot.runs.run_deps import RunDeps
from bot.store import Decisions, Stores
from bot.text.translation import Text

_FIGURE = re.compile(r"[-−]?[$€£]?(\d{1,3}(?:,\d{3})+|\d+)(\.\d+)?")
_MAX_SAID, _MAX_REASON, _MAX_REASONS = 1_500, 300, 8
NO_TRIALS = Text("I cannot try questions here: {why}")
NO_EVALUATIONS = Text("I cannot try questions here: this process has no evaluations.")


class TrialCase(BaseModel):
    """A question, and what its answer must and must not say."""

    model_config = ConfigDict(frozen=True)

    question: Redacted = ""
    must_say: tuple[Redacted, ...] = ()
    must_not_say: tuple[Redacted, ...] = ()

    @property
    def can_run(self) -> bool:
        """Whether the case has a question and expects something."""
        return bool(self.question and (self.must_say or self.must_not_say))

    @property
    def expected(self) -> dict[str, list[dict[str, Any]]]:
        """What an evaluation case expects: a line that is a figure counts in any notation."""
        expected = {"facts": self.must_say, "absent": self.must_not_say}
        return {name: [*map(_fact, lines)] for name, lines in expected.items() if lines}


@dataclass(frozen=True, slots=True)
class CaseRun:
    """One run of a case, passed when `reasons` is empty. `said` is the answer; `cost` in dollars."""

    reasons: tuple[str, ...] = ()
    said: str = ""
    cost: float | None = None

    @property
    def passed(self) -> bool:
        return not self.reasons


@dataclass(frozen=True, slots=True)
class Comparison:
    """The two runs of a case. They are one run where both variants are the same."""

    case: TrialCase
    before: CaseRun
    after: CaseRun

    @property
    def cost(self) -> float | None:
        """What both runs cost; None when one of the costs is unknown."""
        runs = [self.before] if self.after is self.before else [self.before, self.after]
        costs = [run.cost for run in runs if run.cost is not None]
        return sum(costs) if len(costs) == len(runs) else None


class NotTried(BotError):
    """Raised when no case could be run; the message is a sentence for the person who asked for it."""


@dataclass(frozen=True, slots=True)
class Variant:
    """What a case is run with: the `settings` of the channel, and what `prepare` writes into the stores of
    the run, which hold nothing else; it is given its workspace."""

    settings: ChannelSettings
    prepare: Callable[[Stores, str], Awaitable[None]] | None = None


RunCase = Callable[
    [Decisions, TrialCase, Variant, Callable[[Model], Model]], Coroutine[Any, Any, CaseRun]
]
"""Runs a case once, as `bot eval` does, with a variant and with the tools of MCP servers that are
pinned; its run calls what the function makes of the model. Raises ConfigurationError when no case
can be run."""


@dataclass(frozen=True, slots=True)
class Trials:
    """The trials of one workspace. `run_case` is None in a process that has no evaluations."""

    deps: RunDeps
    run_case: RunCase | None

    async def compare(
        self,
        request: Request,
        cases: Sequence[TrialCase],
        before: Variant,
        after: Variant,
    ) -> list[Comparison]:
        """Run each case with both variants, on the budget of whoever sent `request`.

        Raises NotTried, also when the budget is used up.
        """
        await self._record(request, AuditKind.ASKED)
        try:
            comparisons = await self._compared(request, cases, before, after)
        except NotTried:
            await self._record(request, AuditKind.ENDED, ok=False)
            raise
        costs = [comparison.cost for comparison in comparisons]
        cost = None if None in costs else sum(filter(None, costs))
        await self._record(request, AuditKind.ENDED, cost=cost)
        return comparisons

    async def _compared(
        self,
        request: Request,
        cases: Sequence[TrialCase],
        before: Variant,
        after: Variant,
    ) -> list[Comparison]:
        deps, run_id = self.deps, new_id("run")
        if self.run_case is None:
            raise NotTried(NO_EVALUATIONS())
        place = await deps.channels.of(request.team, request.channel)
        name = deps.models.models(deps.models.first_of(before.settings.model)).names[0]
        comparisons, pins = [], deps.stores.mcp
        spending = Run.of_job(deps, request, place, run_id).spending
        async with spending:
            if not await spending.admits(name):
                raise NotTried(spending.refusal().note)
            try:
                for case in cases:
                    first = second = _bounded(
                        await self.run_case(pins, case, before, spending.model)
                    )
                    if after != before:
                        second = _bounded(await self.run_case(pins, case, after, spending.model))
                    comparisons.append(Comparison(case, first, second))
            except CallRefused as refused:
                raise NotTried(str(refused)) from None
            except ConfigurationError as error:
                raise NotTried(NO_TRIALS(why=error)) from None
        return comparisons

    async def _record(self, request: Request, kind: AuditKind, **more: Any) -> None:
        what = request.job.kind if request.job else "trial"
        await self.deps.stores.audit.append([request_entry(request, kind, what, **more)])


def _fact(line: str) -> dict[str, Any]:
    if not _FIGURE.fullmatch(line):
        return {"text": line}
    value = float(re.sub(r"[^\d.]", "", line))
    return {"number": -value if line[0] in "-−" else value}


def _bounded(run: CaseRun) -> CaseRun:
    reasons = tuple(reason[:_MAX_REASON] for reason in run.reasons[:_MAX_REASONS])
    return CaseRun(reasons, run.said[:_MAX_SAID], run.cost)
