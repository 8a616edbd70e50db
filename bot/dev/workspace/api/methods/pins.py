"""pins.*: what a channel keeps at hand."""

from bot.dev.workspace.api.methods.method import joined_channel, method
from bot.dev.workspace.core import Core
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Json


@method("pins.list", scope="pins:read", tier=2)
async def pinned(core: Core, *, channel: str) -> Json:
    """The pinned messages, the latest pin first."""
    place = joined_channel(core, channel)
    items = [
        {
            "type": "message",
            "channel": place.id,
            "created": pin.created,
            "created_by": pin.user,
            "message": without_metadata(message) | {"pinned_to": [place.id]},
        }
        for pin in reversed(place.pins)
        if (message := core.store.get(place.id, pin.ts))
    ]
    return {"items": items}
