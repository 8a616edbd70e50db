"""The token endpoint of an issuer: exchange a code, refresh, revoke."""

from __future__ import annotations

import base64
import json
import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import httpx2
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bot.features.accounts.account import ConnectError, ConnectFailure, Revoked
from bot.features.accounts.oauth.discovery import bounded_scopes
from bot.features.accounts.oauth.guard import Guard, NoAnswer
from bot.features.accounts.records import AccountRecord, OAuthClient, OAuthEndpoints, Revocation
from bot.text.invisible_text import without_invisible

log = logging.getLogger(__name__)

_UNKNOWN = frozenset({"invalid_client", "unauthorized_client"})
_ENDS = frozenset({"invalid_grant", *_UNKNOWN})
"""Errors after which a grant is over (RFC 6749, 5.2). All others are temporary."""

_NO_ACCESS_TOKENS = "unsupported_token_type"  # RFC 7009, 2.2.1
_BUSY = frozenset({408, 425, 429})  # HTTP statuses after which to try again
_CODE = re.compile(r"[a-z_]{1,60}")
_MAX_NAME = 100
_MAX_TOKEN = 20_000
_LONGEST_LIFE = 10 * 365 * 86_400


class GrantEnded(Exception):
    """The issuer accepts a code or a refresh token no longer; `error` is its code for why."""

    def __init__(self, error: str) -> None:
        super().__init__(error)
        self.error = error


class Tokens(BaseModel):
    """The answer of a token endpoint; `expires_in` is in seconds, None if unknown."""

    model_config = ConfigDict(frozen=True)

    access_token: str = Field(min_length=1, max_length=_MAX_TOKEN, pattern=r"^[!-~]+$", repr=False)
    token_type: str = "bearer"  # noqa: S105 - a kind, not a secret
    expires_in: float | None = Field(default=None, ge=0, le=_LONGEST_LIFE)
    refresh_token: str | None = Field(default=None, max_length=_MAX_TOKEN, repr=False)
    scope: str | None = None
    id_token: str | None = Field(default=None, max_length=_MAX_TOKEN, repr=False)

    @property
    def scopes(self) -> str:
        return bounded_scopes(self.scope or "")

    @property
    def name(self) -> str:
        """The name of the account, if the issuer tells it in an id token; "" otherwise.

        The signature need not be checked: the token came from the issuer itself, over TLS.
        """
        try:
            claims = (self.id_token or "").split(".")[1]
            found = json.loads(base64.urlsafe_b64decode(claims + "=" * (-len(claims) % 4)))
            named = (found.get(key) for key in ("email", "preferred_username", "name"))
            name = next((each for each in named if isinstance(each, str) and each), "")
        except (IndexError, ValueError, AttributeError, RecursionError):
            return ""
        return " ".join(without_invisible(name).split())[:_MAX_NAME]


@dataclass(frozen=True, slots=True)
class TokenRequest:
    """A request to the token or revocation endpoint, with the client's credentials."""

    client: OAuthClient
    form: Mapping[str, str] = field(repr=False)

    async def send(self, endpoint: str, guard: Guard) -> httpx2.Response:
        """Return the answer. Raises ConnectError when there is none."""
        answer = await guard.post(endpoint, content=self.content, headers=self.headers)
        if self.client.method == "client_secret_basic" and _error(answer.content) in _UNKNOWN:
            # Some issuers want the client's id in the form as well, others refuse it there.
            form = {**self.form, "client_id": self.client.id}
            again = replace(self, form=form)
            return await guard.post(endpoint, content=again.content, headers=again.headers)
        return answer

    @property
    def headers(self) -> dict[str, str]:
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        if self.client.method == "client_secret_basic":
            # RFC 6749, 2.3.1: both are form-encoded first.
            pair = f"{quote(self.client.id, safe='')}:{quote(self.client.secret, safe='')}"
            headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
        return headers

    @property
    def content(self) -> str:
        form = dict(self.form)
        if self.client.method != "client_secret_basic":
            form["client_id"] = self.client.id
        if self.client.method == "client_secret_post":
            form["client_secret"] = self.client.secret
        return urlencode(form)


