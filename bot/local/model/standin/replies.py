"""What was replied below the messages of a channel, which a channel's reading does not show."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from .findings import Findings
from .said import Said, messages_of
from .view import Missing, OutOfTurns, View

TOOL = "read_linked_thread"
MOST = 5
"""Threads that are read: each takes a call."""


def with_replies(view: View, messages: Sequence[Said]) -> list[Said]:
    """The messages of a channel, below each of the last few its replies. Raises Need."""
    threads = [each for each in messages if each.is_answered and each.url][-MOST:]
    told: list[Said] = []
    for message in messages:
        replies = _replies(view, message) if message in threads else None
        told.append(message if replies is None else replace(message, is_answered=False))
        told += replies or []
    return told


def tell_unread(found: Findings, messages: Sequence[Said]) -> None:
    """Say of how many threads the replies are not among the messages."""
    if number := sum(each.is_answered for each in messages):
        threads = "one thread" if number == 1 else f"{number} threads"
        found.gaps.append(f"The replies in {threads} were not read.")


def _replies(view: View, message: Said) -> list[Said] | None:
    if TOOL not in (
        *view.offered,
        *view.catalogue,
    ):  # a tool of nearly its name reads another thread
        return None
    try:
        output = view.do(
            TOOL,
            "I read what was replied to it.",
            fresh=True,
            url=message.url,
            limit=50,
        )
    except (Missing, OutOfTurns):
        return None
    _, *replies = messages_of(output) or [message]
    return [replace(each, url=message.url) for each in replies]
