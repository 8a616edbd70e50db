"""The Home tab and the prompts that a direct message begins with."""

from __future__ import annotations

from collections.abc import Sequence

from bot.runs.budget_words import used_of
from bot.runs.budgets import Standing
from bot.slack.render import words
from bot.slack.render.parts import Block, shortened


def home_view(name: str, usage: Sequence[Standing]) -> Block:
    """What I can do, how to ask, examples, and what the person has used."""
    ways = "\n".join(f"• {way}" for way in words.HOW_TO_ASK)
    examples = "\n".join(f"• _{example}_" for example in words.EXAMPLES)
    used = "\n".join(f"• {words.USED[each.budget]}: {used_of(each)}" for each in usage)
    blocks = [
        _header(f"Hello, I am {name}"),
        _section(words.CAN_DO),
        {"type": "divider"},
        _header("How to ask"),
        _section(ways),
        _section(words.WHILE_WORKING),
        {"type": "divider"},
        _header("For example"),
        _section(examples),
        {"type": "divider"},
        _header(words.HOME_USAGE),
        _section(used),
    ]
    return {"type": "home", "blocks": blocks}


def suggested_prompts(beside: str = "") -> list[dict[str, str]]:
    """At most four, as Slack takes them; about the channel that is open beside, if any."""
    texts = (
        [text.format(place=beside) for text in words.EXAMPLES_BESIDE] if beside else words.EXAMPLES
    )
    return [{"title": shortened(text, 60), "message": text} for text in texts]


def _header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": shortened(text, 150)}}


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
