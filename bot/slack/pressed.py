"""Somebody pressed a button of a message: who, where, and what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Pressed:
    """`thread` is the one that the message with the button stands in, None outside threads; `at` is
    the instant of the press, which no other has."""

    action: str
    value: str
    user: str
    channel: str
    thread: str | None
    message: str
    at: str

    @classmethod
    def of(cls, body: dict[str, Any], action: dict[str, Any]) -> Pressed:
        """From a block_actions payload."""
        container = body.get("container") or {}
        return cls(
            action=str(action["action_id"]),
            value=str(action["value"]),
            user=str(body["user"]["id"]),
            channel=channel_of(body),
            thread=thread_of(body),
            message=str(container.get("message_ts") or ""),
            at=str(action["action_ts"]),
        )


def channel_of(body: dict[str, Any]) -> str:
    """The channel of the message with the button."""
    return str(
        (body.get("channel") or body["container"]).get("id") or body["container"]["channel_id"]
    )


def thread_of(body: dict[str, Any]) -> str | None:
    """The thread that the message with the button stands in."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    return message.get("thread_ts") or container.get("thread_ts")
