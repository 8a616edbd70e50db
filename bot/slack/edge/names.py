"""Display names for the ids of people and channels in texts."""

from __future__ import annotations

import re

from bot.slack.edge.membership import ChannelMembership
from bot.slack.edge.people import People
from bot.slack.edge.text import NameOf

_ID = re.compile(r"[#@]?\b([CGUW](?=[A-Z]*\d)[A-Z0-9]{8,})\b")


def naming(people: People, access: ChannelMembership) -> NameOf:
    """Return a function that names people and public channels.

    A private channel keeps its id, because its name is for its members only.
    """

    async def name_of(entity: str) -> str:
        if entity.startswith(("C", "G")):
            return await access.open_name(entity)
        return await people.name(entity)

    return name_of


async def with_names(text: str, name_of: NameOf) -> str:
    """Return `text` with names instead of ids, and "a channel" for a private channel."""
    for found in list(_ID.finditer(text)):
        name, of_channel = await name_of(found[1]), found[1][0] in "CG"
        if name == found[1]:
            name = "a channel" if of_channel else "somebody"
        else:
            name = f"#{name}" if of_channel else name
        text = text.replace(found[0], name, 1)
    return text
