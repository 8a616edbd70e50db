"""Moments, as each reader's Slack shows them: in their own time zone and language."""

from __future__ import annotations

from datetime import UTC, datetime


def local_time(epoch: int) -> str:
    """A day and a time in mrkdwn, with what clients show that cannot work it out."""
    plain = datetime.fromtimestamp(epoch, UTC).strftime("%Y-%m-%d %H:%M UTC")
    return f"<!date^{epoch}^{{date_short_pretty}}, {{time}}|{plain}>"
