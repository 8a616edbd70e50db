"""Payloads of interactions: buttons, shortcuts, modals, slash commands."""

import re
from collections.abc import Mapping
from typing import Any

from bot.dev.workspace.core import Core
from bot.dev.workspace.events import elements
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Channel, Json, Person

_MENTION = re.compile(r"<([@#])([A-Z0-9]+)>")
NAMES = {"im": "directmessage", "mpim": "mpdm", "private": "privategroup"}


def message_action(
    core: Core, user: str, channel: Channel, message: Json, callback_id: str
) -> Json:
    """Return the payload of a message shortcut."""
    payload = _base(core, "message_action", user)
    return payload | {
        "callback_id": callback_id,
        "action_ts": core.store.next_ts(),
        "channel": _channel(channel),
        "message_ts": message["ts"],
        "message": without_metadata(message),
        # The message is not the app's answer: what is sent there is a new one and replaces nothing.
        "response_url": core.new_response_url(user, channel.id, None, message.get("thread_ts")),
    }


def global_shortcut(core: Core, user: str, callback_id: str) -> Json:
    """Return the payload of a global shortcut, which names no channel."""
    payload = _base(core, "shortcut", user)
    return payload | {"callback_id": callback_id, "action_ts": core.store.next_ts()}


def message_click(
    core: Core, user: str, channel: Channel, message: Json, where: str, element: Json, value: Any
) -> Json:
    """Return the payload of using an element of a message."""
    used = elements.action(where, element, value, core.store.next_ts())
    place = user, channel.id, message["ts"]
    if elements.holds_value(element):
        state = elements.state_of(element, value)
        core.state.chosen.setdefault(place, {})[where, element["action_id"]] = state
    chosen = core.state.chosen.get(place, {})
    thread = {"thread_ts": message["thread_ts"]} if message.get("thread_ts") else {}
    container = {
        "type": "message",
        "message_ts": message["ts"],
        "channel_id": channel.id,
        "is_ephemeral": bool(message.get("is_ephemeral")),
    }
    return _base(core, "block_actions", user) | {
        "container": container | thread,
        "channel": _channel(channel),
        **({} if message.get("is_ephemeral") else {"message": without_metadata(message)}),
        "state": {"values": _values(message, chosen)},
        "response_url": core.new_response_url(
            user, channel.id, message["ts"], message.get("thread_ts")
        ),
        "actions": [used],
    }


def _values(message: Json, chosen: Mapping[tuple[str, str], Json]) -> Json:
    """Return the values of all elements of a message, as the person has `chosen` them so far."""
    values: Json = {}
    for where, element in elements.interactive(message.get("blocks", [])):
        if elements.holds_value(element):
            name = element["action_id"]
            state = chosen.get((where, name)) or elements.state_of(element, None)
            values.setdefault(where, {})[name] = state
    return values


def view_click(core: Core, user: str, view: Json, where: str, element: Json, value: Any) -> Json:
    """Return the payload of using an element of a modal or Home tab."""
    return _base(core, "block_actions", user) | {
        "container": {"type": "view", "view_id": view["id"]},
        "view": view,
        "actions": [elements.action(where, element, value, core.store.next_ts())],
    }


def submission(core: Core, user: str, view: Json) -> Json:
    """Return the payload of submitting a modal.

    It has a response_url for each selected conversation whose element asks for one.
    """
    payload = _base(core, "view_submission", user)
    return payload | {"view": view, "response_urls": _response_urls(core, user, view)}


def closing(core: Core, user: str, view: Json, *, cleared: bool) -> Json:
    """Return the payload of closing a modal, which has no trigger_id."""
    payload = _base(core, "view_closed", user)
    del payload["trigger_id"]
    return payload | {"view": view, "is_cleared": cleared}


def slash_command(core: Core, user: str, channel: Channel, command: str, text: str) -> Json:
    """Return the fields of a slash command; mentions in its text carry the names."""
    state = core.state
    known: dict[str, Person | Channel] = {**core.people, **core.channels}
    return {
        "token": state.verification_token,
        "team_id": state.team_id,
        "team_domain": state.team_domain,
        "channel_id": channel.id,
        "channel_name": NAMES.get(channel.kind, channel.name),
        "user_id": user,
        "user_name": core.people[user].name,
        "command": command,
        "text": _MENTION.sub(lambda match: _labelled(match, known), text),
        "api_app_id": state.app_id,
        "is_enterprise_install": "false",
        "response_url": core.new_response_url(user, channel.id),
        "trigger_id": core.new_trigger(user),
    }


def _labelled(match: re.Match[str], known: Mapping[str, Person | Channel]) -> str:
    found = known.get(match[2])
    return f"<{match[1]}{match[2]}|{found.name}>" if found else match[0]


def _base(core: Core, kind: str, user: str) -> Json:
    state, person = core.state, core.people[user]
    return {
        "type": kind,
        "token": state.verification_token,
        "team": {"id": state.team_id, "domain": state.team_domain},
        "user": {
            "id": user,
            "username": person.name,
            "name": person.name,
            "team_id": person.team_id,
        },
        "api_app_id": state.app_id,
        "enterprise": None,
        "is_enterprise_install": False,
        "trigger_id": core.new_trigger(user),
    }


def _channel(channel: Channel) -> Json:
    return {"id": channel.id, "name": NAMES.get(channel.kind, channel.name)}


def _response_urls(core: Core, user: str, view: Json) -> list[Json]:
    urls = []
    for where, element in elements.interactive(view["blocks"]):
        chosen = view["state"]["values"].get(where, {}).get(element["action_id"], {})
        channel = chosen.get("selected_conversation") or chosen.get("selected_channel")
        if element.get("response_url_enabled") and channel:
            url = core.new_response_url(user, channel)
            urls.append(
                {
                    "block_id": where,
                    "action_id": element["action_id"],
                    "channel_id": channel,
                    "response_url": url,
                }
            )
    return urls
