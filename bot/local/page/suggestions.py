"""People, commands and emoji as the page offers them."""

from collections.abc import Sequence
from typing import Any

from bot.local.page.render.emoji import EMOJI
from bot.local.workspace import Person, Workspace

Json = dict[str, Any]


def suggestions(ws: Workspace, commands: Sequence[Json]) -> Json:
    """What the composer completes: people after "@", slash commands after "/", emoji by name."""
    everyone = ws.state.everyone()
    bot = everyone[ws.bot_user_id]
    people = [bot, *(person for person in everyone.values() if person is not bot)]
    return {
        "people": [act_as(person) for person in people if not person.is_deactivated],
        "commands": list(commands),
        "emoji": list(EMOJI.items()),
    }


def act_as(person: Person) -> Json:
    """A person to be chosen, with what is special about them."""
    notes = {
        "agent": person.is_bot,
        "guest": person.is_guest,
        "external": person.is_external,
        "admin": person.is_admin,
    }
    note = next((note for note, holds in notes.items() if holds), "")
    return {"id": person.id, "name": person.real_name, "note": note}
