"""Slack's app context: the channel that a person has open beside the bot's pane."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_CHANNEL = "slack#/types/channel_id"


def channel_beside(context: Mapping[str, Any] | None) -> str | None:
    """Return the id of the channel in an app context; None when it has none.

    The context is `app_context` of a message or `context` of app_context_changed.
    """
    for entity in (context or {}).get("entities") or ():
        if entity.get("type") == _CHANNEL and entity.get("value"):
            return str(entity["value"])
    return None
