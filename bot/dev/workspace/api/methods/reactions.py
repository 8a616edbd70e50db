"""reactions.*"""

from bot.dev.workspace.api.methods.method import joined_channel, method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import CannotDo, SlackFault
from bot.dev.workspace.messaging.reacting import add_reaction, remove_reaction
from bot.dev.workspace.store.messages import without_metadata
from bot.dev.workspace.store.state import Channel, Json


@method("reactions.add", scope="reactions:write")
async def add(core: Core, *, channel: str, timestamp: str, name: str) -> Json:
    """Add a reaction to a message."""
    conversation, message = _message(core, channel, timestamp)
    if conversation.archived:
        raise SlackFault("is_archived")
    try:
        add_reaction(core, conversation, message, core.bot_user_id, name)
    except CannotDo:
        raise SlackFault("already_reacted") from None
    return {}


@method("reactions.remove", scope="reactions:write")
async def remove(core: Core, *, channel: str, timestamp: str, name: str) -> Json:
    """Remove one of the bot's reactions."""
    conversation, message = _message(core, channel, timestamp)
    try:
        remove_reaction(core, conversation, message, core.bot_user_id, name)
    except CannotDo:
        raise SlackFault("no_reaction") from None
    return {}


@method("reactions.get", scope="reactions:read")
async def get(core: Core, *, channel: str, timestamp: str, full: bool = True) -> Json:  # noqa: ARG001
    """Return a message with its reactions."""
    conversation, message = _message(core, channel, timestamp)
    return {"type": "message", "channel": conversation.id, "message": without_metadata(message)}


def _message(core: Core, channel: str, ts: str) -> tuple[Channel, Json]:
    conversation = joined_channel(core, channel)
    message = core.store.get(conversation.id, ts)
    if message is None:
        raise SlackFault("message_not_found")
    return conversation, message
