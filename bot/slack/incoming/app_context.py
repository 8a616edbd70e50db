"""What somebody has open beside the bot's pane, as Slack tells it ("app context")."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CHANNEL = "slack#/types/channel_id"


def channel_beside(context: Mapping[str, Any] | None) -> str | None:
    """The id of the channel in a context (`app_context` of a message, `context` of
    app_context_changed); None when there is none."""
    for entity in (context or {}).get("entities") or ():
        if entity.get("type") == _CHANNEL and entity.get("value"):
            return str(entity["value"])
    return None
