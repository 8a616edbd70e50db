"""The Home tab and the prompts that a direct message begins with."""

from __future__ import annotations

from bot.slack.render import words
from bot.slack.render.parts import Block, shortened


def home_view(name: str) -> Block:
    """What I can do, how to ask, and examples."""
    ways = "\n".join(f"• {way}" for way in words.HOW_TO_ASK)
    examples = "\n".join(f"• _{example}_" for example in words.EXAMPLES)
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
    ]
    return {"type": "home", "blocks": blocks}


def suggested_prompts() -> list[dict[str, str]]:
    """At most four, as Slack takes them."""
    return [{"title": shortened(text, 60), "message": text} for text in words.EXAMPLES]


def _header(text: str) -> Block:
    return {"type": "header", "text": {"type": "plain_text", "text": shortened(text, 150)}}


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
