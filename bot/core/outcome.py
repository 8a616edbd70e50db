"""Outcomes: how a run ended."""

from __future__ import annotations

from collections.abc import Callable
from enum import Enum, StrEnum
from typing import Any

from pydantic import BaseModel, ConfigDict

from bot.core.answers import RESPONSE_TYPES, Chart
from bot.core.budgets import OverBudget
from bot.core.errors import ModelErrorKind
from bot.library.tracing.findings import Findings
from bot.text.redaction import each_text


class RunStatus(StrEnum):
    """How complete a run's answer is: whole, partial, none, or stopped by a person."""

    SUCCESS = "success"
    PARTIAL = "partial"
    FAILED = "failed"
    CANCELLED = "cancelled"


class StopReason(StrEnum):
    """Why a run ended."""

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
    REQUEUED = "handed_back"
    REFUSED = "refused"
    CONTENT_FILTER = "content_filter"
    MODEL_ERROR = "model_error"
    PAUSED = "paused"  # an admin has paused the bot
    INTERNAL_ERROR = "internal_error"  # a bug in the bot, or workers that died repeatedly


class SilentReason(StrEnum):
    """Why a run posts nothing."""

    WITHDRAWN = "withdrawn"  # the question was deleted: the bot deletes its message as well
    SUPERSEDED = "superseded"  # the question was edited: another run takes over the message
    NOTHING = "nothing"  # a rule asked, and its run had nothing to say, or failed


class Totals(BaseModel):
    """The resources that a run used.

    Tokens are as billed by the model service. `cost` is in US dollars, None when the price of the
    model is unknown. `turns` includes turns that do not count against the limit. `tools` counts the
    successful calls of each tool; `tool_calls` also includes those that failed. `skills` says of each
    skill that it followed, by its name for people, where it is from. `effort` is the
    reasoning effort that somebody chose, if any, and `profile` the title of the profile that answered.
    `seconds` is the time from the arrival of the request to its end, without the time spent waiting
    for approvals.
    """

    model_config = ConfigDict(frozen=True)

    model: str = ""
    effort: str = ""
    profile: str = ""
    turns: int = 0
    tool_calls: int = 0
    tools: dict[str, int] = {}
    skills: dict[str, str] = {}
    input_tokens: int = 0
    cached_tokens: int = 0
    output_tokens: int = 0
    cost: float | None = None
    seconds: float = 0.0


class Rehearsal(BaseModel):
    """A call that a dry run did not make. `title` is its one-line summary for people."""

    model_config = ConfigDict(frozen=True)

    tool: str
    title: str
    arguments: dict[str, Any] = {}


class SourcePlace(BaseModel):
    """The place in a source that an answer rests on: its name, such as "page 3", and an address that
    opens it; "" for what it has not."""

    model_config = ConfigDict(frozen=True)

    url: str = ""
    name: str = ""


class Trust(BaseModel):
    """How far readers may trust a result, in the asker's language.

    - `line`: where its figures come from. `has_figures`: some come from results or sources.
    - `warnings`: sentences about what is surely wrong in it.
    - `places`: the places in its sources, by their numbers from 0.
    """

    model_config = ConfigDict(frozen=True)

    line: str = ""
    warnings: tuple[str, ...] = ()
    has_figures: bool = False
    places: dict[int, SourcePlace] = {}


class Outcome(BaseModel):
    """The end of a run, complete enough for any process to post it.

    - `response_type`, `result`: the name of the response type and a dump of its value, None when
      there is none. The type is the requested one, or `Answer` for text that does not fit it.
    - `error`: how the model service failed, if that ended the run.
    - `note`: a sentence for the asker: why the answer is partial or failed and what to do next, or
      a remark about a complete answer.
    - `found`, `draft`, `called_off`: for a run that somebody stopped, its steps with their results,
      the beginning of the answer, and the calls that were waiting for approval.
    - `silent`: why nothing is posted, if so. `stopped_by`: the user who stopped the run, if any.
    - `links`: URLs that the answer may contain as links, because a person or a tool supplied them.
    - `charts`: charts by the handles that the result names.
    - `changed`: the run changed something that cannot be undone, or people decided about such a
      call; answering again would repeat it.
    - `rehearsed`: the calls that a dry run would have made, in order.
    - `over`: the budget that ended the run, shown to people who may raise it.
    - `accounts`: the personal accounts that the run used, as people call the servers.
      `unconnected`: names of the servers whose accounts a scheduled run lacked.
    - `warnings`: sentences about budgets that are nearly used up.
    - `trust`: what readers are told below the result, and of its sources.
    - `traced`: where the figures and quotes of the result come from, None if it was not traced.
      Readers may look at it with `traced_shown`.
    - `refreshable`: a figure comes from a call that may be made again without the model.
    - `locale`: the locale of the answer, in which its message is written, whenever it is drawn.
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
    silent: SilentReason | None = None
    stopped_by: str = ""
    draft: str = ""
    called_off: tuple[str, ...] = ()
    totals: Totals = Totals()
    links: frozenset[str] = frozenset()
    charts: dict[str, Chart] = {}
    changed: bool = False
    rehearsed: tuple[Rehearsal, ...] = ()
    over: OverBudget | None = None
    accounts: tuple[str, ...] = ()
    unconnected: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    trust: Trust = Trust()
    traced: Findings | None = None
    traced_shown: bool = False
    refreshable: bool = False
    locale: str = ""

    def map_texts(self, change: Callable[[str], str]) -> Outcome:
        """Return the outcome with `change` applied to every text in it, those of new fields too.

        The ids of the run and of people and the name of the response type are no texts. The names
        of a result's fields are, where its schema allows any.
        """
        changes = {name: _mapped(value, change) for name, value in self if name not in _IDS}
        if self.response_type in RESPONSE_TYPES:
            changes["result"] = each_text(self.result, change)
        return self.model_copy(update=changes)


_IDS = frozenset({"run_id", "response_type", "stopped_by", "locale"})


def _mapped(value: Any, change: Callable[[str], str]) -> Any:
    match value:
        case Enum():
            return value
        case str():
            return change(value)
        case BaseModel():
            return value.model_copy(update={name: _mapped(part, change) for name, part in value})
        case list() | tuple() | frozenset():
            return type(value)(_mapped(item, change) for item in value)
        case dict():
            return {_mapped(key, change): _mapped(item, change) for key, item in value.items()}
        case _:
            return value
