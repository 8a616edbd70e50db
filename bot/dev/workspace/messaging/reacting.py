"""Reactions on messages."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.store.state import Channel, Json


def add_reaction(core: Core, place: Channel, message: Json, user: str, name: str) -> None:
    """Count a reaction and tell. The person's second of the same name is a CannotDo."""
    reactions = message.setdefault("reactions", [])
    entry = next((r for r in reactions if r["name"] == name), None)
    if entry is None:
        entry = {"name": name, "users": [], "count": 0}
        reactions.append(entry)
    if user in entry["users"]:
        raise CannotDo("already reacted")
    entry["users"].append(user)
    entry["count"] += 1
    _reaction_told(core, place, message, user, name, "reaction_added")


def remove_reaction(core: Core, place: Channel, message: Json, user: str, name: str) -> None:
    """Take a reaction back. CannotDo when there is none."""
    entry = next(
        (r for r in message.get("reactions", []) if r["name"] == name and user in r["users"]), None
    )
    if entry is None:
        raise CannotDo("no such reaction")
    entry["users"].remove(user)
    entry["count"] -= 1
    if not entry["users"]:
        message["reactions"].remove(entry)
    _reaction_told(core, place, message, user, name, "reaction_removed")


def _reaction_told(
    core: Core, place: Channel, message: Json, user: str, name: str, kind: str
) -> None:
    core.changed(
        "reaction",
        place.id,
        ts=message["ts"],
        thread_ts=message.get("thread_ts"),
        user=user,
        data={"name": name},
    )
    item = {"type": "message", "channel": place.id, "ts": message["ts"]}
    core.emit(
        {"type": kind, "user": user, "reaction": name, "item": item, "item_user": message["user"]},
        place,
    )
