"""apps.connections.open."""

from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.core import Core
from bot.dev.workspace.store.state import Json


@method("apps.connections.open", bearer="app", scope="connections:write", tier=1)
async def connections_open(core: Core) -> Json:
    """Return a WebSocket URL that works once."""
    return {"url": core.delivery.sockets.new_url()}
