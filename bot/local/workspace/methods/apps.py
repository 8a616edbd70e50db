"""apps.connections.open, and the methods this workspace says it has not."""

from bot.local.workspace.core import Core
from bot.local.workspace.errors import SlackFault
from bot.local.workspace.methods.method import method
from bot.local.workspace.state import Json


@method("apps.connections.open", token="app", scope="connections:write", tier=1)
async def connections_open(core: Core) -> Json:
    """A WebSocket URL that serves once."""
    return {"url": core.delivery.sockets.new_url()}
