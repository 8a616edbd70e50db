"""The Authorization header of one person's connection."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextvars import ContextVar

import httpx2
from mcp.client.auth import utils as oauth
from typing_extensions import override

from bot.features.accounts.account import AccountOwner, AccountProblem, AccountState, EndReason
from bot.features.accounts.oauth.access import AccountAccess
from bot.features.accounts.oauth.discovery import bounded_scopes
from bot.features.accounts.problems import problem
from bot.mcp.transports import statuses

log = logging.getLogger(__name__)

problems: ContextVar[list[AccountProblem]] = ContextVar("account_problems")
"""Collects why requests had no usable account; the SDK sends each in the context of its caller."""


class PersonAuth(httpx2.Auth):
    """Adds the token of one person, and refreshes it when the server refuses it.

    It never raises: the SDK would end the whole connection, and the caller would be cancelled. It
    lets the server's refusal pass and leaves word in `problems`.
    """

    requires_response_body = False

    def __init__(self, access: AccountAccess, owner: AccountOwner, server: str) -> None:
        self._access = access
        self._owner = owner
        self._server = server

    @override
    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        token = await self._token()
        if token:
            request.headers["Authorization"] = f"Bearer {token}"
        response = yield request
        if token and response.status_code == 401:
            fresh = await self._token(stale=token)
            if fresh is None:
                return
            request.headers["Authorization"] = f"Bearer {fresh}"
            statuses.get([]).clear()  # what counts is the answer to the request sent again
            response = yield request
            if response.status_code == 401:
                await self._reject(fresh)
        if response.status_code == 403:
            self._note_wish(response)

    async def _token(self, stale: str = "") -> str | None:
        """Return a token; None after leaving word why there is none."""
        try:
            return (await self._access.access(self._owner, self._server, stale=stale)).token
        except AccountProblem as found:
            self._leave(found)
        except Exception as error:  # noqa: BLE001 - nothing may end the connection
            log.warning("No token for MCP server %s: %s", self._server, type(error).__name__)
            self._leave(problem(self._server, AccountState.BUSY))
        return None

    async def _reject(self, token: str) -> None:
        """Handle that the server refuses a token that was just refreshed."""
        self._leave(problem(self._server, AccountState.ENDED))
        try:
            await self._access.end(self._owner, self._server, token, EndReason.REJECTED)
        except Exception as error:  # noqa: BLE001 - as above
            log.warning("MCP server %s: not noted that an account ended: %r", self._server, error)

    def _note_wish(self, response: httpx2.Response) -> None:
        if oauth.extract_field_from_www_auth(response, "error") == "insufficient_scope":
            wanted = bounded_scopes(oauth.extract_scope_from_www_auth(response) or "")
            self._leave(problem(self._server, AccountState.NEEDS_MORE, wanted))

    def _leave(self, found: AccountProblem) -> None:
        if (collected := problems.get(None)) is not None:
            collected.append(found)
