"""Checks of Slack: tokens, granted scopes, how events reach the bot, and each installation."""

from __future__ import annotations

import asyncio
import re
import time
from dataclasses import replace
from typing import Any

import aiohttp
from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.app.oauth import install_store, token_box
from bot.core.check import SECONDS, Check, Level, clock, ok, problem, warning
from bot.core.errors import ConfigurationError, CorruptValue
from bot.ops.doctor.redis import UNREADABLE
from bot.settings import Settings
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    WRONG_TOKEN,
    DeadlineClient,
    clients_on,
    error_code,
    failure_name,
    is_own_failure,
    server_time,
    slack_clients,
    slack_session,
    static_token,
)
from bot.slack.intake.manifest import manifest
from bot.store import open_stores
from bot.store.workspaces.installs import Install, InstallStore

_BOT, _APP, _SIGNING = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"
_NEEDED = frozenset({"app_mentions:read", "chat:write", "im:history", "users:read"})
"""Scopes without which nobody can be answered; without others, features are missing."""

_WRONG_KIND = frozenset({"not_allowed_token_type", "missing_scope", "no_permission"})
"""Codes for a token that is none of a bot's, or lacks connections:write."""

_UNREACHED = (
    "check the network (HTTPS_PROXY is not used for Slack), and SLACK_API_URL if you set it"
)


async def examine_slack(settings: Settings) -> list[Check]:
    """Check each token with Slack; post nothing."""
    if settings.slack_client_id is not None:
        return [*await examine_installs(settings), *await _event_delivery(settings)]
    if settings.slack_bot_token is None:
        fix = "copy the Bot User OAuth Token (xoxb-…) from the app's Install App page"
        return [problem(_BOT, "is not set", fix), *_without_app_token(settings)]
    token = settings.slack_bot_token.get_secret_value()
    async with slack_clients(token, base_url=settings.slack_api_url) as clients:
        if settings.slack_app_token is None:
            return [*await _bot_token(clients.live), *_without_app_token(settings)]
        app_token = settings.slack_app_token.get_secret_value()
        checks, of_app = await asyncio.gather(
            _bot_token(clients.live, app_token), _app_token(clients.live, app_token)
        )
        return list(dict.fromkeys([*checks, of_app]))  # Slack is away for both tokens in one line


async def _event_delivery(settings: Settings) -> list[Check]:
    client = DeadlineClient(deadline=SECONDS, base_url=settings.slack_api_url)
    if settings.slack_app_token is None:
        return [*_without_app_token(settings), *await _clock(client)]
    return [await _app_token(client, settings.slack_app_token.get_secret_value())]


async def _clock(client: AsyncWebClient) -> list[Check]:
    """Compare the clocks without a token; return nothing when Slack does not answer."""
    try:
        return [clock("Slack", time.time() - server_time(await client.api_test()))]
    except (SlackApiError, *TRANSPORT_ERRORS):
        return []


async def _bot_token(client: AsyncWebClient, app_token: str = "") -> list[Check]:
    try:
        identity = await client.auth_test()
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        fix = "copy the Bot User OAuth Token (xoxb-…) from the app's Install App page again"
        return [_refused(_BOT, error, fix)]
    return [
        ok(_BOT, f"belongs to @{identity.get('user')} in {identity.get('team')}"),
        *_other_app(str(identity.get("app_id") or ""), app_token),
        *_scopes(identity),
        clock("Slack", time.time() - server_time(identity)),
    ]


def _other_app(app: str, app_token: str) -> list[Check]:
    """Return the problem of two tokens of two apps: each is right, and no event arrives."""
    of_token = re.match(r"xapp-\d+-(A[A-Z0-9]+)-", app_token)
    if not (app and of_token) or of_token[1] == app:
        return []
    text = f"is of the app {of_token[1]}, and {_BOT} of {app}: no event would arrive"
    return [problem(_APP, text, "copy both tokens from the pages of one app at api.slack.com/apps")]


def _scopes(identity: AsyncSlackResponse) -> list[Check]:
    try:
        required = manifest()
    except ConfigurationError as error:
        return [warning("scopes", str(error), "run bot doctor in a checkout")]
    headers: Any = identity.headers
    header = next((v for k, v in headers.items() if k.lower() == "x-oauth-scopes"), "")
    granted = {scope.strip() for scope in header.split(",")}
    missing = sorted(set(required["oauth_config"]["scopes"]["bot"]) - granted)
    events = ", ".join(required["settings"]["event_subscriptions"]["bot_events"])
    subscribed = ok(
        "events", f"Slack does not report which are subscribed; these should be: {events}"
    )
    if not missing:
        return [ok("scopes", "all that the manifest requests are granted"), subscribed]
    grade = problem if _NEEDED & set(missing) else warning
    fix = (
        "paste the output of `bot manifest` as the app's manifest (App Manifest), then press "
        "Reinstall on its Install App page"
    )
    return [grade("scopes", f"not granted: {', '.join(missing)}", fix), subscribed]


