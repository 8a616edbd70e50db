"""Check of an OAuth app: its settings, its keys, and the token of each installation."""

from __future__ import annotations

import asyncio

from slack_sdk.errors import SlackApiError

from bot.app.oauth import install_store, token_box
from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.errors import ConfigurationError, CorruptValue, StoreUnavailable
from bot.settings import Settings
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    clients_on,
    error_code,
    slack_session,
    static_token,
)
from bot.slack.intake.manifest import manifest
from bot.store import open_stores
from bot.store.workspaces.installs import Install, InstallStore

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
    except (StoreUnavailable, TimeoutError):
        return []  # reported by the check of Redis


def _missing(settings: Settings) -> list[Check]:
    found = []
    if settings.slack_client_secret is None:
        found.append(
            problem(_SECRET, "is not set", "copy it from the app's Basic Information page")
        )
    try:
        token_box(settings)
    except ConfigurationError as error:
        found.append(problem(_KEYS, str(error), "correct it in the environment or .env"))
    if settings.redis_url is None:
        fix = "set REDIS_URL, so that installations survive the loss of this machine"
        found.append(warning("installations", "are stored in the bot's own Redis", fix))
    return found


async def _check_installs(settings: Settings, installs: InstallStore) -> list[Check]:
    teams = await installs.teams()
    if not teams:
        fix = "open /slack/install at the bot's public address"
        return [ok(_KEYS, "can be used"), warning("installations", "there are none yet", fix)]
    return [await _check_install(settings, installs, team) for team in teams[:_AT_MOST]]


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
    except SlackApiError as error:
        return warning(subject, f"Slack rejects its token: {error_code(error)}", fix)
    except TRANSPORT_ERRORS as error:
        text = f"Slack cannot be reached ({type(error).__name__})"
        return problem(subject, text, "check the network, and SLACK_API_URL if you set it")
    return _scopes(subject, install, fix)


def _scopes(subject: str, install: Install, fix: str) -> Check:
    wanted = set(manifest()["oauth_config"]["scopes"]["bot"])
    if missing := sorted(wanted - set(install.scopes)):
        return warning(subject, f"not granted: {', '.join(missing)}", fix)
    return ok(subject, f"{install.name}: its token is valid, and all scopes are granted")
