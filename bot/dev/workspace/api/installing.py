"""The app that is installed through OAuth: in several workspaces, each with a token of its own, or in
all of an organisation with one."""

from __future__ import annotations

import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from bot.dev.workspace.errors import CannotDo, SlackFault
from bot.dev.workspace.store.state import BOT_SCOPES, Json, State, token

if TYPE_CHECKING:
    from bot.dev.workspace.core import Core

TOKEN_LIFETIME = 43_200
CODE_LIFETIME = 600  # docs.slack.dev, installing with OAuth


@dataclass
class Code:
    """What somebody's consent is exchanged with, once."""

    core: Core
    user: str
    created: float
    organisation: str | None = None
    used: bool = False


@dataclass
class OAuthApp:
    """Settable: `redirect_url`, `rotates`, `lifetime` (seconds of a token that rotates)."""

    client_id: str = "1000000000001.2000000000002"
    client_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    redirect_url: str = ""
    rotates: bool = False
    lifetime: int = TOKEN_LIFETIME
    codes: dict[str, Code] = field(default_factory=dict)
    refreshes: dict[str, list[Core]] = field(default_factory=dict)
    workspaces: list[Core] = field(default_factory=list)

    def holder_of(self, given: str, team: object) -> Core | None:
        """The workspace that a token is for; of an organisation's the one that a call names."""
        found = [each for each in self.workspaces if each.state.owns(given)]
        return next((each for each in found if each.team_id == team), found[0] if found else None)

    def consent(self, core: Core, url: str, user: str, organisation: str | None) -> str:
        """Press Allow on Slack's page; where the browser is sent. Raises CannotDo."""
        asked = _asked(self, url)
        if set(asked["scope"].split(",")) - BOT_SCOPES - {""}:
            raise CannotDo("the app asks for what no workspace gives")
        code = secrets.token_urlsafe(24)
        self.codes[code] = Code(core, user, core.clock.now(), organisation)
        return f"{self.redirect_url}?{urlencode({'code': code, 'state': asked['state']})}"

    def refusal(self, url: str) -> str:
        """Press Cancel; where the browser is sent."""
        answer = {"error": "access_denied", "state": _asked(self, url)["state"]}
        return f"{self.redirect_url}?{urlencode(answer)}"

    def exchange(self, given: str) -> Json:
        """A code for a token. Raises SlackFault."""
        code = self.codes.get(given)
        if code is None or code.core.clock.now() > code.created + CODE_LIFETIME:
            raise SlackFault("invalid_code")
        if code.used:
            raise SlackFault("code_already_used")
        code.used = True
        cores = self.workspaces if code.organisation else [code.core]
        state = code.core.state
        granted = self._granted(cores, code.organisation)
        workspace = {"id": state.team_id, "name": state.team_name}
        organisation = {"id": code.organisation, "name": "Organisation"}
        return {
            **granted,
            "scope": ",".join(sorted(BOT_SCOPES - state.missing_scopes)),
            "bot_user_id": state.bot_user_id,
            "app_id": state.app_id,
            "team": None if code.organisation else workspace,
            "enterprise": organisation if code.organisation else None,
            "authed_user": {"id": code.user},
            "is_enterprise_install": code.organisation is not None,
        }

    def refresh(self, given: str) -> Json:
        """A refresh token, once, for a new token. Raises SlackFault."""
        cores = self.refreshes.pop(given, None)
        if cores is None:
            raise SlackFault("invalid_refresh_token")
        state = cores[0].state
        who = {"bot_user_id": state.bot_user_id, "app_id": state.app_id}
        return self._granted(cores, state.organisation) | who

    def _granted(self, cores: list[Core], organisation: str | None) -> Json:
        new = token("xoxe.xoxb-1" if self.rotates else "xoxb-1")
        for core in cores:
            _give(core.state, new, organisation)
        granted: Json = {"access_token": new, "token_type": "bot"}
        if self.rotates:
            refresh = token("xoxe-1")
            self.refreshes[refresh] = cores
            granted |= {"refresh_token": refresh, "expires_in": self.lifetime}
        return granted


def _give(state: State, new: str, organisation: str | None) -> None:
    """The token before is good until it expires."""
    state.former_tokens = set() if state.token_revoked else {state.bot_token}
    state.bot_token, state.token_revoked, state.organisation = new, False, organisation


def _asked(app: OAuthApp, url: str) -> dict[str, Any]:
    asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    if not urlsplit(url).path.endswith("/oauth/v2/authorize"):
        raise CannotDo(f"Slack has no such page: {url}")
    if asked.get("client_id") != app.client_id or not asked.get("scope"):
        raise CannotDo("Slack knows no such app, or it asks for nothing")
    if asked.get("redirect_uri", app.redirect_url) != app.redirect_url:
        raise CannotDo("the app's redirect URL is another")
    return {"state": "", **asked}
