"""A Web API method: its function, the model of its arguments, its token, scope and tier."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Literal

from pydantic import BaseModel

from bot.dev.workspace.api.arguments import model_of
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Channel, Json

Handler = Callable[..., Awaitable[Json]]
Token = Literal["bot", "app", "any", "none"]


@dataclass(frozen=True)
class Method:
    """A method of the Web API.

    `run(core, **arguments)` returns the body without "ok"; `bearer` is the kind of token, `scope`
    the scope the token needs.
    """

    name: str
    run: Handler
    arguments: type[BaseModel]
    bearer: Token
    scope: str | None
    tier: int


def method(
    name: str, *, bearer: Token = "bot", scope: str | None = None, tier: int = 3
) -> Callable[[Handler], Method]:
    """Declare a Web API method; the function's keyword-only parameters are its arguments."""

    def declare(function: Handler) -> Method:
        return Method(name, function, model_of(function), bearer, scope, tier)

    return declare


def find_channel(core: Core, given: str) -> Channel:
    """Return a channel that the bot can see, by id. Raises SlackFault channel_not_found."""
    channel = core.channels.get(given)
    if channel is None or not _visible(core, channel):
        raise SlackFault("channel_not_found")
    return channel


def joined_channel(core: Core, given: str) -> Channel:
    """Return a channel that the bot is in. Raises SlackFault channel_not_found, not_in_channel."""
    channel = find_channel(core, given)
    if core.bot_user_id not in channel.members:
        raise SlackFault("not_in_channel")
    return channel


def open_channel(core: Core, given: str) -> Channel:
    """Return a channel the bot may write to: by id, #name, or a person's id for their DM.

    Raises SlackFault channel_not_found, not_in_channel, is_archived.
    """
    channel = joined_channel(core, _resolve(core, given))
    if channel.archived:
        raise SlackFault("is_archived")
    return channel


def own_message(core: Core, channel: Channel, ts: str, otherwise: str) -> Json:
    """Return a message of the bot.

    Raises SlackFault message_not_found, or `otherwise` when it is somebody else's.
    """
    message = core.store.get(channel.id, ts)
    if message is None or message.get("subtype") == "tombstone":
        raise SlackFault("message_not_found")
    if message.get("bot_id") != core.bot_id:
        raise SlackFault(otherwise)
    return message


def _visible(core: Core, channel: Channel) -> bool:
    return channel.kind == "public" or core.bot_user_id in channel.members


def _resolve(core: Core, given: str) -> str:
    if given in core.people:
        direct = core.state.direct(given)
        return direct.id if direct else given
    if given.startswith("#"):
        return next(
            (c.id for c in core.channels.values() if c.name == given[1:] and not c.is_direct), given
        )
    return given
