"""Facts about message events: author, kind of conversation, action token."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

Event = Mapping[str, Any]

SLACKBOT = "USLACKBOT"
"""Slack's own user, also the author of a deleted message that has replies."""

_ACCEPTED_SUBTYPES = (None, "file_share", "thread_broadcast")


def is_of_a_person(event: Event, bot: str) -> bool:
    """Return whether a person wrote the message, not an app, Slack, or the user `bot`."""
    user = event.get("user")
    by_an_app = event.get("bot_id") or event.get("bot_profile") or event.get("hidden")
    known = bool(user and event.get("channel") and event.get("ts"))
    accepted = event.get("subtype") in _ACCEPTED_SUBTYPES and not by_an_app
    return known and accepted and user not in (bot, SLACKBOT)


def is_direct(event: Event) -> bool:
    """Return whether the message is in direct messages with the bot."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def action_token(event: Event) -> str:
    """Return the event's action token, or ""; it may be inside `assistant_thread`."""
    nested: Event = event.get("assistant_thread") or {}
    return str(event.get("action_token") or nested.get("action_token") or "")
