"""Pages of lists and of messages, with Slack's opaque cursors."""

import base64
import binascii
from collections.abc import Sequence
from typing import TypeVar

from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json

Item = TypeVar("Item")
LIMIT_MAX = 1000


def page(items: Sequence[Item], limit: int, cursor: str | None) -> tuple[list[Item], Json]:
    """Return a page and the fields that lead to the next one. Raises invalid_limit, invalid_cursor."""
    if not 1 <= limit <= LIMIT_MAX:
        raise SlackFault("invalid_limit")
    start = _decode(cursor) if cursor else 0
    end = start + limit
    more = end < len(items)
    following = base64.b64encode(f"next:{end}".encode()).decode() if more else ""
    return list(items[start:end]), {
        "has_more": more,
        "response_metadata": {"next_cursor": following},
    }


def between(messages: list[Json], oldest: str, latest: str | None, inclusive: bool) -> list[Json]:
    """Return the messages of a span of time; its ends belong to it when `inclusive`."""
    low, high = _seconds(oldest), _seconds(latest) if latest else float("inf")
    kept = []
    for message in messages:
        ts = float(message["ts"])
        if low < ts < high or (inclusive and ts in (low, high)):
            kept.append(message)
    return kept


def _seconds(ts: str) -> float:
    try:
        return float(ts)
    except ValueError:
        raise SlackFault("invalid_ts_oldest") from None


def _decode(cursor: str) -> int:
    try:
        word, _, number = base64.b64decode(cursor, validate=True).decode().partition(":")
        if word == "next":
            return int(number)
    except (binascii.Error, ValueError):
        pass
    raise SlackFault("invalid_cursor")
