"""What a run took: the line below an answer, and the modal of its Details button."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from pydantic import BaseModel, ConfigDict

from bot.core.outcome import Totals
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, modal, mrkdwn_object
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import context
from bot.text.locales import money, number
from bot.text.translation import reader_locale

_MAX_TOOLS = 12  # named in the details
_MAX_TEXT = 2_000  # characters of the skills


class RunDetails(BaseModel):
    """The value of Details buttons of releases before 0.2.0: what the modal shows."""

    model_config = ConfigDict(frozen=True)

    totals: Totals


def footer(totals: Totals) -> str:
    """Return model, time and cost as mrkdwn. A run without any turn or token shows no time."""
    seconds = _duration(totals.seconds) if has_details(totals) else ""
    facts = (escape_mrkdwn(totals.model), seconds, _cost(totals))
    return " · ".join(filter(None, facts))


def has_details(totals: Totals) -> bool:
    """Return whether a model was called, so that there is more to tell than the footer says."""
    return bool(totals.turns or totals.input_tokens or totals.output_tokens)


def details_modal(totals: Totals, label: Callable[[str], str]) -> Block:
    """Return the modal with everything that a run took, and its most used tools, each with its `label`."""
    tokens = words.TOKENS_OF(
        input=_number(totals.input_tokens),
        cached=_number(totals.cached_tokens),
        output=_number(totals.output_tokens),
    )
    if not (totals.input_tokens or totals.output_tokens):  # the demo and some servers report none
        tokens = ""
    facts = {
        words.DETAIL_PROFILE(): totals.profile,
        words.DETAIL_MODEL(): totals.model,
        words.DETAIL_EFFORT(): totals.effort,
        words.DETAIL_TIME(): _duration(totals.seconds),
        words.DETAIL_COST(): _cost(totals),
        words.DETAIL_TURNS(): _number(totals.turns),
        words.DETAIL_CALLS(): _number(totals.tool_calls),
        words.DETAIL_TOKENS(): tokens,
    }
    most_used = sorted(totals.tools.items(), key=lambda tool: -tool[1])[:_MAX_TOOLS]
    tools = "; ".join(_counted_tools(most_used, label))
    texts = [f"*{name}*\n{escape_mrkdwn(text)}" for name, text in facts.items() if text]
    fields = [mrkdwn_object(text) for text in texts]
    blocks: list[Block] = [{"type": "section", "fields": fields}]
    if tools:
        blocks.append(context(escape_mrkdwn(words.DETAIL_TOOLS(tools=tools))).block)
    if totals.skills:
        skills = ", ".join(f"{name} ({origin})" for name, origin in totals.skills.items())
        blocks.append(context(escape_mrkdwn(words.DETAIL_SKILLS(skills=skills[:_MAX_TEXT]))).block)
    return modal(words.DETAILS(), blocks, close=words.CLOSE_ONLY())


def _counted_tools(tools: Iterable[tuple[str, int]], label: Callable[[str], str]) -> list[str]:
    """Return the tools with how often each was called, if more than once."""
    return [
        f"{label(name)} × {_number(count)}" if count > 1 else label(name) for name, count in tools
    ]


def _cost(totals: Totals) -> str:
    return words.COST_UNKNOWN() if totals.cost is None else money(totals.cost, reader_locale())


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{number(seconds, reader_locale(), digits=1)} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def _number(value: int) -> str:
    return number(value, reader_locale())
