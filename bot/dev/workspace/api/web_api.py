"""The entry of the Web API: token, scope, rate, arguments, faults, record."""

import asyncio
from base64 import b64decode
from dataclasses import dataclass
from email.utils import formatdate

from aiohttp import web

from bot.dev.workspace.api.arguments import check, read
from bot.dev.workspace.api.faults import Failure
from bot.dev.workspace.api.methods import METHODS
from bot.dev.workspace.api.methods.method import Method
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import RateLimited, SlackFault
from bot.dev.workspace.store.copying import copied
from bot.dev.workspace.store.record import Effect
from bot.dev.workspace.store.state import Json


@dataclass
class _Outcome:
    body: Json
    status: int = 200
    headers: dict[str, str] | None = None
    ok: bool = False
    dropped: bool = False


class WebApi:
    """Serves /api/<method>."""

    def __init__(self, core: Core) -> None:
        self._core = core

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Carry out one call and record it."""
        name = request.match_info["method"]
        given, unreadable = await _given(request)
        token = _token(request, given)
        owner = self._core.oauth.holder_of(token, given.get("team_id"))
        if owner is not None and owner is not self._core:
            return await WebApi(owner)._answer(request, name, token, given, unreadable)
        return await self._answer(request, name, token, given, unreadable)

    async def _answer(
        self,
        request: web.Request,
        name: str,
        token: str,
        given: Json,
        unreadable: SlackFault | None,
    ) -> web.StreamResponse:
        await asyncio.sleep(self._core.faults.delay_of(name))
        outcome = (
            _Outcome(unreadable.body()) if unreadable else await self._carry_out(name, token, given)
        )
        error = "reply_lost" if outcome.dropped else outcome.body.get("error")
        self._core.record.effect(
            Effect(name, given, self._core.clock.now(), outcome.ok, error, outcome.body)
        )
        if outcome.dropped and request.transport is not None:
            request.transport.abort()
        headers = self._headers(name, token) | (outcome.headers or {})
        return web.json_response(outcome.body, status=outcome.status, headers=headers)

    def _headers(self, name: str, token: str) -> dict[str, str]:
        """Return Slack's time, the scopes of the token, and the scope of the method."""
        headers = {"Date": formatdate(self._core.clock.now(), usegmt=True)}
        if granted := self._core.state.scopes_of(token):
            headers["x-oauth-scopes"] = ",".join(sorted(granted))
        if (method := METHODS.get(name)) and method.scope:
            headers["x-accepted-oauth-scopes"] = method.scope
        return headers

    async def _carry_out(self, name: str, token: str, given: Json) -> _Outcome:
        failure = self._core.faults.failure_of(name)
        if failure and not failure.after_effect:
            return _failed(failure)
        try:
            body = {"ok": True, **copied(await self._call(name, token, given))}
        except RateLimited as limit:
            return _Outcome(limit.body(), 429, {"Retry-After": str(limit.retry_after)})
        except SlackFault as fault:
            return _Outcome(fault.body())
        return _Outcome(body, ok=True, dropped=failure is not None)

    async def _call(self, name: str, token: str, given: Json) -> Json:
        method = METHODS.get(name)
        if method is None:
            raise SlackFault("unknown_method", req_method=name)
        self._authorize(method, token)
        self._core.rates.count_call(name, method.tier)
        return await method.run(self._core, **check(method.arguments, given))

    def _authorize(self, method: Method, token: str) -> None:
        if method.bearer == "none":
            return
        if not token:
            raise SlackFault("not_authed")
        state = self._core.state
        kind = "bot" if state.owns(token) else {state.app_token: "app"}.get(token)
        if kind is None:
            raise SlackFault("invalid_auth")
        if state.token_revoked and kind == "bot":
            raise SlackFault("token_revoked")
        if method.bearer not in ("any", kind):
            raise SlackFault("not_allowed_token_type")
        if method.scope and method.scope not in state.scopes_of(token):
            raise SlackFault(
                "missing_scope",
                needed=method.scope,
                provided=",".join(sorted(state.scopes_of(token))),
            )


async def _given(request: web.Request) -> tuple[Json, SlackFault | None]:
    try:
        return await read(request) | _client(request), None
    except SlackFault as fault:
        return {}, fault


def _client(request: web.Request) -> Json:
    """Return the app's id and secret from basic authentication, as oauth.* takes them."""
    header = request.headers.get("Authorization", "")
    if not header.startswith("Basic "):
        return {}
    login, _, password = b64decode(header.removeprefix("Basic ")).decode().partition(":")
    return {"client_id": login, "client_secret": password}


def _token(request: web.Request, given: Json) -> str:
    in_form = given.pop("token", "")
    scheme, _, token = request.headers.get("Authorization", "").partition(" ")
    return token.strip() if scheme == "Bearer" else str(in_form)


def _failed(failure: Failure) -> _Outcome:
    if failure.error is None:
        return _Outcome({"ok": False, "error": "connection_dropped"}, dropped=True)
    headers = {"Retry-After": str(failure.retry_after)} if failure.retry_after is not None else None
    if failure.error in (429, "ratelimited"):
        return _Outcome({"ok": False, "error": "ratelimited"}, 429, headers or {"Retry-After": "1"})
    if isinstance(failure.error, int):
        return _Outcome({"ok": False, "error": f"http_{failure.error}"}, failure.error, headers)
    return _Outcome({"ok": False, "error": failure.error}, 200, headers)
