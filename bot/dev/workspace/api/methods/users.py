"""users.*: people."""

from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.api.paging import page
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json
from bot.dev.workspace.store.wire import user_object


@method("users.info", scope="users:read", tier=4)
async def info(core: Core, *, user: str, include_locale: bool = False) -> Json:
    """Return one person, or the bot's own user."""
    person = core.state.everyone().get(user)
    if person is None:
        raise SlackFault("user_not_found")
    shown = user_object(person, core.state)
    if not include_locale:
        del shown["locale"]
    return {"user": shown}


@method("users.list", scope="users:read", tier=2)
async def list_users(
    core: Core, *, limit: int = 100, cursor: str | None = None, include_locale: bool = False
) -> Json:
    """Return the people of this workspace, and the bot."""
    found, more = page(list(core.state.everyone().values()), limit, cursor)
    shown = [user_object(person, core.state) for person in found]
    if not include_locale:
        for user in shown:
            del user["locale"]
    return {
        "members": shown,
        "cache_ts": int(core.clock.now()),
        "response_metadata": more["response_metadata"],
    }
