"""What calls to a model may take, guessed before they are made."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Any

from bot.core.budgets import Spent
from bot.core.chain import NO_USAGE, Item, Usage
from bot.model import ModelRequest, PriceList
from bot.store import Forecast

_REMEMBERED = 50  # calls
_UNSEEN_OUTPUT = 3_400  # tokens, of a call before any was seen
_BYTES_PER_TOKEN = 3  # few for most languages: rather too many tokens
_IMAGE_BYTES = 6_000  # in the place of an image's own, which say nothing of its tokens


@dataclass(frozen=True, slots=True)
class ExpectedCall:
    """A call by what is known before it is made: it sends so many `new_tokens` besides what the
    response took that it goes on from (`before`). One that is `is_warm` goes on from a call of the same
    run, so that the service is likely to have all before it in the cache."""

    model: str
    new_tokens: int = 0
    before: Usage = NO_USAGE
    is_warm: bool = False

    def usage(self, *, output_tokens: int, cached_tokens: int) -> Usage:
        """Return what it takes with so much output, if so much of its input is cached."""
        before = self.before.input_tokens + self.before.output_tokens
        return Usage(
            input_tokens=before + self.new_tokens,
            cached_tokens=cached_tokens if self.is_warm else 0,
            output_tokens=output_tokens,
        )


def expected_call(request: ModelRequest, before: Usage, *, is_warm: bool) -> ExpectedCall:
    """Return what is known of `request`; `before` is what the response took that it goes on from."""
    size = sum(map(_size, request.input))
    if not request.previous_response_id:
        size += len(request.instructions.encode()) + len(str(request.tools).encode())
        before, is_warm = NO_USAGE, False
    return ExpectedCall(request.model, size // _BYTES_PER_TOKEN, before, is_warm)


def _lately() -> deque[Any]:
    return deque(maxlen=_REMEMBERED)


@dataclass(frozen=True, slots=True)
class CallEstimates:
    """Learns from the calls of this process: what calls to each model took, those that go on from one
    of the same run apart from those that begin, as most of their input is cached; and how long outputs
    are, whatever the model. `max_output_tokens` is what the service is told, if anything."""

    prices: PriceList
    max_output_tokens: int | None = None
    _outputs: deque[int] = field(default_factory=_lately)
    _spent: defaultdict[tuple[str, bool], deque[Spent]] = field(
        default_factory=lambda: defaultdict(_lately)
    )

    def learn(self, call: ExpectedCall, usage: Usage) -> Spent:
        """Return what a call took, and remember it."""
        spent = self._priced(call, usage)
        self._spent[call.model, call.is_warm].append(spent)
        self._outputs.append(usage.output_tokens)
        return spent

    def forecast(self, call: ExpectedCall) -> Forecast:
        """Return what `call` may take. What is likely is the most that a call of its kind took lately.
        The fewer calls were seen, the further is the most above that."""
        like, warm = (self._spent[call.model, each] for each in (call.is_warm, True))
        longest = max(self._outputs, default=_UNSEEN_OUTPUT)
        margin = 1.5 + 8 / max(len(self._outputs), 1)
        output = round(margin * longest)
        if self.max_output_tokens:
            output = min(output, self.max_output_tokens)
        guess = self._guess(call, longest, cached_tokens=call.before.input_tokens)
        likely = _largest(like) if like else guess
        most = self._guess(call, output, cached_tokens=call.before.cached_tokens)
        last = _largest(warm) if warm else likely
        return Forecast(likely.times(margin).or_more(most), likely, last)

    def broken_off(self, call: ExpectedCall, heard: int) -> Spent:
        """Return what a call has taken that was left when `heard` bytes of its output had come."""
        output = heard // _BYTES_PER_TOKEN
        return self._guess(call, output, cached_tokens=call.before.input_tokens)

    def _guess(self, call: ExpectedCall, output_tokens: int, *, cached_tokens: int) -> Spent:
        return self._priced(
            call, call.usage(output_tokens=output_tokens, cached_tokens=cached_tokens)
        )

    def _priced(self, call: ExpectedCall, usage: Usage) -> Spent:
        return Spent.of(usage, self.prices.cost(call.model, usage))


def _largest(each_spent: Collection[Spent]) -> Spent:
    return Spent(
        tokens=max(each.tokens for each in each_spent),
        nanodollars=max(each.nanodollars for each in each_spent),
    )


def _size(item: Item) -> int:
    """Return the bytes of what a model reads."""
    content = item.get("content")
    parts = content if isinstance(content, list) else [item]
    images = [part for part in parts if part.get("type") == "input_image"]
    others = [part for part in parts if part.get("type") != "input_image"]
    return len(images) * _IMAGE_BYTES + sum(len(str(part).encode()) for part in others)
