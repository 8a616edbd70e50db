"""What an event says of the post that it is about."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]

SLACKBOT = "USLACKBOT"
"""Slack itself, in whose name also a deleted message that has replies stands."""

_ACCEPTED_SUBTYPES = (None, "file_share", "thread_broadcast")


def is_of_a_person(event: Event, bot: str) -> bool:
    """Whether somebody wrote it, and not an app, Slack, or the user `bot`."""
    user = event.get("user")
    by_an_app = event.get("bot_id") or event.get("bot_profile") or event.get("hidden")
    known = bool(user and event.get("channel") and event.get("ts"))
    accepted = event.get("subtype") in _ACCEPTED_SUBTYPES and not by_an_app
    return known and accepted and user not in (bot, SLACKBOT)


def is_direct(event: Event) -> bool:
    """Whether nobody but its author and the bot sees it."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def action_token(event: Event) -> str:
    """Slack's guide has it at the top of an event; apps report it in `assistant_thread`."""
    nested: Event = event.get("assistant_thread") or {}
    return str(event.get("action_token") or nested.get("action_token") or "")
