"""Faults to order: `fail(kind)` spoils the next matching request instead of asking the brain.

Kinds that answer with an HTTP error: an HTTP status, or a name of `REFUSALS`; with
`where="after_created"` or `"mid_stream"` they come as a nested error event inside the stream.
Kinds that spoil a stream: `in_stream_error_flat`, `in_stream_error_nested`, `response_failed`,
`cut` (connection reset), `clean_eof`, `half_event`, `bad_json`, `no_terminal`, `trickle`, `hang`.
`content_filter` is an incomplete response. A plain request meets the same trouble in its body.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from . import errors
from .replies import Reply, calls, incomplete, reasoning
from .request import ModelRequest

Where = Literal["before", "after_created", "mid_stream"]

STREAM_KINDS = {
    "in_stream_error_flat", "in_stream_error_nested", "response_failed", "cut", "clean_eof",
    "half_event", "bad_json", "no_terminal", "trickle", "hang",
}  # fmt: skip
REFUSALS: dict[str, Callable[[ModelRequest, Fault], errors.ApiError]] = {
    "server_error": lambda _, __: errors.server_error(),
    "overloaded": lambda _, __: errors.server_error(503),
    "rate_limit": lambda request, fault: errors.rate_limit(request.model, fault.retry_after),
    "request_too_large": lambda request, _: errors.request_too_large(request.model),
    "quota": lambda _, __: errors.quota(),
    "context_length": lambda _, __: errors.context_length(),
    "invalid_prompt": lambda _, __: errors.invalid_prompt(),
    "model_not_found": lambda request, _: errors.model_not_found(request.model),
    "zero_data_retention": lambda _, __: errors.zero_data_retention(),
    "missing_parent_once": lambda request, _: errors.parent_not_found(
        request.body["previous_response_id"]
    ),
}
BY_STATUS = {
    400: "invalid_prompt", 401: "wrong_key", 429: "rate_limit", 500: "server_error",
    503: "overloaded",
}  # fmt: skip
NEEDS_PARENT = {"missing_parent_once", "zero_data_retention"}
HALF_SAID = reasoning(
    "Thinking about what will be lost",
    calls(("never_called", {"words": "This argument is cut off before its end."})),
)


@dataclass
class Fault:
    """One order: what goes wrong, how often, and at which point of the answer.

    `skip` requests pass unharmed before it; `retry_after` is in seconds; `saying` is what a spoilt
    stream was about to say.
    """

    kind: str
    times: int
    where: Where
    skip: int
    retry_after: float
    saying: Reply

    def refusal(self, request: ModelRequest) -> errors.ApiError:
        """The error this fault answers with."""
        if self.kind in REFUSALS:
            return REFUSALS[self.kind](request, self)
        if self.kind == "wrong_key":
            return errors.wrong_key("sk-no-longer-valid")
        return errors.server_error(int(self.kind) if self.kind.isdigit() else 500)


class Faults:
    """The orders that still stand, in the order in which they were given."""

    def __init__(self) -> None:
        self._orders: list[Fault] = []

    def fail(
        self,
        kind: str | int,
        times: int = 1,
        where: Where | None = None,
        *,
        skip: int = 0,
        retry_after: float = 0.01,
        saying: Reply | None = None,
    ) -> None:
        """Order a fault. Raises `ValueError` for an unknown kind."""
        name = BY_STATUS.get(kind, str(kind)) if isinstance(kind, int) else kind
        known = name in STREAM_KINDS or name in REFUSALS or name in ("content_filter", "wrong_key")
        if not known and not isinstance(kind, int):
            raise ValueError(f"unknown kind of fault: {kind}")
        place: Where = where or ("mid_stream" if name in STREAM_KINDS else "before")
        if name == "content_filter":
            saying = incomplete("content_filter", "This was going to be")
        self._orders.append(Fault(name, times, place, skip, retry_after, saying or HALF_SAID))

    def take(self, request: ModelRequest) -> Fault | None:
        """The fault that this request meets, if any."""
        for order in self._orders:
            if order.kind in NEEDS_PARENT and not request.body.get("previous_response_id"):
                continue
            if order.skip:
                order.skip -= 1
                continue
            order.times -= 1
            if order.times <= 0:
                self._orders.remove(order)
            return order
        return None

    @property
    def left(self) -> int:
        """Faults ordered and not met yet."""
        return sum(order.times for order in self._orders)

    def clear(self) -> None:
        """Withdraw every order."""
        self._orders.clear()
