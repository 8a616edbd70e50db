"""auth.*, api.test, bots.info."""

from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.methods.method import method
from bot.dev.workspace.state import Json


@method("auth.test", bearer="any", tier=4)
async def test(core: Core) -> Json:
    """Who this token is."""
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
    """Make the bot's token invalid."""
    if not test:
        core.revoke()
    return {"revoked": not test}


@method("api.test", bearer="none", tier=4)
async def api_test(_: Core, *, error: str | None = None, foo: str | None = None) -> Json:
    """Answer what was asked for."""
    if error:
        raise SlackFault(error)
    return {"args": {"foo": foo} if foo else {}}


@method("bots.info", scope="users:read")
async def bots_info(core: Core, *, bot: str | None = None, team_id: str | None = None) -> Json:  # noqa: ARG001 - Slack takes it
    """The app's bot."""
    state = core.state
    if bot not in (None, state.bot_id):
        raise SlackFault("bot_not_found")
    shown = {
        "id": state.bot_id,
        "deleted": False,
        "name": state.app_name,
        "user_id": state.bot_user_id,
    }
    return {"bot": shown | {"app_id": state.app_id, "updated": 1_700_000_000, "icons": {}}}
