"""Check of Slack: tokens, granted scopes, and how events reach the bot."""

from __future__ import annotations

import time
from typing import Any

from slack_sdk.errors import SlackApiError
from slack_sdk.web.async_client import AsyncWebClient
from slack_sdk.web.async_slack_response import AsyncSlackResponse

from bot.core.check import SECONDS, Check, clock, ok, problem, warning
from bot.core.errors import ConfigurationError
from bot.ops.doctor.installs import examine_installs
from bot.settings import Settings
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    DeadlineClient,
    error_code,
    server_time,
    slack_clients,
)
from bot.slack.intake.manifest import manifest

_BOT, _APP, _SIGNING = "SLACK_BOT_TOKEN", "SLACK_APP_TOKEN", "SLACK_SIGNING_SECRET"
_NEEDED = frozenset({"app_mentions:read", "chat:write", "im:history", "users:read"})
"""Scopes without which nobody can be answered; without others, features are missing."""


async def examine_slack(settings: Settings) -> list[Check]:
    """Check each token with Slack; post nothing."""
    if settings.slack_client_id is not None:
        return [*await examine_installs(settings), *await _event_delivery(settings)]
    if settings.slack_bot_token is None:
        fix = "copy the Bot User OAuth Token (xoxb-…) from the app's Install App page"
        return [problem(_BOT, "is not set", fix), *_without_app_token(settings)]
    token = settings.slack_bot_token.get_secret_value()
    async with slack_clients(token, base_url=settings.slack_api_url) as clients:
        found = await _bot_token(clients.reads)
        if settings.slack_app_token is None:
            return [*found, *_without_app_token(settings)]
        app_token = settings.slack_app_token.get_secret_value()
        return [*found, await _app_token(clients.reads, app_token)]


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


async def _bot_token(client: AsyncWebClient) -> list[Check]:
    try:
        identity = await client.auth_test()
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        return [_refused(_BOT, error, "copy the Bot User OAuth Token from Install App again")]
    return [
        ok(_BOT, f"belongs to @{identity.get('user')} in {identity.get('team')}"),
        *_scopes(identity),
        clock("Slack", time.time() - server_time(identity)),
    ]


def _scopes(identity: AsyncSlackResponse) -> list[Check]:
    try:
        wanted = manifest()
    except ConfigurationError as error:
        return [warning("scopes", str(error), "run bot doctor in a checkout")]
    headers: Any = identity.headers
    header = next((v for k, v in headers.items() if k.lower() == "x-oauth-scopes"), "")
    granted = {scope.strip() for scope in header.split(",")}
    missing = sorted(set(wanted["oauth_config"]["scopes"]["bot"]) - granted)
    events = ", ".join(wanted["settings"]["event_subscriptions"]["bot_events"])
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
    text = "is set: events arrive over HTTP; Slack must reach PORT at /slack/events"
    return [ok(_SIGNING, text)]


def _refused(subject: str, error: Exception, fix: str) -> Check:
    if isinstance(error, SlackApiError):
        return problem(subject, f"Slack rejects it: {error_code(error) or 'no reason given'}", fix)
    text = f"Slack cannot be reached ({type(error).__name__})"
    return problem(subject, text, "check the network, and SLACK_API_URL if you set it")
