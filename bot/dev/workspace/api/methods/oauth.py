"""oauth.*: exchanging codes and refresh tokens for tokens."""

from bot.dev.workspace.api.methods.method import method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.store.state import Json


@method("openid.connect.token", bearer="none", tier=4)
async def token(
    core: Core, *, client_id: str, client_secret: str, code: str, redirect_uri: str | None = None
) -> Json:
    """Exchange the code of a sign-in for a token that names the person."""
    app = core.oauth
    if client_id != app.client_id:
        raise SlackFault("invalid_client_id")
    if client_secret != app.client_secret:
        raise SlackFault("bad_client_secret")
    return app.signed_in(code, redirect_uri or "")


@method("oauth.v2.access", bearer="none", tier=4)
async def access(
    core: Core,
    *,
    client_id: str,
    client_secret: str,
    code: str | None = None,
    redirect_uri: str | None = None,
    grant_type: str | None = None,
    refresh_token: str | None = None,
) -> Json:
    """Exchange a code or a refresh token."""
    app = core.oauth
    if client_id != app.client_id:
        raise SlackFault("invalid_client_id")
    if client_secret != app.client_secret:
        raise SlackFault("bad_client_secret")
    if grant_type == "refresh_token":
        return app.refresh(refresh_token or "")
    if grant_type not in (None, "authorization_code"):
        raise SlackFault("invalid_grant_type")
    if redirect_uri not in (None, app.redirect_url):
        raise SlackFault("bad_redirect_uri")
    return app.exchange(code or "")
