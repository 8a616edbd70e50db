"""The footer of a final message, and the modal with the rest of what the run took."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import BaseModel, ConfigDict

from bot.core.outcome import Totals
from bot.core.text.locales import money, number
from bot.slack.render import words
from bot.slack.render.links import escape_mrkdwn
from bot.slack.render.parts import Block, context, text_object

_MAX_TOOLS = 12  # named in the details


class RunDetails(BaseModel):
    """The value of a Details button: what the modal shows, in the form of the asker's locale.

    The message carries it, so that the button works in every process and for as long as the message
    exists.
    """

    model_config = ConfigDict(frozen=True)

    totals: Totals
    locale: str

    @classmethod
    def of(cls, totals: Totals, locale: str) -> RunDetails:
        """Return the details of a run, with its most used tools only: a value holds 2,000 characters."""
        most_used = sorted(totals.tools.items(), key=lambda each: -each[1])[:_MAX_TOOLS]
        return cls(totals=totals.model_copy(update={"tools": dict(most_used)}), locale=locale)

    @property
    def value(self) -> str:
        return self.model_dump_json(exclude_defaults=True)


def footer(totals: Totals, locale: str) -> str:
    """Return model, time and cost as mrkdwn. A run without any turn or token shows no time."""
    seconds = _duration(totals.seconds, locale) if has_details(totals) else ""
    facts = (escape_mrkdwn(totals.model), seconds, _cost(totals, locale))
    return " · ".join(filter(None, facts))


def has_details(totals: Totals) -> bool:
    """Return whether a model was called, so that there is more to tell than the footer says."""
    return bool(totals.turns or totals.input_tokens or totals.output_tokens)


def details_modal(details: RunDetails) -> Block:
    """Return the modal with everything that a run took."""
    totals, locale = details.totals, details.locale
    tokens = words.TOKENS_OF.format(
        input=number(totals.input_tokens, locale),
        cached=number(totals.cached_tokens, locale),
        output=number(totals.output_tokens, locale),
    )
    facts = {
        words.DETAIL_MODEL: totals.model,
        words.DETAIL_EFFORT: totals.effort,
        words.DETAIL_TIME: _duration(totals.seconds, locale),
        words.DETAIL_COST: _cost(totals, locale),
        words.DETAIL_TURNS: number(totals.turns, locale),
        words.DETAIL_CALLS: number(totals.tool_calls, locale),
        words.DETAIL_TOKENS: tokens,
    }
    tools = ", ".join(_counted_tools(totals.tools.items(), locale))
    shown = [f"*{label}*\n{escape_mrkdwn(text)}" for label, text in facts.items() if text]
    fields = [{"type": "mrkdwn", "text": text} for text in shown]
    blocks: list[Block] = [{"type": "section", "fields": fields}]
    if tools:
        blocks.append(context(escape_mrkdwn(words.DETAIL_TOOLS.format(tools=tools))).block)
    return {
        "type": "modal",
        "title": text_object(words.DETAILS),
        "close": text_object(words.CLOSE_ONLY),
        "blocks": blocks,
    }


def _counted_tools(tools: Iterable[tuple[str, int]], locale: str) -> list[str]:
    """Return the tools with how often each was called, if more than once."""
    return [
        f"{name.replace('_', ' ')} × {number(count, locale)}"
        if count > 1
        else name.replace("_", " ")
        for name, count in tools
    ]


def _cost(totals: Totals, locale: str) -> str:
    return words.COST_UNKNOWN if totals.cost is None else money(totals.cost, locale)


def _duration(seconds: float, locale: str) -> str:
    if seconds < 60:
        return f"{number(seconds, locale, digits=1)} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
