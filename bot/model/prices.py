"""Prices and windows of models, from the kept table of the `genai-prices` package."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from bot.core.chain import Usage

_LARGEST_OUTPUT = 128_000
"""Tokens that current models keep free for output: window − this = the largest input (E1)."""


@dataclass(frozen=True, slots=True)
class PriceList:
    """`default_window` is the input limit in tokens assumed for models that the table lacks."""

    default_window: int = 128_000

    def window(self, model: str) -> int:
        """The largest input in tokens that `model` takes."""
        total = _known_window(model)
        return (
            total - _LARGEST_OUTPUT if total > 2 * _LARGEST_OUTPUT else total or self.default_window
        )

    def cost(self, model: str, usage: Usage) -> float | None:
        """US dollars for one response; None when the model's price is not known."""
        from genai_prices import Usage as Priced
        from genai_prices import calc_price

        priced = Priced(
            input_tokens=usage.input_tokens,
            cache_read_tokens=usage.cached_tokens,
            output_tokens=usage.output_tokens,
        )
        try:
            found = calc_price(priced, model_ref=model, provider_id="openai")
        except LookupError:
            return None
        return float(found.total_price)


@cache
def _known_window(model: str) -> int:
    # Imported at first use: the table takes a third of a second to load.
    from genai_prices.data_snapshot import get_snapshot

    provider = next(each for each in get_snapshot().providers if each.id == "openai")
    found = provider.find_model(model)
    return (found.context_window or 0) if found else 0