async def exchange(
    endpoints: OAuthEndpoints, client: OAuthClient, code: str, verifier: str, guard: Guard
) -> Tokens:
    """Return the tokens for a `code`. Raises ConnectError and GrantEnded."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": client.redirect_uri,
        "code_verifier": verifier,
        "resource": endpoints.resource,
    }
    return await _tokens(endpoints, TokenRequest(client, form), guard)


async def refresh(record: AccountRecord, guard: Guard) -> Tokens:
    """Return new tokens for an account. Raises ConnectError and GrantEnded."""
    form = {
        "grant_type": "refresh_token",
        "refresh_token": record.refresh,
        "resource": record.endpoints.resource,
    }
    return await _tokens(record.endpoints, TokenRequest(record.client, form), guard)


async def sign_in(
    endpoints: OAuthEndpoints, client: OAuthClient, scope: str, guard: Guard
) -> Tokens:
    """Return tokens for the client itself (RFC 6749, 4.4). Raises ConnectError and GrantEnded."""
    form = {"grant_type": "client_credentials", "resource": endpoints.resource}
    form |= {"scope": scope} if scope else {}
    return await _tokens(endpoints, TokenRequest(client, form), guard)


async def revoke(revocation: Revocation, guard: Guard) -> Revoked:
    """Ask the issuer to revoke tokens (RFC 7009), once."""
    endpoints = revocation.endpoints
    tokens = {"refresh_token": revocation.refresh, "access_token": revocation.access}
    try:
        endpoint = guard.check(endpoints.revocation, near=endpoints.issuer)
        for kind, token in tokens.items():
            if not token:
                continue
            form = {"token": token, "token_type_hint": kind}
            answer = await TokenRequest(revocation.client, form).send(endpoint, guard)
            # With its refresh token a grant ends, and some issuers revoke no other.
            ends_alone = revocation.refresh and _error(answer.content) == _NO_ACCESS_TOKENS
            if answer.status_code == 200 or (kind == "access_token" and ends_alone):
                continue
            log.warning("A token was not revoked: HTTP %d", answer.status_code)
            is_busy = answer.status_code >= 500 or answer.status_code in _BUSY
            return Revoked.LATER if is_busy else Revoked.NEVER
    except NoAnswer as error:
        log.warning("A token is not revoked yet: %s", error)
        return Revoked.LATER
    except ConnectError as error:
        log.warning("A token was not revoked: %s", error)
        return Revoked.NEVER
    return Revoked.NOW


async def _tokens(endpoints: OAuthEndpoints, request: TokenRequest, guard: Guard) -> Tokens:
    endpoint = guard.check(endpoints.token, near=endpoints.issuer)
    answer = await request.send(endpoint, guard)
    host = urlsplit(endpoint).netloc
    if answer.status_code in (200, 201):
        try:
            tokens = Tokens.model_validate_json(answer.content)
        except ValidationError:
            raise ConnectError(ConnectFailure.SERVER, f"{host} sent no valid token") from None
        if tokens.token_type.lower() != "bearer":
            raise ConnectError(ConnectFailure.SERVER, f"{host} sent a token of another type")
        return tokens
    error = _error(answer.content)
    if answer.status_code in (400, 401) and error in _ENDS:
        raise GrantEnded(error)
    if answer.status_code in (400, 401, 403) and error:
        raise ConnectError(ConnectFailure.SERVER, f"{host} answers {error}")
    raise ConnectError(ConnectFailure.UNREACHABLE, f"{host} answers HTTP {answer.status_code}")


def _error(content: bytes) -> str:
    """Return the error code of an answer, "" if it has none: other words could hold anything."""
    try:
        answer: Any = json.loads(content)
    except (ValueError, RecursionError):
        return ""
    error = answer.get("error") if isinstance(answer, dict) else None
    if not isinstance(error, str) or not _CODE.fullmatch(error):
        return ""
    return error
