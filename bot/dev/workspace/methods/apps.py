"""apps.connections.open and blocks.validate."""

from bot.dev.workspace.arguments import JsonList, JsonObject
from bot.dev.workspace.blocks import check_blocks, check_view
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.methods.method import method
from bot.dev.workspace.state import Json


@method("apps.connections.open", bearer="app", scope="connections:write", tier=1)
async def connections_open(core: Core) -> Json:
    """A WebSocket URL that serves once."""
    return {"url": core.delivery.sockets.new_url()}


@method("blocks.validate", bearer="none", tier=4)
async def validate(
    _: Core, *, blocks: JsonList | None = None, view: JsonObject | None = None
) -> Json:
    """Check blocks or a view without posting; needs no token."""
    if blocks is None and view is None:
        raise SlackFault(
            "invalid_arguments", response_metadata={"messages": ["[ERROR] missing: blocks"]}
        )
    if blocks is not None:
        check_blocks(blocks)
    if view is not None:
        check_view(view, str(view.get("type")))
    return {}
