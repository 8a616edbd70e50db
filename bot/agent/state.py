"""The state of a run, which survives a crash, a pause and a move to another worker."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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
    """Why the loop continues with another turn."""

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
    """A response whose calls are not all answered yet; only its complete part if it was cut.

    `outputs` answer its finished calls. `begun` are the ids of mutating calls that were started, so
    that none is started twice.
    """

    model_config = ConfigDict(frozen=True)

    response: Annotated[ModelResponse, AfterValidator(complete_part)]
    outputs: tuple[CallOutput, ...] = ()
    begun: tuple[str, ...] = ()


class Failure(BaseModel):
    """A failure of the model service, with the fields of its `ModelError`."""

    model_config = ConfigDict(frozen=True)

    kind: ModelErrorKind
    message: str
    request_id: str | None = None
    detail: str = ""
    said: str = ""


class Ending(BaseModel):
    """The ending of a run, saved with the save point that decides it, so that it is decided once.

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


class SentBack(BaseModel):
    """A valid result that a stop hook sent back, as JSON of the class named `response_type`."""

    model_config = ConfigDict(frozen=True)

    response_type: str
    result: str


class LoopState(BaseModel):
    """All state of a run; any worker can resume from it.

    It is stored: a field keeps its name and meaning, a new field has a default, and `version` grows
    when an old form needs a conversion. `conversation` and `new_items` alone are not stored: the
    ledger holds them, and a resumed run reads them from there. A renamed field keeps its stored name
    as its alias.

    `parent` and `pending` are the chain: the last response whose calls are all answered by
    `pending`, and the items that the next request sends. They are valid together at every instant.
    """

    model_config = ConfigDict(frozen=True, validate_by_name=True, serialize_by_alias=True)

    version: int = _VERSION
    transition: Transition = Transition.STARTED
    turn: int = 0
    sent_back: int = 0  # results that hooks refused; they cost no turn
    best: SentBack | None = None  # the best of these results: a run without another ends with it
    parent: str | None = None
    pending: tuple[Item, ...] = ()
    acquired: tuple[str, ...] = ()
    # What is acquired whose text the chain has, with its digest ("" if the text had no room).
    noted: dict[str, str] = {}
    links: tuple[str, ...] = ()  # addresses from tools, which the answer may link to
    usage: Usage = Usage()
    last_usage: Usage = Usage()
    cost: float | None = 0.0  # US dollars; None when a price is not known
    tool_calls: int = 0
    malformed: int = 0  # malformed responses in a row
    failed_turns: int = 0  # turns in a row in which every call failed
    warned: bool = False  # the model was told that a limit is near
    force_finish: bool = False
    closing: StopReason | None = None  # the guard that tripped: the next call is the last
    fallback: int = 0  # models given up
    choice: str = ""  # name of the model choice that the run began with; "" is the configured model
    task: Item | None = None  # the current request
    restart: str = ""  # the model's checkpoint, with which the next chain begins
    # Whether a checkpoint was offered with the last request.
    checkpoint_offered: bool = Field(
        default=False, validation_alias="went_on", serialization_alias="went_on"
    )
    overflowed: bool = False  # compaction after an overflow was tried; it is tried once
    parent_missed: bool = False  # a missing parent was asked for again; that is done once
    open: OpenResponse | None = None  # the response whose calls are running
    done: tuple[Step, ...] = ()  # calls that succeeded
    rehearsed: tuple[Rehearsal, ...] = ()  # calls that a dry run left out
    unknown: tuple[Step, ...] = ()  # changes whose outcome nobody knows
    nudges: int = 0  # texts in a row that were pointed to complete_task
    first_text: str = ""  # the first of these texts
    continued: int = 0  # responses in a row that reached the output limit
    compacted: bool = (
        False  # the conversation was compacted and has not been measured as short since
    )
    hooks: dict[str, Any] = {}  # what hooks remember, by the name of the hook
    elapsed: float = 0.0  # seconds that workers spent on the run until the last save point
    ending: Ending | None = None  # set when the run is over and only has to be reported
    stateless: bool = False  # each request carries the conversation: the service stores nothing
    # In stateless mode what the next request sends, with the calls of `open`; else empty.
    conversation: tuple[Item, ...] = Field(default=(), exclude=True, repr=False)
    # What the run has added to the conversation, in order.
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
        """Whether a worker has worked on the run; if not, its state holds only the request."""
        return bool(self.elapsed or self.turn)

    def go(self, transition: Transition, **changes: Any) -> LoopState:
        """Return the next state, with `transition` as the reason."""
        return self.replace(transition=transition, **changes)

    def replace(self, **changes: Any) -> LoopState:
        """Return the state with some fields changed, for the same reason."""
        return self.model_copy(update=changes)


def without_left_out(noted: Mapping[str, str], names: Collection[str]) -> dict[str, str]:
    """Return `noted` of a state after what is acquired under `names` was asked for: texts of it that
    had no room are wanted now."""
    return {name: digest for name, digest in noted.items() if digest or name not in names}
