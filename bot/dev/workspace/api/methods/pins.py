"""pins.*: pinned messages."""

from bot.dev.workspace.api.methods.method import joined_channel, method
from bot.dev.workspace.core import Core
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Json


@method("pins.list", scope="pins:read", tier=2)
async def pinned(core: Core, *, channel: str) -> Json:
    """Return the pinned messages, the latest pin first."""
    conversation = joined_channel(core, channel)
    items = [
        {
            "type": "message",
            "channel": conversation.id,
            "created": pin.created,
            "created_by": pin.user,
            "message": without_metadata(message) | {"pinned_to": [conversation.id]},
        }
        for pin in reversed(conversation.pins)
        if (message := core.store.get(conversation.id, pin.ts))
    ]
    return {"items": items}
