"""Words that are no question when they are all of a message, the mention of the bot left out."""

from __future__ import annotations

from bot.slack.render.words import CALL_OFF_WORDS, STOP_WORDS, YES_WORDS
from bot.slack.text import clean, without_mention


def is_stop(text: str, bot: str) -> bool:
    """True when a message says stop and nothing else."""
    return _said(text, bot) in STOP_WORDS


def may_be_of_else(text: str, bot: str) -> bool:
    """Whether a message that says stop is a request of its own where nothing runs."""
    return _said(text, bot) in CALL_OFF_WORDS


def is_yes(text: str, bot: str) -> bool:
    """True when a message says yes and nothing else."""
    return _said(text, bot).replace(",", "") in YES_WORDS


def _said(text: str, bot: str) -> str:
    said = " ".join(clean(without_mention(clean(text), bot)).casefold().split())
    return said.strip(" .!…")
