"""auth.* and api.test."""

from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json


@method("auth.test", bearer="any", tier=4)
async def test(core: Core) -> Json:
    """Return whose token this is."""
    state = core.state
    return {
        "url": state.url,
        "team": state.team_name,
        "user": "bot",
        "team_id": state.team_id,
        "user_id": state.bot_user_id,
        "bot_id": state.bot_id,
        "app_id": state.app_id,
        "app_name": state.app_name,
        "enterprise_id": state.organisation,
        "is_enterprise_install": state.organisation is not None,
    }


@method("auth.revoke")
async def revoke(core: Core, *, test: bool = False) -> Json:
    """Revoke the bot's token."""
    if not test:
        core.revoke()
    return {"revoked": not test}


@method("api.test", bearer="none", tier=4)
async def api_test(_: Core, *, error: str | None = None, foo: str | None = None) -> Json:
    """Return the given arguments."""
    if error:
        raise SlackFault(error)
    return {"args": {"foo": foo} if foo else {}}
