"""Times that Slack shows in each reader's time zone and language."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.slack.ui.parts import Block

_FORMAT = "{date_short_pretty}, {time}"


def local_time(epoch: int) -> str:
    """Return a date and time as mrkdwn, with UTC as the fallback for older clients."""
    return f"<!date^{epoch}^{_FORMAT}|{universal_time(epoch)}>"


def local_time_element(epoch: int) -> Block:
    """Return a date and time as an element of rich text."""
    return {
        "type": "date",
        "timestamp": epoch,
        "format": _FORMAT,
        "fallback": universal_time(epoch),
    }


def universal_time(epoch: int) -> str:
    """Return a date and time in UTC, for places in which Slack formats nothing."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M UTC")
