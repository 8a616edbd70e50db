"""Recognition of short replies by their words: stop, yes, or a message to another person."""

from __future__ import annotations

import re

from bot.slack.edge.text import clean, without_mention
from bot.slack.ui.words import CALL_OFF_WORDS, GREETING_WORDS, STOP_WORDS, YES_WORDS

_OTHERS = r"<(?:@[UW]|!(?:subteam|here|channel|everyone))[^<>]*>(?!['’]s\b)"
_TO_OTHERS = re.compile(
    rf"\W*(?:(?:{'|'.join(GREETING_WORDS)})\b\W*)*{_OTHERS}|.*,\s*{_OTHERS}[\s.!?…]*\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_stop(text: str, bot: str) -> bool:
    """Return whether a message says stop and nothing else."""
    return _plain_text(text, bot) in STOP_WORDS


def may_be_request(text: str, bot: str) -> bool:
    """Return whether a message that says stop is a request where nothing runs, as "cancel it"."""
    return _plain_text(text, bot) in CALL_OFF_WORDS


def is_yes(text: str, bot: str) -> bool:
    """Return whether a message is only an approval in words, such as "yes"."""
    return _plain_text(text, bot).replace(",", "") in YES_WORDS


def is_to_others(text: str) -> bool:
    """Return whether a message without a mention of the bot speaks to another person.

    It begins with their mention, or ends with it after a comma. "What did @Ben say?" does not.
    """
    return _TO_OTHERS.match(text) is not None


def _plain_text(text: str, bot: str) -> str:
    plain = " ".join(clean(without_mention(clean(text), bot)).casefold().split())
    return plain.strip(" .!…")
