"""`LoopState`: all of a run that survives a crash, a pause or a hand-back."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum
from typing import Annotated, Any

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from bot.agent.calls.outputs import CallOutput, Step
from bot.agent.window import complete_part
from bot.core.chain import Item, Usage
from bot.core.errors import ModelErrorKind
from bot.core.outcome import Rehearsal, RunStatus, StopReason
from bot.model.types import ModelResponse

_VERSION = 2

FOR_THREAD = "thread"
"""Under this key a hook keeps what goes on to the next run of the thread."""


class Transition(StrEnum):
    """Why the loop goes round again."""

    STARTED = "started"
    TOOLS_ANSWERED = "tools_answered"
    FINAL_REJECTED = "final_rejected"  # complete_task did not validate
    NUDGED = "nudged"  # text without calls: pointed to complete_task
    FORCED = "forced"  # text again: complete_task is forced
    MALFORMED = "malformed"  # neither text nor calls, or nothing whole before the output limit
    CONTINUED = "continued"  # cut at the output limit: what was whole is kept
    BLOCKED = "blocked"  # a stop hook sent the result back
    CLOSING = "closing"  # a guard tripped: one last call
    REBUILT = "rebuilt"  # the service lost the chain: a fresh one from our ledger
    COMPACTED = "compacted"  # a fresh, shorter chain
    CHECKPOINTED = "checkpointed"  # a fresh chain with what the model itself wrote down
    PARENT_MISSED = "parent_missed"  # the service does not find the chain: asked once more
    FELL_BACK = "fell_back"  # the next model of the list
    TOLD_MORE = "told_more"  # a hook had something to say before the call


class OpenResponse(BaseModel):
    """The response that a resumed run goes on with; the whole part of one that was cut.

    `outputs` answer those of its calls that are done; `begun` are ids of calls that change
    something and were started, so that none is started twice.
    """

    model_config = ConfigDict(frozen=True)

    response: Annotated[ModelResponse, AfterValidator(complete_part)]
    outputs: tuple[CallOutput, ...] = ()
    begun: tuple[str, ...] = ()


class Failure(BaseModel):
    """How the model service failed, as a `ModelError` says it."""

    model_config = ConfigDict(frozen=True)

    kind: ModelErrorKind
    message: str
    request_id: str | None = None
    detail: str = ""


class Ending(BaseModel):
    """How a run ends, kept in the save point that decides it, so that it is decided once.

    `result` is JSON of the class named `response_type`; both are empty when there is no result.
    `draft` is the beginning of the result that the model was writing when a person pressed Stop.
    """

    model_config = ConfigDict(frozen=True)

    reason: StopReason
    status: RunStatus
    response_type: str = ""
    result: str = ""
    failure: Failure | None = None
    draft: str = ""


class LoopState(BaseModel):
    """Serialisable, so that any worker can go on from it. Stored: a field keeps its name and
    meaning, a new one has a default, and `version` grows when an old form needs a conversion.
    Only `conversation` and `new_items` are not stored: they are read from the ledger when a run is
    resumed. The first is what a stateless request sends, and empty on a chain; the second is what the
    run has added to the conversation.

    `parent` and `pending` are the chain: the last response whose calls are all answered by
    `pending`, and what the next request sends. They are valid together at every instant.
    `sent_back` counts the results that hooks did not take, which cost no turn.
    `closing` is set once a guard has tripped: the next call is the last. `malformed` and
    `failed_turns` count consecutive trouble. `links` are addresses that tools brought in.
    `fallback` counts the models given up. `overflowed` and `parent_missed` are set once the remedy
    was used, so that it is not tried for ever. `task` is the current request. `restart` is
    what the next chain is to begin with beside it, when the model wants a fresh one; `went_on` is
    set when it could have had one and did not want it. `open` is the response that is being
    worked on, if any.

    `done` are the calls that went well, `rehearsed` those that a dry run left out, `unknown` the
    changes of which nobody knows whether they were made. `nudges` counts texts in a row that were
    pointed to `complete_task`, and `first_text` is the first of them. `continued` counts responses in a
    row that reached the output limit. `compacted` is set once the conversation was shortened
    and it is not known to be short since. `hooks` holds what hooks must remember, by their
    names. `elapsed` is the time in seconds that workers have spent on the run, up to the last save
    point. `ending` is set when the run is over: nothing is done from there on but to report it.
    """

    model_config = ConfigDict(frozen=True)

    version: int = _VERSION
    transition: Transition = Transition.STARTED
    turn: int = 0
    sent_back: int = 0
    parent: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    links: tuple[str, ...] = ()
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    cost: float | None = 0.0
    tool_calls: int = 0
    malformed: int = 0
    failed_turns: int = 0
    warned: bool = False
    force_finish: bool = False
    closing: StopReason | None = None
    fallback: int = 0
    task: Item | None = None
    restart: str = ""
    went_on: bool = False
    overflowed: bool = False
    parent_missed: bool = False
    open: OpenResponse | None = None
    done: tuple[Step, ...] = ()
    rehearsed: tuple[Rehearsal, ...] = ()
    unknown: tuple[Step, ...] = ()
    nudges: int = 0
    first_text: str = ""
    continued: int = 0
    compacted: bool = False
    hooks: dict[str, Any] = {}
    elapsed: float = 0.0
    ending: Ending | None = None
    conversation: tuple[Item, ...] = Field(default=(), exclude=True, repr=False)
    new_items: tuple[Item, ...] = Field(default=(), exclude=True, repr=False)

    @model_validator(mode="before")
    @classmethod
    def _read_older_form(cls, stored: Any) -> Any:
        """Convert version 1, which counted nudges by the transition alone. Raises ValueError for a
        version from the future."""
        if not isinstance(stored, Mapping):
            return stored
        version = stored.get("version", _VERSION)
        if version > _VERSION:
            raise ValueError(f"version {version} of a run's state is newer than this program")
        if version == _VERSION:
            return stored
        nudges = {"nudged": 1, "forced": 2}.get(str(stored.get("transition")), 0)
        return {**stored, "version": _VERSION, "nudges": nudges}

    @property
    def has_begun(self) -> bool:
        """Return whether a worker has begun with the run; else it holds no more than the request."""
        return bool(self.elapsed or self.turn)

    def go(self, transition: Transition, **changes: Any) -> LoopState:
        """Return the next state, with `transition` as the reason."""
        return self.replace(transition=transition, **changes)

    def replace(self, **changes: Any) -> LoopState:
        """Return the state with some fields changed, for the same reason."""
        return self.model_copy(update=changes)
