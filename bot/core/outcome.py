"""How a run ended (C7, C8)."""

from __future__ import annotations

from enum import StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.answers import Chart
from bot.core.budgets import OverBudget
from bot.core.errors import ModelErrorKind


class RunStatus(StrEnum):
    """What a person is told: all of it, part of it, nothing, or stopped by them."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StopReason(StrEnum):
    """Every way out of a run."""

    COMPLETED = "completed"
    MAX_TURNS = "max_turns"
    TOKEN_BUDGET = "token_budget"  # noqa: S105 - a budget of tokens, not a secret
    DIMINISHING_RETURNS = "diminishing_returns"
    COST_BUDGET = "cost_budget"
    RUN_TIMEOUT = "run_timeout"
    TURN_TIMEOUT = "turn_timeout"
    CONTEXT_FULL = "context_full"
    PROMPT_TOO_LONG = "prompt_too_long"
    TOOL_ERRORS = "tool_errors"
    MALFORMED_OUTPUT = "malformed_output"
    STOP_HOOK = "stop_hook"
    CANCELLED_STREAMING = "cancelled_streaming"
    CANCELLED_TOOLS = "cancelled_tools"
    HANDED_BACK = "handed_back"
    REFUSED = "refused"
    CONTENT_FILTER = "content_filter"
    MODEL_ERROR = "model_error"
    PAUSED = "paused"  # an admin has paused the bot
    INTERNAL_ERROR = "internal_error"  # a bug of ours, or a worker that died again and again


class Silence(StrEnum):
    """Why a run that was stopped posts nothing."""

    WITHDRAWN = "withdrawn"  # the question was deleted: its message goes as well
    SUPERSEDED = "superseded"  # the question was edited: another run takes its message over


class Totals(BaseModel):
    """What a run took. Tokens as the model service bills them; `cost` in US dollars, None when
    the model's price is unknown; `turns` are all that were taken, those that cost none (H4) too;
    `seconds` from the request's arrival to its end, without
    those in which people had to decide."""

    model_config = ConfigDict(frozen=True)

    model: str = ""
    turns: int = 0
    tool_calls: int = 0
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class Rehearsal(BaseModel):
    """A call that a dry run left out. `title` is its one-line summary for people."""

    model_config = ConfigDict(frozen=True)

    tool: str
    title: str
    arguments: dict[str, Any] = {}


class Outcome(BaseModel):
    """The end of a run, complete enough to be posted by any process.

    `result` is a dump of the response type named by `response_type`, None when there is none. That
    is the type asked for, or `Answer` for words that do not fit into it.
    `error` says how the model service failed, if that ended the run.
    `note` is a clear sentence for the person: why it is partial or failed and what to do next,
    or what there is to say of a whole answer.
    `silent` says why nothing is posted of it, `stopped_by` which person stopped it, if one did.
    `found` are the steps of a run that somebody stopped, with what came out of each, and `draft` the
    beginning of the answer it was writing; `called_off` is what waited for a yes then.
    `links` are the addresses that may be posted as links: those that people or tools brought in.
    `charts` maps the handles named in the result to what they show.
    `changed` means that what cannot be taken back was done, or that people decided about it: to
    answer anew would do it again. `rehearsed` is what a dry run would have done, in order.
    `over` is the budget that ended the run, for who may raise it; `warnings` are sentences about
    budgets that are nearly used up.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    run_id: str
    status: RunStatus
    stop_reason: StopReason
    response_type: str = "Answer"
    error: ModelErrorKind | None = None
    result: dict[str, Any] | None = None
    note: str = ""
    found: tuple[str, ...] = ()
    silent: Silence | None = None
    stopped_by: str = ""
    draft: str = ""
    called_off: tuple[str, ...] = ()
    totals: Totals = Totals()
    links: frozenset[str] = frozenset()
    charts: dict[str, Chart] = {}
    changed: bool = False
    rehearsed: tuple[Rehearsal, ...] = ()
    over: OverBudget | None = None
    warnings: tuple[str, ...] = ()
