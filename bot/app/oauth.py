"""OAuth app: one bot installed in many workspaces, instead of the workspace of SLACK_BOT_TOKEN."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

import aiohttp

from bot.app.features import operator_parts
from bot.app.run_setup import response_deleter
from bot.core.background import alongside
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.features import Feature
from bot.runs.watching import optional
from bot.settings import Settings, secret
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.install_flow import Flow, oauth_flow
from bot.slack.edge.installs import (
    AppKeys,
    InstallableApp,
    InstalledWorkspaces,
    Tokens,
    Uninstaller,
)
from bot.slack.intake.manifest import manifest
from bot.store import Stores
from bot.store.embedded import rewrite_append_only_file
from bot.store.processes import Keyring
from bot.store.sealed import SealedBox, box_of
from bot.store.workspaces.installs import InstallStore

log = logging.getLogger(__name__)

_ANNOUNCE_SECONDS = 15.0
_DEADLINE = 20.0  # seconds per call to Slack


@dataclass(frozen=True, slots=True)
class OAuthApp:
    """The workspaces where the app is installed, the install flow, and the removal of a workspace."""

    workspaces: InstalledWorkspaces
    flow: Flow
    app: InstallableApp
    uninstaller: Uninstaller


def token_box(settings: Settings, keyring: Keyring | None = None) -> SealedBox:
    """Return the box that encrypts and decrypts the workspaces' tokens, with the key in use.

    Raises ConfigurationError when a setting is missing or wrong.
    """
    if settings.slack_bot_token is not None:
        raise ConfigurationError(
            "SLACK_BOT_TOKEN and SLACK_CLIENT_ID are both set: the first is for one workspace, the "
            "second for many. Unset one of them."
        )
    why = "`bot encryption-key` prints a key; it encrypts the tokens of all workspaces"
    keys = secret(settings.bot_encryption_keys, "BOT_ENCRYPTION_KEYS", why)
    return box_of([key.strip() for key in keys.split(",")], keyring)


def install_store(settings: Settings, stores: Stores) -> InstallStore:
    """Return the store of installations. Raises ConfigurationError for a missing or wrong setting."""
    return InstallStore(stores.redis, settings.retention, token_box(settings, stores.keyring))


async def reseal(settings: Settings, stores: Stores, features: Sequence[Feature]) -> None:
    """Encrypt everything stored with the key in use, so that old keys can retire."""
    await stores.audit.reseal()
    if settings.slack_client_id:
        await install_store(settings, stores).reseal()
    for part in operator_parts(features):
        with optional(part, "reseal"):
            await part.reseal(stores)


@asynccontextmanager
async def announcing_keys(
    settings: Settings, stores: Stores, features: Sequence[Feature]
) -> AsyncGenerator[None]:
    """Announce the keys of this process while the body runs, and encrypt again what is stored when
    every process has a newer key, or another starts without it.
    """
    await stores.keyring.announce()
    await reseal(settings, stores, features)

    async def announce() -> None:
        is_stale = False
        while True:
            await asyncio.sleep(_ANNOUNCE_SECONDS)
            try:
                is_stale |= await stores.keyring.announce()
                if is_stale:
                    await reseal(settings, stores, features)
                    is_stale = False
            except StoreUnavailable:
                continue
            except Exception:
                log.exception("what is stored could not be encrypted with the key in use")

    try:
        async with alongside(announce(), name="keys"):
            yield
    finally:
        with suppress(StoreUnavailable):
            await stores.keyring.withdraw()


def oauth_app(
    settings: Settings,
    stores: Stores,
    session: aiohttp.ClientSession,
    features: Sequence[Feature],
) -> OAuthApp:
    """Return the OAuth app, whose uninstallation also ends what features hold elsewhere.

    Raises ConfigurationError when a setting is missing or wrong.
    """
    installs = install_store(settings, stores)
    why = "it is next to the client id on the app's Basic Information page"
    client_secret = secret(settings.slack_client_secret, "SLACK_CLIENT_SECRET", why)
    keys = AppKeys(settings.slack_client_id or "", client_secret)
    base_url = settings.slack_api_url
    client = DeadlineClient(deadline=_DEADLINE, base_url=base_url, session=session)
    app, tokens = InstallableApp(keys, client), Tokens(installs, keys, client)

    async def forget(team: str) -> None:
        for part in operator_parts(features):  # first: erasing deletes what is needed for it
            with optional(part, "end_workspace"):
                await part.end_workspace(stores, team)
        await _forget(settings, stores, team)

    return OAuthApp(
        workspaces=InstalledWorkspaces(installs, tokens, session, base_url),
        flow=oauth_flow(
            installs,
            keys,
            client,
            scopes=manifest()["oauth_config"]["scopes"]["bot"],
            authorize_url=app.page("oauth/v2/authorize"),
        ),
        app=app,
        uninstaller=Uninstaller(installs, tokens, client, forget),
    )


async def _forget(settings: Settings, stores: Stores, team: str) -> None:
    """Erase all data of a workspace, here and at the model service.

    Workers keep trying to delete the responses that the service does not delete now.
    """
    erased = await stores.erasure.workspace(team)
    left = await response_deleter(settings, stores).delete()
    log.warning("erased %d keys of workspace %s", erased.keys, team)
    if left:
        log.warning("The model service still holds %d erased responses; trying again", len(left))
    if settings.redis_url is None:
        await rewrite_append_only_file(stores.redis)