async def _app_token(client: AsyncWebClient, token: str) -> Check:
    try:
        await client.apps_connections_open(app_token=token)
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        fix = (
            "create an app-level token (xapp-…) with connections:write under Basic Information, "
            "and switch Socket Mode on"
        )
        return _refused(_APP, error, fix)
    return ok(_APP, "can open Socket Mode connections: no public address is needed")


def _without_app_token(settings: Settings) -> list[Check]:
    if settings.slack_app_token is not None:
        return []
    if settings.slack_signing_secret is None:
        fix = (
            "set SLACK_APP_TOKEN for Socket Mode, or SLACK_SIGNING_SECRET (Basic Information) for "
            "events over HTTP"
        )
        return [problem(_SIGNING, f"neither it nor {_APP} is set: no events arrive", fix)]
    if not re.fullmatch(r"[0-9a-f]{32}", settings.slack_signing_secret.get_secret_value()):
        text = "is no 32 digits and letters a to f, as Slack's are: events would be refused"
        return [warning(_SIGNING, text, "copy the Signing Secret from Basic Information again")]
    text = "is set: events arrive over HTTP; Slack must reach PORT at /slack/events"
    return [ok(_SIGNING, text)]


def _refused(subject: str, error: Exception, fix: str) -> Check:
    """Return the problem that a failed call shows; `fix` is for a wrong token."""
    if not isinstance(error, SlackApiError):
        cause = str(error) if isinstance(error, aiohttp.ClientError) else "no answer in time"
        return problem("Slack", f"cannot be reached: {cause}", _UNREACHED)
    name = failure_name(error)
    if is_own_failure(error):
        fix = "change nothing, and try again later; https://slack-status.com says more"
        return problem("Slack", f"fails at the moment: {name}", fix)
    if not error_code(error):
        text = f"what answers instead of Slack is something else ({name})"
        return problem("Slack", text, _UNREACHED)
    if name not in WRONG_TOKEN | _WRONG_KIND:
        fix = "look for this code at https://docs.slack.dev/reference/methods/auth.test"
    return problem(subject, f"Slack rejects it: {name}", fix)


_SECRET, _KEYS = "SLACK_CLIENT_SECRET", "BOT_ENCRYPTION_KEYS"
_AT_MOST = 20  # installations checked, so that a large deployment is checked in reasonable time


async def examine_installs(settings: Settings) -> list[Check]:
    """Check each installation's token with Slack, without refreshing it."""
    missing = _missing(settings)
    if missing or settings.redis_url is None:
        return missing
    try:
        async with asyncio.timeout(SECONDS), open_stores(settings.redis_url) as stores:
            return await _check_installs(settings, install_store(settings, stores))
    except UNREADABLE:
        return []


def _missing(settings: Settings) -> list[Check]:
    checks = []
    if settings.slack_client_secret is None:
        checks.append(
            problem(_SECRET, "is not set", "copy it from the app's Basic Information page")
        )
    try:
        token_box(settings)
    except ConfigurationError as error:
        checks.append(problem(_KEYS, str(error), "correct it in the environment or .env"))
    if settings.redis_url is None:
        fix = "set REDIS_URL, so that installations survive the loss of this machine"
        checks.append(warning("installations", "are stored in the bot's own Redis", fix))
    return checks


async def _check_installs(settings: Settings, installs: InstallStore) -> list[Check]:
    teams = await installs.teams()
    if not teams:
        fix = "open /slack/install at the bot's public address"
        return [ok(_KEYS, "can be used"), warning("installations", "there are none yet", fix)]
    checks = [await _check_install(settings, installs, team) for team in teams[:_AT_MOST]]
    return list(dict.fromkeys(checks))


async def _check_install(settings: Settings, installs: InstallStore, team: str) -> Check:
    subject, fix = f"workspace {team}", "install the app there again at /slack/install"
    try:
        install = await installs.find(team)
    except CorruptValue as error:
        return problem(
            subject, str(error), "add the key it was encrypted with to BOT_ENCRYPTION_KEYS"
        )
    if install is None:
        return warning(subject, "its installation is gone", fix)
    try:
        async with slack_session() as session:
            token = static_token(install.token)
            clients = clients_on(session, token, base_url=settings.slack_api_url, team=team)
            await clients.live.auth_test()
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        check = _refused(subject, error, fix)
        return replace(check, level=Level.WARNING) if check.subject == subject else check
    return _install_scopes(subject, install, fix)


def _install_scopes(subject: str, install: Install, fix: str) -> Check:
    required = set(manifest()["oauth_config"]["scopes"]["bot"])
    if missing := sorted(required - set(install.scopes)):
        return warning(subject, f"not granted: {', '.join(missing)}", fix)
    return ok(subject, f"{install.name}: its token is valid, and all scopes are granted")
