"""Somebody pressed a button of a message: who, where, and what it carries."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.core.errors import MalformedPayload
from bot.slack.transport.payloads import value_of


@dataclass(frozen=True, slots=True)
class ButtonPress:
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
    def of(cls, body: dict[str, Any], action: dict[str, Any]) -> ButtonPress:
        """Read a block_actions payload. Raises MalformedPayload for a button that cannot be ours."""
        container = body.get("container") or {}
        return cls(
            action=str(action["action_id"]),
            value=value_of(action),
            user=str(body["user"]["id"]),
            channel=channel_of(body),
            thread=thread_of(body),
            message=str(container.get("message_ts") or ""),
            at=str(action["action_ts"]),
        )


def channel_of(body: dict[str, Any]) -> str:
    """Return the channel of the message with the button. Raises MalformedPayload outside of one."""
    channel, container = body.get("channel") or {}, body.get("container") or {}
    if found := channel.get("id") or container.get("channel_id"):
        return str(found)
    raise MalformedPayload("a press outside of a channel")


def thread_of(body: dict[str, Any]) -> str | None:
    """The thread that the message with the button stands in."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    return message.get("thread_ts") or container.get("thread_ts")
