"""What scripted models and judges of faults read in a conversation: which questions it is about."""

from __future__ import annotations

import re
from typing import Any

from bot.dev.model.replies import Item
from bot.dev.model.request import item_text

_NEWS = "[Written in this thread"
_TAG = re.compile(r"\[(\w+-\d+)\]")


def tags_in(text: str) -> list[str]:
    """Return the tags of questions in a text, as [q1-2], each once."""
    return list(dict.fromkeys(_TAG.findall(text)))


def since_result(items: list[Item]) -> list[Item]:
    """Return what came after the last end of a run: a result, a refusal, or a failure that people were
    told of, which is kept in the thread and ends a question as a result does. What others wrote
    meanwhile, which the model is told as data, is no question."""
    items = [each for each in items if not item_text(each).startswith(_NEWS)]
    ends = [
        n
        for n, item in enumerate(items)
        if item.get("name") == "complete_task" or item.get("role") == "assistant"
    ]
    return items[ends[-1] + 1 :] if ends else items


def asked_in(items: list[Item]) -> list[str]:
    """Return the tags of the questions that people asked in these items."""
    said = "\n".join(item_text(item) for item in items if item.get("role") == "user")
    return tags_in(said)


def answered_by(message: dict[str, Any]) -> list[str]:
    """Return the tags of the questions that a message in Slack answers."""
    return tags_in(str(message))
