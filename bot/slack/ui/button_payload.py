"""Button presses: the fields of a block_actions payload that the bot needs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from bot.core.errors import MalformedPayload


@dataclass(frozen=True, slots=True)
class ButtonPress:
    """A press of a button or menu.

    `value` is that of the button, or of the option or conversation that was chosen. In a view,
    `value` may be "" and `channel` is. `thread` is the thread of the message with the button, None
    outside threads. `at` is the action's ts, which is unique for each press.
    """

    action: str
    value: str
    user: str
    channel: str
    thread: str | None
    message: str
    at: str

    @classmethod
    def of(cls, body: dict[str, Any], action: dict[str, Any]) -> ButtonPress:
        """Return the press of a block_actions payload. Raises MalformedPayload for a wrong button."""
        container = body.get("container") or {}
        in_view = bool(body.get("view"))
        value = _value_of(action)
        if not (value or in_view):
            raise MalformedPayload("a button that carries nothing")
        return ButtonPress(
            action=str(action["action_id"]),
            value=value,
            user=str(body["user"]["id"]),
            channel="" if in_view else channel_of(body),
            thread=thread_of(body),
            message=str(container.get("message_ts") or ""),
            at=str(action["action_ts"]),
        )


def _value_of(action: dict[str, Any]) -> str:
    option = action.get("selected_option") or {}
    value = action.get("value") or option.get("value") or action.get("selected_conversation")
    return str(value or "")


def channel_of(body: dict[str, Any]) -> str:
    """Return the channel of the pressed button. Raises MalformedPayload when it has none."""
    channel, container = body.get("channel") or {}, body.get("container") or {}
    if found := channel.get("id") or container.get("channel_id"):
        return str(found)
    raise MalformedPayload("a press outside of a channel")


def thread_of(body: dict[str, Any]) -> str | None:
    """Return the thread of the message with the button; None outside threads."""
    message = body.get("message") or {}
    container = body.get("container") or {}
    return message.get("thread_ts") or container.get("thread_ts")
