"""Faults that a test orders: `fail(kind)` spoils the next matching request.

Kinds that answer with an HTTP error: an HTTP status, or a name of `REFUSALS`; with
`where="after_created"` or `"mid_stream"` they come as a nested error event inside the stream. Kinds
that spoil a stream: `in_stream_error_flat`, `in_stream_error_nested`, `response_failed`, `cut`
(connection reset), `clean_eof`, `half_event`, `bad_json`, `no_terminal`, `trickle`, `hang`.
`content_filter` is an incomplete response. A request without a stream gets the same fault in its
body.
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
UNFINISHED_REPLY = reasoning(
    "Thinking about what will be lost",
    calls(("never_called", {"words": "This argument is cut off before its end."})),
)


@dataclass
class Fault:
    """An ordered fault: its kind, how often it happens, and at which point of the answer.

    `skip` requests pass before it; `retry_after` is in seconds; `saying` is the text of the spoiled
    stream.
    """

    kind: str
    times: int
    where: Where
    skip: int
    retry_after: float
    saying: Reply

    def refusal(self, request: ModelRequest) -> errors.ApiError:
        """Return the error that this fault answers with."""
        if self.kind in REFUSALS:
            return REFUSALS[self.kind](request, self)
        if self.kind == "wrong_key":
            return errors.wrong_key("sk-no-longer-valid")
        return errors.server_error(int(self.kind) if self.kind.isdigit() else 500)


class Faults:
    """The faults that have not happened yet, in the order in which they were ordered."""

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
        """Order a fault. Raises ValueError for an unknown kind."""
        name = BY_STATUS.get(kind, str(kind)) if isinstance(kind, int) else kind
        known = name in STREAM_KINDS or name in REFUSALS or name in ("content_filter", "wrong_key")
        if not known and not isinstance(kind, int):
            raise ValueError(f"unknown kind of fault: {kind}")
        point: Where = where or ("mid_stream" if name in STREAM_KINDS else "before")
        if name == "content_filter":
            saying = incomplete("content_filter", "This was going to be")
        self._orders.append(
            Fault(name, times, point, skip, retry_after, saying or UNFINISHED_REPLY)
        )

    def take(self, request: ModelRequest) -> Fault | None:
        """Return the fault for this request, if any, and count it."""
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
        """How many ordered faults have not happened yet."""
        return sum(order.times for order in self._orders)

    def clear(self) -> None:
        """Withdraw all faults."""
        self._orders.clear()
