"""The slash commands of Slack's own that change a channel: who is in it, and whether it goes on."""

import re
from collections.abc import Awaitable, Callable
from typing import Any

from bot.dev.workspace import CannotDo, Workspace

Json = dict[str, Any]

CHANNEL_COMMANDS: tuple[Json, ...] = (
    {"command": "/invite", "description": "Add somebody to this channel", "usage_hint": "@name"},
    {
        "command": "/remove",
        "description": "Take somebody out of this channel",
        "usage_hint": "@name",
    },
    {"command": "/leave", "description": "Leave this channel", "usage_hint": ""},
    {"command": "/archive", "description": "Archive this channel", "usage_hint": ""},
    {
        "command": "/deactivate",
        "description": "End somebody's account (in Slack: Manage members)",
        "usage_hint": "@name",
    },
)
_MENTION = re.compile(r"<@(\w+)>")


class ChannelCommands:
    """Does them for people who are in the channel."""

    def __init__(self, ws: Workspace) -> None:
        self._ws = ws
        self._known: dict[str, Callable[[str, str, str], Awaitable[None]]] = {
            "/invite": self._invite,
            "/remove": self._remove,
            "/leave": self._leave,
            "/archive": self._archive,
            "/deactivate": self._deactivate,
        }

    def has(self, command: str) -> bool:
        """Whether it is one of these."""
        return command in self._known

    async def do(self, user: str, channel: str, command: str, text: str) -> None:
        """Do what somebody typed; `text` as Slack's composer sends it. Raises CannotDo."""
        if self._ws.channels[channel].is_direct:
            raise CannotDo(f"{command} is for channels")
        await self._known[command](user, channel, text)

    async def _invite(self, user: str, channel: str, text: str) -> None:
        await self._ws.invite(user, channel, self._named(text))

    async def _remove(self, user: str, channel: str, text: str) -> None:
        await self._ws.remove(user, channel, self._named(text))

    async def _leave(self, user: str, channel: str, _: str) -> None:
        await self._ws.remove(user, channel, user)

    async def _archive(self, user: str, channel: str, _: str) -> None:
        await self._ws.archive(user, channel)

    async def _deactivate(self, user: str, _: str, text: str) -> None:
        await self._ws.deactivate(user, self._named(text))

    def _named(self, text: str) -> str:
        found = _MENTION.fullmatch(text.strip())
        if found is None or found[1] not in self._ws.state.everyone():
            raise CannotDo("Name one person, as in /invite @Ada")
        return found[1]
