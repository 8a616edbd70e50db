"""Sign in with Slack: Slack proves who uses a browser (OpenID Connect)."""

from __future__ import annotations

import base64
import hmac
import json
import time
from typing import Any
from urllib.parse import urlencode

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient

from bot.features.accounts.account import AccountOwner, ConnectError, ConnectFailure
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.installs import AppKeys

_ISSUER = "https://slack.com"


class SlackSignIn:
    """Signs people in at `authorize_url`. See `bot.features.accounts.account.SignIn`.

    The id token comes from Slack itself over TLS, which OpenID Connect accepts in place of its
    signature. Its issuer, audience, nonce and age are checked.
    """

    def __init__(self, keys: AppKeys, client: AsyncWebClient, authorize_url: str) -> None:
        self._keys = keys
        self._client = client
        self._authorize_url = authorize_url

    def address(self, *, team: str, state: str, nonce: str, redirect_uri: str) -> str:
        """Return the address of Slack's page, which shows the workspace `team`."""
        query = {
            "response_type": "code",
            "scope": "openid",
            "client_id": self._keys.client_id,
            "team": team,
            "state": state,
            "nonce": nonce,
            "redirect_uri": redirect_uri,
        }
        return f"{self._authorize_url}?{urlencode(query)}"

    async def person(self, *, code: str, nonce: str, redirect_uri: str) -> AccountOwner:
        """Return who signed in. Raises ConnectError."""
        try:
            answer = await self._client.openid_connect_token(
                client_id=self._keys.client_id,
                client_secret=self._keys.client_secret,
                code=code,
                redirect_uri=redirect_uri,
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            raise _unproved(type(error).__name__) from error
        claims = _claims(str(answer.get("id_token") or ""))
        if (claims.get("iss"), claims.get("aud")) != (_ISSUER, self._keys.client_id):
            raise _unproved("the token is of another issuer or for another app")
        if not hmac.compare_digest(str(claims.get("nonce")).encode(), nonce.encode()):
            raise _unproved("the token is of another sign-in")
        if not isinstance(ends := claims.get("exp"), int) or ends < time.time():
            raise _unproved("the token has expired")
        team, user = (claims.get(f"{_ISSUER}/{what}") for what in ("team_id", "user_id"))
        if not (isinstance(team, str) and isinstance(user, str)):
            raise _unproved("the token names nobody")
        return AccountOwner(team, user)


def _claims(token: str) -> dict[str, Any]:
    """Return the claims of a token. Raises ConnectError."""
    try:
        _, payload, _ = token.split(".")
        found = json.loads(base64.urlsafe_b64decode(payload + "=" * (-len(payload) % 4)))
    except (ValueError, RecursionError):
        raise _unproved("no token") from None
    return found if isinstance(found, dict) else {}


def _unproved(why: str) -> ConnectError:
    return ConnectError(ConnectFailure.PROOF, f"Slack did not say who signed in: {why}")
