"""Schemas of Slack's payloads, checked once when a payload arrives, and their fields.

They describe only the fields that the bot reads, with null where Slack sends it; other fields pass.
Listeners can rely on the types, so an exception in a listener is a bug of the bot and fails loudly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Annotated, Any, NotRequired

from pydantic import (
    AfterValidator,
    Field,
    InstanceOf,
    StringConstraints,
    TypeAdapter,
    ValidationError,
)
from typing_extensions import TypedDict

from bot.core.errors import MalformedPayload

Object = Mapping[str, Any]

Id = Annotated[str, StringConstraints(strict=True, min_length=1, max_length=255)]
Ts = Annotated[str, StringConstraints(strict=True, pattern=r"^[0-9]{1,15}(\.[0-9]{1,9})?$")]
Text = Annotated[str, StringConstraints(strict=True)]
Words = InstanceOf[str]  # text that people wrote, with any characters; it is cleaned later
Flag = Annotated[bool, Field(strict=True)]


class Named(TypedDict):
    """A person, channel or workspace as interactions describe it."""

    id: Id


class _Edited(TypedDict):
    ts: Ts


class _File(TypedDict):
    id: NotRequired[Id | None]
    name: NotRequired[Words | None]
    title: NotRequired[Words | None]
    mimetype: NotRequired[Text | None]
    mode: NotRequired[Text | None]
    size: NotRequired[Annotated[int, Field(strict=True, ge=0)] | None]


class _Entity(TypedDict):
    type: NotRequired[Text | None]
    value: NotRequired[Any]


class _AppContext(TypedDict):
    entities: NotRequired[list[_Entity] | None]


class _Thread(TypedDict):
    action_token: NotRequired[Text | None]


class _Post(TypedDict):
    """The fields that a message and a message event have in common."""

    user: NotRequired[Id | None]
    thread_ts: NotRequired[Ts | None]
    text: NotRequired[Words | None]
    subtype: NotRequired[Text | None]
    bot_id: NotRequired[Text | None]
    files: NotRequired[list[_File] | None]


class _Message(_Post):
    ts: Ts
    edited: NotRequired[_Edited]
    blocks: NotRequired[list[InstanceOf[dict]] | None]  # type: ignore[type-arg]


class _MessageEvent(_Post):
    channel: Id
    ts: NotRequired[Ts | None]
    channel_type: NotRequired[Text | None]
    action_token: NotRequired[Text | None]
    assistant_thread: NotRequired[_Thread | None]
    app_context: NotRequired[_AppContext | None]
    message: NotRequired[_Message | None]
    previous_message: NotRequired[_Message | None]
    deleted_ts: NotRequired[Ts | None]
    event_ts: NotRequired[Ts | None]


class _Item(TypedDict):
    type: Text
    channel: NotRequired[Id | None]
    ts: NotRequired[Ts | None]


def _complete(item: _Item) -> _Item:
    if item["type"] == "message" and not (item.get("channel") and item.get("ts")):
        raise ValueError("is a message without channel or ts")
    return item


class _Reaction(TypedDict):
    user: Id
    reaction: Text
    item: Annotated[_Item, AfterValidator(_complete)]
    item_user: NotRequired[Id | None]
    event_ts: NotRequired[Ts | None]


class _Opened(TypedDict):
    user: Id
    tab: NotRequired[Text | None]
    channel: NotRequired[Id | None]
    context: NotRequired[_AppContext | None]


class _Stopped(TypedDict):
    user: Id
    channel: Id
    thread_ts: NotRequired[Ts | None]


class _ChangedUser(TypedDict):
    id: Id
    deleted: NotRequired[Flag | None]


class _UserChanged(TypedDict):
    user: _ChangedUser


class _Function(TypedDict):
    callback_id: Text


class _Executed(TypedDict):
    function: _Function
    function_execution_id: Id
    inputs: NotRequired[InstanceOf[dict] | None]  # type: ignore[type-arg]
    bot_access_token: NotRequired[Text | None]


class _Authorization(TypedDict):
    team_id: NotRequired[Id | None]
    enterprise_id: NotRequired[Id | None]
    user_id: NotRequired[Id | None]
    is_enterprise_install: NotRequired[bool | None]


class _Callback(TypedDict):
    event_id: Id
    team_id: NotRequired[Id | None]
    enterprise_id: NotRequired[Id | None]
    authorizations: NotRequired[list[_Authorization] | None]


class _Option(TypedDict):
    value: NotRequired[Text | None]


class _Element(TypedDict):
    """The state of an input in a modal."""

    value: NotRequired[Words | None]
    selected_option: NotRequired[_Option | None]
    selected_options: NotRequired[list[_Option] | None]
    selected_users: NotRequired[list[Id] | None]
    selected_conversation: NotRequired[Id | None]


class _State(TypedDict):
    values: dict[str, dict[str, _Element]]


class _View(TypedDict):
    id: Id
    private_metadata: NotRequired[Text | None]
    state: NotRequired[_State | None]


class _SubmittedView(_View):
    callback_id: Text
    state: _State  # type: ignore[misc]  # always there


class _Container(TypedDict):
    channel_id: NotRequired[Id | None]
    message_ts: NotRequired[Ts | None]
    thread_ts: NotRequired[Ts | None]
    is_ephemeral: NotRequired[Flag | None]


class _Action(TypedDict):
    action_id: Id
    action_ts: Ts
    block_id: NotRequired[Text | None]
    type: NotRequired[Text | None]
    value: NotRequired[Text | None]
    selected_option: NotRequired[_Option | None]
    selected_conversation: NotRequired[Id | None]


class _Interaction(TypedDict):
    user: Named
    team: NotRequired[Named | None]
    enterprise: NotRequired[Named | None]
    response_url: NotRequired[Text | None]


class _Anonymous(TypedDict):
    """An interaction without a listener, whose ids Bolt reads."""

    team_id: NotRequired[Id | None]
    enterprise_id: NotRequired[Id | None]
    user: NotRequired[Named | None]
    team: NotRequired[Named | None]
    enterprise: NotRequired[Named | None]
    channel: NotRequired[Named | None]


class _Pressed(_Interaction):
    trigger_id: Id
    actions: Annotated[list[_Action], Field(min_length=1)]
    channel: NotRequired[Named | None]
    container: NotRequired[_Container | None]
    message: NotRequired[_Message | None]
    view: NotRequired[_View | None]


class _Submitted(_Interaction):
    view: _SubmittedView


class _Shortcut(_Interaction):
    callback_id: Text
    trigger_id: Id


class _MessageShortcut(_Shortcut):
    channel: Named
    message: _Message


class _Command(TypedDict):
    command: Id
    user_id: Id
    channel_id: Id
    trigger_id: Id
    team_id: NotRequired[Id | None]
    enterprise_id: NotRequired[Id | None]
    text: NotRequired[Words | None]
    response_url: NotRequired[Text | None]


def _validator(shape: Any) -> Callable[[object], object]:
    return TypeAdapter(shape).validate_python


_CALLBACK, _COMMAND = _validator(_Callback), _validator(_Command)
_EVENTS = {
    "message": _validator(_MessageEvent),
    "app_mention": _validator(_MessageEvent),
    "reaction_added": _validator(_Reaction),
    "reaction_removed": _validator(_Reaction),
    "app_home_opened": _validator(_Opened),
    "app_context_changed": _validator(_Opened),
    "agent_session_stopped": _validator(_Stopped),
    "function_executed": _validator(_Executed),
    "user_change": _validator(_UserChanged),
}
_INTERACTIONS = {
    "block_actions": _validator(_Pressed),
    "view_submission": _validator(_Submitted),
    "view_closed": _validator(_Interaction),
    "shortcut": _validator(_Shortcut),
    "message_action": _validator(_MessageShortcut),
}
_OTHER = _validator(_Anonymous)


def check_payload(payload: object) -> None:
    """Raise MalformedPayload unless Slack could have sent `payload`, as far as the bot reads it."""
    if not isinstance(payload, dict):
        raise MalformedPayload("no JSON object")
    kind = payload.get("type")
    try:
        if kind == "event_callback":
            _check_event(payload)
        elif isinstance(kind, str):
            _INTERACTIONS.get(kind, _OTHER)(payload)
        elif "command" in payload:
            _COMMAND(payload)
        elif payload.get("ssl_check") != "1":
            raise MalformedPayload("neither an event, nor an interaction, nor a command")
    except ValidationError as error:
        [first, *_] = error.errors(include_url=False, include_input=False, include_context=False)
        place = ".".join(str(part) for part in first["loc"] if isinstance(part, str | int))
        raise MalformedPayload(f"{_name(kind)}: {place}: {first['msg']}"[:200]) from None


def _check_event(payload: dict[str, Any]) -> None:
    _CALLBACK(payload)
    event = payload.get("event")
    kind = event.get("type") if isinstance(event, dict) else None
    if not isinstance(kind, str):
        raise MalformedPayload("an event without a type")
    if kind in _EVENTS:
        _EVENTS[kind](event)


def _name(kind: object) -> str:
    """Return a payload type for the log; "payload" for an unknown type, which anyone may invent."""
    known = isinstance(kind, str) and kind in (*_INTERACTIONS, "event_callback")
    return str(kind) if known else "payload"


def view_of(body: Object) -> Object:
    """Return the view that contains the pressed button. Raises MalformedPayload without one."""
    view = body.get("view")
    if not view:
        raise MalformedPayload("a press outside of a modal")
    return dict(view)


def element(view: Object, name: str) -> Object:
    """Return the state of the input `name` of a submitted modal. Raises MalformedPayload."""
    state = view["state"]["values"].get(name, {}).get(name)
    if state is None:
        raise MalformedPayload(f"a modal without its field {name}")
    return dict(state)


def chosen(view: Object, name: str) -> str:
    """Return the value of the chosen option of the input `name`; "" when none is chosen."""
    return str((element(view, name).get("selected_option") or {}).get("value") or "")


def value_of(action: Object) -> str:
    """Return the value of the pressed button. Raises MalformedPayload when it has none."""
    value = action.get("value")
    if not value:
        raise MalformedPayload("a button that carries nothing")
    return str(value)


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


_OF_APPS = (*_ACCEPTED_SUBTYPES, "bot_message")


def is_of_another_app(event: Event, user: str, bot: str, app: str = "") -> bool:
    """Return whether another app posted the message: not Slack, and not this one, whose user, bot and app
    ids these are."""
    profile: Event = event.get("bot_profile") or {}
    by_an_app = bool(event.get("bot_id") or profile)
    known = by_an_app and event.get("channel") and event.get("ts") and not event.get("hidden")
    own = event.get("user") == user or event.get("bot_id") == bot
    own = own or (bool(app) and app in (event.get("app_id"), profile.get("app_id")))
    accepted = event.get("subtype") in _OF_APPS and event.get("user") != SLACKBOT
    return bool(known and accepted and not own)


def is_direct(event: Event) -> bool:
    """Return whether the message is in direct messages with the bot."""
    return event.get("channel_type") == "im" or str(event["channel"]).startswith("D")


def action_token(event: Event) -> str:
    """Return the event's action token, or ""; it may be inside `assistant_thread`."""
    nested: Event = event.get("assistant_thread") or {}
    return str(event.get("action_token") or nested.get("action_token") or "")


_CHANNEL = "slack#/types/channel_id"


def channel_beside(context: Mapping[str, Any] | None) -> str | None:
    """Return the id of the channel in an app context; None when it has none.

    The context is `app_context` of a message or `context` of app_context_changed.
    """
    for entity in (context or {}).get("entities") or ():
        if entity.get("type") == _CHANNEL and entity.get("value"):
            return str(entity["value"])
    return None
