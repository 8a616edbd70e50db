"""Reactions on messages."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.store.state import Channel, Json


def add_reaction(core: Core, conversation: Channel, message: Json, user: str, name: str) -> None:
    """Add a reaction and notify. Raises CannotDo if the person already has this reaction."""
    reactions = message.setdefault("reactions", [])
    entry = next((r for r in reactions if r["name"] == name), None)
    if entry is None:
        entry = {"name": name, "users": [], "count": 0}
        reactions.append(entry)
    if user in entry["users"]:
        raise CannotDo("already reacted")
    entry["users"].append(user)
    entry["count"] += 1
    _notify(core, conversation, message, user, name, "reaction_added")


def remove_reaction(core: Core, conversation: Channel, message: Json, user: str, name: str) -> None:
    """Remove a reaction and notify. Raises CannotDo when there is none."""
    entry = next(
        (r for r in message.get("reactions", []) if r["name"] == name and user in r["users"]), None
    )
    if entry is None:
        raise CannotDo("no such reaction")
    entry["users"].remove(user)
    entry["count"] -= 1
    if not entry["users"]:
        message["reactions"].remove(entry)
    _notify(core, conversation, message, user, name, "reaction_removed")


def _notify(
    core: Core, conversation: Channel, message: Json, user: str, name: str, kind: str
) -> None:
    core.changed(
        "reaction",
        conversation.id,
        ts=message["ts"],
        thread_ts=message.get("thread_ts"),
        user=user,
        data={"name": name},
    )
    item = {"type": "message", "channel": conversation.id, "ts": message["ts"]}
    core.emit(
        {"type": kind, "user": user, "reaction": name, "item": item, "item_user": message["user"]},
        conversation,
    )
