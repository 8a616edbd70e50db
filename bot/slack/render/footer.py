"""The footer of a final message: model, cost and time."""

from __future__ import annotations

from bot.core.outcome import Totals
from bot.core.text.locales import money, number
from bot.slack.render import words
from bot.slack.render.links import escape_mrkdwn


def footer(totals: Totals, locale: str) -> str:
    """Return model, turns, tool calls, tokens, cost and time as mrkdwn.

    Numbers are formatted for `locale`. A run without any turn or token shows only model and cost.
    """
    tokens = totals.input_tokens + totals.output_tokens
    cost = words.COST_UNKNOWN if totals.cost is None else money(totals.cost, locale)
    if not (totals.turns or tokens):
        return " · ".join(filter(None, (escape_mrkdwn(totals.model), cost)))
    facts = [
        escape_mrkdwn(totals.model),
        words.counted(totals.turns, "turn"),
        words.counted(totals.tool_calls, "tool call"),
        f"{_short(tokens, locale)} tokens",
        cost,
        _duration(totals.seconds, locale),
    ]
    return " · ".join(fact for fact in facts if fact)


def _short(count: int, locale: str) -> str:
    if count < 1_000:
        return str(count)
    if count < 1_000_000:
        return f"{number(count / 1_000, locale, digits=1)}k"
    return f"{number(count / 1_000_000, locale, digits=1)}M"


def _duration(seconds: float, locale: str) -> str:
    if seconds < 60:
        return f"{number(seconds, locale, digits=1)} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
