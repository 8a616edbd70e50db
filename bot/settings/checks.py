"""Checks of settings that are valid on their own and cannot work together, made before a start."""

from __future__ import annotations

from collections.abc import Callable

from bot.core.errors import ConfigurationError
from bot.settings import Settings


def unpriced_models(settings: Settings) -> list[str]:
    """Return the configured models whose price is unknown, so that budgets in dollars cannot hold."""
    prices, rules = settings.prices, settings.triggers
    for_rules = [rules.model] if rules.enabled and rules.model else []
    names = dict.fromkeys([*settings.model_names, *for_rules])
    return [model for model in names if not prices.knows(model)]


def check_prices(settings: Settings) -> None:
    """Raise ConfigurationError when a budget is in dollars but a model's price is unknown."""
    bounds, unknown = _dollar_limits(settings), unpriced_models(settings)
    if bounds and settings.clips.is_unpriced:
        raise ConfigurationError(
            f"{', '.join(bounds)}: the price of {settings.clips.model} is not known, so money cannot be "
            "bounded. Set [clips] price = {minute = …} in dollars, or {input = …, output = …} per "
            "million tokens."
        )
    if bounds and unknown:
        raise ConfigurationError(
            f"{', '.join(bounds)}: the price of {', '.join(unknown)} is not known, so money cannot "
            "be bounded. Set [model] price = {input = …, output = …} in dollars per million tokens, or "
            "price of that choice."
        )


def check_tools(settings: Settings, is_tool: Callable[[str], bool]) -> None:
    """Raise ConfigurationError when a channel or profile allows tools that do not exist."""
    allowed = {f"channels.{key}": channel.tools for key, channel in settings.channels.items()}
    allowed |= {f"profiles.{name}": profile.tools for name, profile in settings.profiles.items()}
    for key, tools in allowed.items():
        if unknown := [name for name in tools or () if not is_tool(name)]:
            raise ConfigurationError(
                f"{key}.tools: there is no tool or group of tools {', '.join(unknown)}. "
                "`bot tools` and `bot mcp` list what there is."
            )


def _dollar_limits(settings: Settings) -> list[str]:
    """Return the keys of bot.toml that limit dollars."""
    bounds = [f"budgets.{name}" for name in settings.budgets.bound_money]
    if settings.limits.cost and "cost" in settings.limits.model_fields_set:
        bounds.append("limits.cost")
    if settings.triggers.enabled and "daily_dollars" in settings.triggers.model_fields_set:
        bounds.append("triggers.daily_dollars")
    for key, channel in settings.channels.items():
        if channel.limits.get("cost"):
            bounds.append(f"channels.{key}.limits.cost")
        capped = [name for name, cap in channel.budgets.items() if cap.cost]
        bounds += [f"channels.{key}.budgets.{name}" for name in capped]
    return bounds
