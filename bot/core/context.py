"""The request context: the request in progress, available to all code that a run calls."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from bot.core.approvals import ApprovalRecord
from bot.core.bound import Bound
from bot.core.chain import NO_USAGE, SavedArtifact, Usage
from bot.core.links import written_links
from bot.core.request import Request
from bot.text.mentions import Mention


@dataclass(frozen=True, slots=True)
class ArtifactUse:
    """The artifacts that a call has read, by handle, and has saved, each once and in order."""

    read: dict[str, None] = field(default_factory=dict)
    saved: dict[str, SavedArtifact] = field(default_factory=dict)


@dataclass(slots=True)
class CallCost:
    """What a tool call has spent at the model service; `cost` in dollars, None if a price is unknown."""

    usage: Usage = NO_USAGE
    cost: float | None = 0.0

    def add(self, usage: Usage, cost: float | None) -> None:
        """Count another call of the service."""
        self.usage += usage
        self.cost = None if cost is None or self.cost is None else self.cost + cost


@dataclass(frozen=True, slots=True)
class RequestContext:
    """The request in progress and the limits of its run.

    The runner binds it, the loop updates it for each turn, and dispatch for each tool call.

    - `joined`: other requests that the run also answers; the sequence grows during the run.
    - `max_response_size`, `max_response_tokens`: limits of a tool's output in characters and in
      tokens (0: no limit).
    - `context_window`: tokens; `usage_ratio` is the share of it in use (0–1).
    - `deadline`: seconds on the monotonic clock of the event loop.
    - `idempotency_key`: key of the tool call in progress; the same after a resume.
    - `approved_by`: the user who approved the call, "" when it needed no approval.
    - `answers`: what the call asked people before, with their decisions.
    - `accounts`: the personal accounts whose data the run may have read: names for people, by
      server; the mapping grows during the run.
    - `links`: addresses that tools returned to the run.
    - `extra`: settings that operators configured for tools in this channel.
    - `artifacts`: what the tool call in progress has read and saved; the artifacts' store notes it.
    - `spent`: what the tool call in progress has spent, which counts as the run's.
    """

    request: Request
    run_id: str
    joined: Sequence[Request] = ()
    max_response_size: int = 20_000
    max_response_tokens: int = 0
    context_window: int = 0
    usage_ratio: float = 0.0
    turns_left: int = 0
    model: str = ""
    temperature: float | None = None
    deadline: float = float("inf")
    idempotency_key: str = ""
    approved_by: str = ""
    answers: tuple[ApprovalRecord, ...] = ()
    dry_run: bool = False
    accounts: dict[str, str] = field(default_factory=dict)
    links: tuple[str, ...] = ()
    extra: Mapping[str, Any] = field(default_factory=dict)
    artifacts: ArtifactUse = field(default_factory=ArtifactUse)
    spent: CallCost = field(default_factory=CallCost)

    @property
    def is_personal(self) -> bool:
        """Whether others may read the answer, but not the asker's data that the run has read."""
        return bool(self.accounts) and not self.request.is_for_one

    @property
    def requests(self) -> Sequence[Request]:
        """All requests that the run answers, its own first."""
        return (self.request, *self.joined)

    @property
    def mentioned(self) -> tuple[Mention, ...]:
        """The people and channels that the askers mentioned."""
        return tuple(mention for each in self.requests for mention in each.mentioned)

    @property
    def permitted_links(self) -> frozenset[str]:
        """The addresses to which what the run writes may link."""
        return frozenset((*self.links, *written_links(*self.requests)))

    @property
    def request_id(self) -> str:
        return self.request.id

    @property
    def team(self) -> str:
        return self.request.team

    @property
    def channel(self) -> str:
        return self.request.channel

    @property
    def thread(self) -> str:
        return self.request.thread

    @property
    def user(self) -> str:
        return self.request.user


_current: ContextVar[RequestContext] = ContextVar("request_context")


def current_request() -> RequestContext:
    """Return the context of the request in progress. Raises LookupError outside a run."""
    return _current.get()


def bound_request(context: RequestContext) -> Bound[RequestContext]:
    """Bind `context` for the body. Tasks and threads that the body starts see it as well."""
    return Bound(_current, context)
