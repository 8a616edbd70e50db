"""Moments, as each reader's Slack shows them: in their own time zone and language."""

from __future__ import annotations

from datetime import UTC, datetime

from bot.slack.render.parts import Block

_FORMAT = "{date_short_pretty}, {time}"


def local_time(epoch: int) -> str:
    """A day and a time in mrkdwn, with what clients show that cannot work it out."""
    return f"<!date^{epoch}^{_FORMAT}|{universal_time(epoch)}>"


def local_time_element(epoch: int) -> Block:
    """The same as an element of rich text."""
    return {
        "type": "date",
        "timestamp": epoch,
        "format": _FORMAT,
        "fallback": universal_time(epoch),
    }


def universal_time(epoch: int) -> str:
    """For where text is shown as it stands."""
    return datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M UTC")
