"""Settings that can be read and still cannot work: refused before anything runs."""

from __future__ import annotations

from collections.abc import Callable

from bot.core.errors import ConfigurationError
from bot.model import PriceList
from bot.settings import Settings


def unpriced_models(settings: Settings) -> list[str]:
    """The models of which nobody knows what they cost: money cannot be bounded with those."""
    prices = PriceList(settings.model.window, settings.model.price)
    models = (settings.openai_model, *settings.openai_fallback_models)
    return [model for model in models if not prices.knows(model)]


def check_prices(settings: Settings) -> None:
    """Raises ConfigurationError when money is bounded but nobody knows what a model costs."""
    bounds, unknown = _bounds_of_money(settings), unpriced_models(settings)
    if bounds and unknown:
        raise ConfigurationError(
            f"{', '.join(bounds)}: the price of {', '.join(unknown)} is not known, so money cannot "
            "be bounded. Set [model] price = {input = …, output = …} in dollars per million tokens."
        )


def check_tools(settings: Settings, is_tool: Callable[[str], bool]) -> None:
    """Raises ConfigurationError when a channel is to have tools that there are not."""
    for key, each in settings.channels.items():
        if unknown := [name for name in each.tools or () if not is_tool(name)]:
            raise ConfigurationError(
                f"channels.{key}.tools: there is no tool or group of tools {', '.join(unknown)}. "
                "`bot tools` and `bot mcp` list what there is."
            )


def _bounds_of_money(settings: Settings) -> list[str]:
    """The keys in bot.toml that bound dollars."""
    bounds = [f"budgets.{name}" for name in settings.budgets.bound_money]
    if settings.limits.cost and "cost" in settings.limits.model_fields_set:
        bounds.append("limits.cost")
    for key, here in settings.channels.items():
        if here.limits.get("cost"):
            bounds.append(f"channels.{key}.limits.cost")
        capped = [name for name, cap in here.budgets.items() if cap.cost]
        bounds += [f"channels.{key}.budgets.{name}" for name in capped]
    return bounds
