"""Slack's own slash commands that change who is in a channel."""

import re

from bot.dev.workspace import CannotDo, Workspace

CHANNEL_COMMANDS = ("/invite", "/remove")
_MENTION = re.compile(r"<@(\w+)>")


async def change_members(ws: Workspace, user: str, channel: str, command: str, text: str) -> None:
    """Do `/invite @name` or `/remove @name`; `text` is as Slack's composer sends it. Raises CannotDo."""
    if ws.channels[channel].is_direct:
        raise CannotDo(f"{command} is for channels")
    named = _MENTION.fullmatch(text.strip())
    if named is None or named[1] not in ws.state.everyone():
        raise CannotDo(f"Name one person, as in {command} @Ada")
    change = ws.invite if command == "/invite" else ws.remove
    await change(user, channel, named[1])
