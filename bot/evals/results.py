"""Results of an evaluation, as saved and compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.core.errors import ConfigurationError
from bot.core.findings import FigureCounts
from bot.core.outcome import RunStatus, StopReason, Totals


class CaseResult(BaseModel):
    """One run of one case, passed when `reasons` is empty.

    `tools` are the tools that were called, in order; `said` is the result as Markdown. Of the
    `claims` of the result (figures, dates, ids, addresses and quotes), `untraced` are those that do
    not occur in what the run read and do not follow from it. `figures` says where the others come
    from.
    """

    model_config = ConfigDict(frozen=True)

    case: str
    reasons: tuple[str, ...]
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
    """All runs of all cases with one model, in the order of the cases."""

    model_config = ConfigDict(frozen=True)

    version: int = 1
    model: str
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    results: tuple[CaseResult, ...]

    def by_case(self) -> Mapping[str, CaseSummary]:
        """Return the runs of each case by its name."""
        grouped = groupby(self.results, key=lambda each: each.case)
        return {name: CaseSummary(tuple(runs)) for name, runs in grouped}

    @property
    def passed(self) -> bool:
        return all(each.passed for each in self.results)

    @property
    def figures(self) -> FigureCounts:
        """Where the figures of all answers come from."""
        return sum((each.figures for each in self.results), FigureCounts())

    def worse_than(self, before: Evaluation) -> list[str]:
        """Return the names of cases that passed a larger share of their runs in `before`."""
        was = before.by_case()
        now = self.by_case()
        return [name for name, each in now.items() if name in was and each.share < was[name].share]


class CaseSummary:
    """The runs of one case. Figures are means; `claims` and `untraced` are sums of all runs."""

    def __init__(self, runs: Sequence[CaseResult]) -> None:
        self.runs = runs
        count = len(runs)
        totals = [each.totals for each in runs]
        self.passed = sum(each.passed for each in runs)
        self.share = self.passed / count
        self.turns = sum(each.turns for each in totals) / count
        self.tool_calls = sum(each.tool_calls for each in totals) / count
        self.tokens = sum(each.input_tokens + each.output_tokens for each in totals) / count
        self.seconds = sum(each.seconds for each in totals) / count
        self.claims = sum(each.claims for each in runs)
        self.untraced = sum(len(each.untraced) for each in runs)
        costs = [each.cost for each in totals]
        self.cost = None if None in costs else sum(each or 0.0 for each in costs) / count

    @property
    def why(self) -> str:
        """All reasons for failures, each once."""
        return "; ".join(dict.fromkeys(reason for each in self.runs for reason in each.reasons))


def read_evaluation(file: Path) -> Evaluation:
    """Read the output of `bot eval --json` or `--save`. Raises ConfigurationError."""
    try:
        return Evaluation.model_validate_json(file.read_bytes())
    except OSError as error:
        raise ConfigurationError(f"{file}: {error.strerror}.") from None
    except ValidationError:
        raise ConfigurationError(f"{file}: this is not a saved evaluation.") from None
