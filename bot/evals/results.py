"""Results of an evaluation: the verdict on each run, saved and compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from fnmatch import fnmatchcase
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.core.answers import GIVEN
from bot.core.errors import ConfigurationError
from bot.core.outcome import Outcome, RunStatus, StopReason, Totals
from bot.evals.cases import Case
from bot.library.tracing.findings import FigureCounts
from bot.runs.results.result_markdown import result_text


def reasons(case: Case, outcome: Outcome, used: Sequence[str], begun: Sequence[str]) -> list[str]:
    """Return why the run fails its case; empty when it passes.

    `used` are the tools that succeeded, `begun` all tools that were called.
    """
    ended = list(_ending(case, outcome))
    if ended and outcome.result is None:  # everything else follows from that
        return ended
    return [*ended, *_tools(case, used, begun), *_words(case, outcome)]


def _ending(case: Case, outcome: Outcome) -> Iterator[str]:
    cut = case.bounded and outcome.stop_reason is StopReason.STOP_HOOK
    if outcome.status is not case.expect.status and not cut:
        note = f" ({outcome.note})" if outcome.note else ""
        yield f"ended {outcome.status}: {outcome.stop_reason}{note}"
    response_type = GIVEN if case.response_schema is not None else case.response
    if outcome.result is not None and outcome.response_type != response_type:
        yield f"returned {outcome.response_type}, not {response_type}"


def _tools(case: Case, used: Sequence[str], begun: Sequence[str]) -> Iterator[str]:
    for wanted in case.expect.used:
        names = (wanted,) if isinstance(wanted, str) else wanted
        if not any(fnmatchcase(tool, name) for name in names for tool in used):
            yield f"did not use {' or '.join(names)}"
    for name in case.expect.not_used:
        if wrong := sorted({tool for tool in begun if fnmatchcase(tool, name)}):
            yield f"used {', '.join(wrong)}"


def _words(case: Case, outcome: Outcome) -> Iterator[str]:
    text = result_text(outcome) if outcome.result is not None else outcome.note
    for fact in case.expect.facts:
        if not fact.is_in(text):
            yield f"does not say {fact}"
    for fact in case.expect.absent:
        if fact.is_in(text):
            yield f"says {fact}"
    sources = (outcome.result or {}).get("sources") or []
    cited = " ".join(f"{source['title']} {source['url']}" for source in sources).casefold()
    for title in case.expect.cites:
        if title.casefold() not in cited:
            yield f"does not cite {title}"


class CaseResult(BaseModel):
    """One run of one case, passed when `reasons` is empty. The case passes if a `share` of its runs does.

    `tools` are the tools that were called, in order, after the skills ("skill refunds"); `said` is the result as Markdown. Of the
    `claims` of the result (figures, dates, ids, addresses and quotes), `untraced` are those that do
    not occur in what the run read and do not follow from it. `figures` says where the others come
    from.
    """

    model_config = ConfigDict(frozen=True)

    case: str
    reasons: tuple[str, ...]
    share: float = 1.0
    status: RunStatus
    stop_reason: StopReason
    tools: tuple[str, ...] = ()
    totals: Totals = Totals()
    said: str = ""
    claims: int = 0
    untraced: tuple[str, ...] = ()
    figures: FigureCounts = FigureCounts()

    @property
    def passed(self) -> bool:
        return not self.reasons


class Evaluation(BaseModel):
    """All runs of all cases with one model, in the order of the cases; `without` a tool or skill."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    model: str
    without: str = ""
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    results: tuple[CaseResult, ...]

    def by_case(self) -> Mapping[str, CaseSummary]:
        """Return the runs of each case by its name."""
        grouped = groupby(self.results, key=lambda each: each.case)
        return {name: CaseSummary(tuple(runs)) for name, runs in grouped}

    @property
    def passed(self) -> bool:
        return all(case.is_passed for case in self.by_case().values())

    @property
    def figures(self) -> FigureCounts:
        """Where the figures of all answers come from."""
        return sum((result.figures for result in self.results), FigureCounts())

    def worse_than(self, before: Evaluation) -> list[str]:
        """Return the names of cases that passed a larger share of their runs in `before`."""
        was = before.by_case()
        now = self.by_case()
        return [name for name, case in now.items() if name in was and case.share < was[name].share]


class CaseSummary:
    """The runs of one case. Figures are means; `claims` and `untraced` are sums of all runs."""

    def __init__(self, runs: Sequence[CaseResult]) -> None:
        self.runs = runs
        count = len(runs)
        totals = [run.totals for run in runs]
        self.passed = sum(run.passed for run in runs)
        self.share = self.passed / count
        self.is_passed = self.share >= runs[0].share
        self.turns = sum(total.turns for total in totals) / count
        self.tool_calls = sum(total.tool_calls for total in totals) / count
        self.tokens = sum(total.input_tokens + total.output_tokens for total in totals) / count
        self.seconds = sum(total.seconds for total in totals) / count
        self.claims = sum(run.claims for run in runs)
        self.untraced = sum(len(run.untraced) for run in runs)
        costs = [total.cost for total in totals]
        self.cost = None if None in costs else sum(cost or 0.0 for cost in costs) / count

    @property
    def why(self) -> str:
        """All reasons for failures, each once."""
        return "; ".join(dict.fromkeys(reason for run in self.runs for reason in run.reasons))


def read_evaluation(file: Path) -> Evaluation:
    """Read the output of `bot eval --json` or `--save`. Raises ConfigurationError."""
    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}.") from None
    except ValidationError:
        raise ConfigurationError(f"{file}: this is not a saved evaluation.") from None
