"""Prices and context windows of models, and fees of hosted tools.

Prices come from the table in the `genai-prices` package, which lacks the fees of hosted tools.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, MutableMapping
from dataclasses import dataclass, field
from datetime import UTC, date, datetime, time
from decimal import Decimal
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from pydantic import BaseModel, ConfigDict, Field

from bot.core.chain import NO_USAGE, Usage

if TYPE_CHECKING:
    from genai_prices.types import ModelInfo, Provider, TieredPrices

_LARGEST_OUTPUT = 128_000
"""Tokens that current models keep free for output: window − this = the largest input."""


_WEB_SEARCH = 10.00 / 1_000
_FILE_SEARCH = 2.50 / 1_000
_CONTAINER = 0.03
"""US dollars per web search, per file search, and per container of 1 GB for up to 20 minutes (OpenAI's
pricing page, March 2026). Search results are billed as input tokens, too. A container that an earlier
run of the thread opened is counted again: an upper bound."""


def fees(usage: Usage) -> float:
    """Return the fees in dollars of the hosted tools in one response."""
    return (
        usage.web_searches * _WEB_SEARCH
        + usage.file_searches * _FILE_SEARCH
        + len(usage.containers) * _CONTAINER
    )


class Price(BaseModel):
    """A price in US dollars per million tokens; `cached` input costs as much as `input` unless given."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    input: float = Field(ge=0)
    output: float = Field(ge=0)
    cached: float | None = Field(default=None, ge=0)

    def of(self, usage: Usage) -> float:
        """Return the price in dollars of one response."""
        cached = self.input if self.cached is None else self.cached
        fresh = usage.input_tokens - usage.cached_tokens
        parts = (
            (fresh, self.input),
            (usage.cached_tokens, cached),
            (usage.output_tokens, self.output),
        )
        return sum(tokens * price for tokens, price in parts) / 1_000_000


@dataclass(frozen=True, slots=True)
class PriceList:
    """Prices and input limits of models.

    `default_window` (tokens) and `default_price` apply to models that the table lacks; the prices in
    `given`, by model, replace those of the table. `listed` are context windows
    reported by the server, in tokens; they take precedence.
    """

    default_window: int = 128_000
    default_price: Price | None = None
    given: Mapping[str, Price] = field(default_factory=dict)
    listed: MutableMapping[str, int] = field(default_factory=dict)

    def window(self, model: str) -> int:
        """Return the largest input that `model` takes, in tokens."""
        known = None if model in self.listed else _known(model)
        total = self.listed.get(model) or (known.context_window if known else 0) or 0
        return (
            total - _LARGEST_OUTPUT if total > 2 * _LARGEST_OUTPUT else total or self.default_window
        )

    def cost(self, model: str, usage: Usage) -> float | None:
        """Return the dollars for one response with fees; None when the model's price is unknown."""
        price = self.given.get(model)
        if price is None:
            price = self.default_price
            for above, each in _prices(model, datetime.now(UTC).date()):
                price = each if usage.input_tokens > above else price
        return price.of(usage) + fees(usage) if price else None

    def knows(self, model: str) -> bool:
        """Return whether the model's price is known."""
        return self.cost(model, NO_USAGE) is not None


@lru_cache(maxsize=32)  # more models than a deployment names
def _known(model: str) -> ModelInfo | None:
    """Return the model in the table; None when the table lacks it."""
    return _openai().find_model(model.lower())


@cache
def _openai() -> Provider:
    """Return OpenAI's part of the table, and give back the memory of the other thirty providers."""
    import genai_prices.data  # at first use: it takes a while

    providers = genai_prices.data.providers
    sys.modules.pop("genai_prices.data", None)  # perhaps by two threads
    vars(genai_prices).pop("data", None)
    return next(each for each in providers if each.id == "openai")


@lru_cache(maxsize=32)
def _prices(model: str, day: date) -> tuple[tuple[int, Price], ...]:
    """Return the prices of `model` on `day`, each with the input tokens above which it applies.

    Empty when the table lacks the model. The package's own `calc_price` takes a millisecond, a
    quarter of the CPU of a turn.
    """
    known = _known(model)
    if known is None:
        return ()
    prices = known.get_prices(datetime.combine(day, time(), UTC))
    rates = (prices.input_mtok, prices.output_mtok, prices.cache_read_mtok)
    tiers = (tier.start for rate in rates for tier in getattr(rate, "tiers", ()))
    return tuple(
        (
            above,
            Price(
                input=_rate(prices.input_mtok, above + 1) or 0.0,
                output=_rate(prices.output_mtok, above + 1) or 0.0,
                cached=_rate(prices.cache_read_mtok, above + 1),
            ),
        )
        for above in sorted({-1, *tiers})
    )


def _rate(rate: Decimal | TieredPrices | None, input_tokens: int) -> float | None:
    """Return the rate of the highest tier that the request reaches."""
    if rate is None or isinstance(rate, Decimal):
        return None if rate is None else float(rate)
    reached = [tier.price for tier in rate.tiers if input_tokens > tier.start]
    return float(reached[-1] if reached else rate.base)
