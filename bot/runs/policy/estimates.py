"""Estimates of what a call to a model will cost, made before the call."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from bot.core.budgets import Spent
from bot.core.chain import NO_USAGE, Item, Usage
from bot.model import ModelRequest, PriceList
from bot.store import Forecast

_RECENT_CALLS = 50  # calls
_UNSEEN_OUTPUT = 3_400  # tokens of output assumed before any call was seen
_BYTES_PER_TOKEN = 3  # low for most languages, so that tokens are rather overestimated
_IMAGE_BYTES = 6_000  # counted per image: the size of its data says nothing about its tokens


@dataclass(frozen=True)
class ExpectedCall:
    """A call to a model, by what is known before it is made.

    The call sends its `request` and continues a response that used `before`. With
    `is_warm` it continues a call of the same run, so that the service has probably cached its input.
    A call with a `price` is no response: `model` is then that of the run, and the price what the call
    is expected to cost.
    """

    model: str
    request: ModelRequest | None = None
    before: Usage = NO_USAGE
    is_warm: bool = False
    price: Spent | None = None

    @cached_property
    def new_tokens(self) -> int:
        """The tokens that the call itself sends."""
        if self.request is None:
            return 0
        size = sum(map(_size, self.request.input))
        if not self.request.previous_response_id:
            size += len(self.request.instructions.encode()) + len(str(self.request.tools).encode())
        return size // _BYTES_PER_TOKEN

    def usage(self, *, output_tokens: int, cached_tokens: int) -> Usage:
        """Return the usage of the call, given its output tokens and cached input tokens."""
        before = self.before.input_tokens + self.before.output_tokens
        return Usage(
            input_tokens=before + self.new_tokens,
            cached_tokens=cached_tokens if self.is_warm else 0,
            output_tokens=output_tokens,
        )


def expected_call(request: ModelRequest, before: Usage, *, is_warm: bool) -> ExpectedCall:
    """Return the expected call of `request`; `before` is the usage of the response it continues."""
    if not request.previous_response_id:
        before, is_warm = NO_USAGE, False
    return ExpectedCall(request.model, request, before, is_warm)


def _recent() -> deque[Any]:
    return deque(maxlen=_RECENT_CALLS)


@dataclass(frozen=True, slots=True)
class CallEstimates:
    """Estimates learned from the recent calls of this process.

    Spending is remembered per model, apart for warm and other calls, as most input of warm calls is
    cached; the length of outputs is remembered for all models together. `max_output_tokens` is the
    limit that calls send to the service, if any.
    """

    prices: PriceList
    max_output_tokens: int | None = None
    _outputs: deque[int] = field(default_factory=_recent)
    _spent: defaultdict[tuple[str, bool], deque[Spent]] = field(
        default_factory=lambda: defaultdict(_recent)
    )

    def learn(self, call: ExpectedCall, usage: Usage) -> Spent:
        """Remember the usage of a call. Return what it cost."""
        spent = self._priced(call, usage)
        self._spent[call.model, call.is_warm].append(spent)
        self._outputs.append(usage.output_tokens)
        return spent

    def forecast(self, call: ExpectedCall) -> Forecast:
        """Return what `call` is likely to cost, and at most.

        The likely cost is the highest of recent calls of its kind. The fewer calls were seen, the
        larger is the margin of the maximum above it.
        """
        same_kind, warm = (self._spent[call.model, is_warm] for is_warm in (call.is_warm, True))
        longest = max(self._outputs, default=_UNSEEN_OUTPUT)
        margin = 1.5 + 8 / max(len(self._outputs), 1)
        output = round(margin * longest)
        if self.max_output_tokens:
            output = min(output, self.max_output_tokens)
        estimate = self._estimate(call, longest, cached_tokens=call.before.input_tokens)
        likely = _maximum(same_kind) if same_kind else estimate
        most = self._estimate(call, output, cached_tokens=call.before.cached_tokens)
        last = _maximum(warm) if warm else likely
        if call.price:
            return Forecast(call.price, call.price, last)
        return Forecast(likely.times(margin).or_more(most), likely, last)

    def interrupted(self, call: ExpectedCall, output_bytes: int) -> Spent:
        """Return the estimated cost of a call that broke off after `output_bytes` bytes of output."""
        output = output_bytes // _BYTES_PER_TOKEN
        return self._estimate(call, output, cached_tokens=call.before.input_tokens)

    def _estimate(self, call: ExpectedCall, output_tokens: int, *, cached_tokens: int) -> Spent:
        return self._priced(
            call, call.usage(output_tokens=output_tokens, cached_tokens=cached_tokens)
        )

    def _priced(self, call: ExpectedCall, usage: Usage) -> Spent:
        return Spent.of(usage, self.prices.cost(call.model, usage))


def _maximum(each_spent: Collection[Spent]) -> Spent:
    return Spent(
        tokens=max(spent.tokens for spent in each_spent),
        nanodollars=max(spent.nanodollars for spent in each_spent),
    )


def _size(item: Item) -> int:
    """Return the size in bytes of an item as the model reads it."""
    content = item.get("content")
    parts = content if isinstance(content, list) else [item]
    images = [part for part in parts if part.get("type") == "input_image"]
    others = [part for part in parts if part.get("type") != "input_image"]
    return len(images) * _IMAGE_BYTES + sum(len(str(part).encode()) for part in others)
