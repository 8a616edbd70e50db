"""Names for the ids that stand in what people write."""

from __future__ import annotations

from bot.slack.access import Access
from bot.slack.people import People
from bot.slack.text import NameOf


def naming(people: People, access: Access) -> NameOf:
    """Names people and public channels. What a private channel is called is for its members only, so
    it keeps its id."""

    async def name_of(entity: str) -> str:
        if entity.startswith(("C", "G")):
            return await access.open_name(entity)
        return await people.name(entity)

    return name_of
