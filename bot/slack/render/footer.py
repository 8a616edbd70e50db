"""What stands under every terminal: what it took."""

from __future__ import annotations

from bot.core.outcome import Totals
from bot.slack.render import words
from bot.slack.render.links import escape_mrkdwn


def footer(totals: Totals) -> str:
    """Model, turns, tools, tokens, cost and time, as mrkdwn."""
    tokens = totals.input_tokens + totals.output_tokens
    facts = [
        escape_mrkdwn(totals.model),
        _count(totals.turns, "turn"),
        _count(totals.tool_calls, "tool call"),
        f"{_short(tokens)} tokens",
        words.COST_UNKNOWN if totals.cost is None else _money(totals.cost),
        _duration(totals.seconds),
    ]
    return " · ".join(fact for fact in facts if fact)


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _short(number: int) -> str:
    if number < 1_000:
        return str(number)
    if number < 1_000_000:
        return f"{number / 1_000:.1f}k"
    return f"{number / 1_000_000:.1f}M"


def _money(dollars: float) -> str:
    return f"${dollars:.2f}" if dollars >= 0.1 or dollars == 0 else f"${dollars:.4f}"


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
