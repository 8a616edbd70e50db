"""OAuth: an app in several workspaces with a token each, or in an organisation with one token."""

from __future__ import annotations

import base64
import json
import secrets
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qs, urlencode, urlsplit

from bot.dev.workspace.errors import CannotDo, SlackFault
from bot.dev.workspace.store.state import BOT_SCOPES, Json, State, token

if TYPE_CHECKING:
    from bot.dev.workspace.core import Core

TOKEN_LIFETIME = 43_200
CODE_LIFETIME = 600  # seconds, docs.slack.dev, installing with OAuth


@dataclass
class Code:
    """A code for a token, from one person's consent."""

    core: Core
    user: str
    created: float
    organisation: str | None = None
    used: bool = False


@dataclass
class SignIn:
    """A code for a token that names a person (Sign in with Slack)."""

    core: Core
    user: str
    created: float
    nonce: str
    redirect_uri: str


@dataclass
class OAuthApp:
    """The app as OAuth knows it.

    Settable: `redirect_url`, `rotates`, `lifetime` (seconds that a rotating token lasts).
    """

    client_id: str = "1000000000001.2000000000002"
    client_secret: str = field(default_factory=lambda: secrets.token_hex(16))
    redirect_url: str = ""
    rotates: bool = False
    lifetime: int = TOKEN_LIFETIME
    codes: dict[str, Code] = field(default_factory=dict)
    refreshes: dict[str, list[Core]] = field(default_factory=dict)
    workspaces: list[Core] = field(default_factory=list)
    sign_ins: dict[str, SignIn] = field(default_factory=dict)

    def holder_of(self, given: str, team: object) -> Core | None:
        """Return the workspace of a token; for an organisation's token, the one of this `team`."""
        found = [each for each in self.workspaces if each.state.owns(given)]
        return next((each for each in found if each.team_id == team), found[0] if found else None)

    def consent(self, core: Core, url: str, user: str, organisation: str | None) -> str:
        """Press Allow on Slack's page and return where the browser is sent. Raises CannotDo."""
        parameters = _parameters(self, url)
        if set(parameters["scope"].split(",")) - BOT_SCOPES - {""}:
            raise CannotDo("the app asks for what no workspace gives")
        code = secrets.token_urlsafe(24)
        self.codes[code] = Code(core, user, core.clock.now(), organisation)
        return f"{self.redirect_url}?{urlencode({'code': code, 'state': parameters['state']})}"

    def sign_in(self, core: Core, url: str, user: str) -> str:
        """Press Allow on the page that signs in, and return where the browser is sent. Raises
        CannotDo."""
        asked = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
        if not urlsplit(url).path.endswith("/openid/connect/authorize"):
            raise CannotDo(f"Slack has no such page: {url}")
        if asked.get("client_id") != self.client_id or asked.get("response_type") != "code":
            raise CannotDo("Slack knows no such app, or it asks for no code")
        if "openid" not in asked.get("scope", "").split() or not asked.get("redirect_uri"):
            raise CannotDo("the app does not ask who somebody is, or for no address of its own")
        code = secrets.token_urlsafe(24)
        self.sign_ins[code] = SignIn(
            core, user, core.clock.now(), asked.get("nonce", ""), asked["redirect_uri"]
        )
        answer = {"code": code, "state": asked.get("state", "")}
        return f"{asked['redirect_uri']}?{urlencode(answer)}"

    def signed_in(self, given: str, redirect_uri: str) -> Json:
        """Exchange a code, which works once, for a token that names the person.

        Raises SlackFault.
        """
        code = self.sign_ins.pop(given, None)
        if code is None or code.core.clock.now() > code.created + CODE_LIFETIME:
            raise SlackFault("invalid_code")
        if redirect_uri != code.redirect_uri:
            raise SlackFault("bad_redirect_uri")
        issuer, now = "https://slack.com", int(code.core.clock.now())
        claims = {
            "iss": issuer,
            "aud": self.client_id,
            "sub": code.user,
            "iat": now,
            "exp": now + 300,
            "nonce": code.nonce,
            f"{issuer}/team_id": code.core.team_id,
            f"{issuer}/user_id": code.user,
        }
        parts = [{"alg": "RS256", "typ": "JWT"}, claims, {}]
        token = ".".join(_encoded(json.dumps(each)) for each in parts)
        return {
            "access_token": secrets.token_urlsafe(24),
            "token_type": "Bearer",
            "id_token": token,
        }

    def refusal(self, url: str) -> str:
        """Press Cancel and return where the browser is sent."""
        answer = {"error": "access_denied", "state": _parameters(self, url)["state"]}
        return f"{self.redirect_url}?{urlencode(answer)}"

    def exchange(self, given: str) -> Json:
        """Exchange a code for a token. Raises SlackFault."""
        code = self.codes.get(given)
        if code is None or code.core.clock.now() > code.created + CODE_LIFETIME:
            raise SlackFault("invalid_code")
        if code.used:
            raise SlackFault("code_already_used")
        code.used = True
        cores = self.workspaces if code.organisation else [code.core]
        state = code.core.state
        granted = self._grant(cores, code.organisation)
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
        """Exchange a refresh token, which works once, for a new token. Raises SlackFault."""
        cores = self.refreshes.pop(given, None)
        if cores is None:
            raise SlackFault("invalid_refresh_token")
        state = cores[0].state
        app = {"bot_user_id": state.bot_user_id, "app_id": state.app_id}
        return self._grant(cores, state.organisation) | app

    def _grant(self, cores: list[Core], organisation: str | None) -> Json:
        new = token("xoxe.xoxb-1" if self.rotates else "xoxb-1")
        for core in cores:
            _set_token(core.state, new, organisation)
        granted: Json = {"access_token": new, "token_type": "bot"}
        if self.rotates:
            refresh = token("xoxe-1")
            self.refreshes[refresh] = cores
            granted |= {"refresh_token": refresh, "expires_in": self.lifetime}
        return granted


def _encoded(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode().rstrip("=")


def _set_token(state: State, new: str, organisation: str | None) -> None:
    """Set the workspace's token; the former one stays valid until it expires."""
    state.former_tokens = set() if state.token_revoked else {state.bot_token}
    state.bot_token, state.token_revoked, state.organisation = new, False, organisation


def _parameters(app: OAuthApp, url: str) -> dict[str, Any]:
    parameters = {name: values[0] for name, values in parse_qs(urlsplit(url).query).items()}
    if not urlsplit(url).path.endswith("/oauth/v2/authorize"):
        raise CannotDo(f"Slack has no such page: {url}")
    if parameters.get("client_id") != app.client_id or not parameters.get("scope"):
        raise CannotDo("Slack knows no such app, or it asks for nothing")
    if parameters.get("redirect_uri", app.redirect_url) != app.redirect_url:
        raise CannotDo("the app's redirect URL is another")
    return {"state": "", **parameters}
