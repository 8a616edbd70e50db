"""The request that code is working for, visible from anywhere below the runner (D9)."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from bot.core.request import Request
from bot.core.text.mentions import Mention


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Bound by the runner; refined by the loop each turn and by dispatch for each call.

    `max_response_size` is in characters of tool output, `max_response_tokens` bounds the same in
    tokens (0: not bounded); `context_window` in tokens; `usage_ratio`
    is the share of the window in use (0–1); `deadline` is on the monotonic clock of the event
    loop, in seconds; `idempotency_key` is that of the tool call in progress, the same on a resume,
    `joined` are the requests that the run has taken in beside its own, and grows with them;
    `approved_by` is the user who said yes to it, "" when nobody was asked; `extra` is what operators
    configured for tools in this channel.
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
    dry_run: bool = False
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def requests(self) -> Sequence[Request]:
        """All that the run is to answer."""
        return (self.request, *self.joined)

    @property
    def mentioned(self) -> tuple[Mention, ...]:
        """Whom the person who asks mentioned."""
        return tuple(mention for each in self.requests for mention in each.mentioned)

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
    """The request being worked for. Raises LookupError outside a run: a bug of the caller."""
    return _current.get()


@contextmanager
def bound_request(context: RequestContext) -> Generator[RequestContext]:
    """Bind `context`; tasks and threads started inside see it. Resets on the way out."""
    token = _current.set(context)
    try:
        yield context
    finally:
        _current.reset(token)
