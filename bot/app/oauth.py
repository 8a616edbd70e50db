"""OAuth app: one bot installed in many workspaces, instead of the workspace of SLACK_BOT_TOKEN."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

import aiohttp

from bot.app.accounts import account_store, encryption_box
from bot.app.run_setup import response_deleter
from bot.core.background import alongside
from bot.core.errors import ConfigurationError, StoreUnavailable
from bot.features.accounts.slack.sign_in import SlackSignIn
from bot.settings import SLACK, Settings, secret
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.install_flow import Flow, oauth_flow
from bot.slack.edge.installs import AppKeys, InstalledWorkspaces, Tokens, Uninstaller
from bot.slack.intake.manifest import manifest
from bot.store import Stores
from bot.store.embedded import rewrite_append_only_file
from bot.store.processes import Keyring
from bot.store.sealed import SealedBox
from bot.store.workspaces.installs import InstallStore

if TYPE_CHECKING:
    from bot.features.accounts.accounts import Accounts

log = logging.getLogger(__name__)

_ANNOUNCE_SECONDS = 15.0
_DEADLINE = 20.0  # seconds per call to Slack


@dataclass(frozen=True, slots=True)
class OAuthApp:
    """The workspaces where the app is installed, the install flow, and the removal of a workspace."""

    workspaces: InstalledWorkspaces
    flow: Flow
    sign_in: SlackSignIn
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
    return encryption_box(settings, why, keyring)


def install_store(settings: Settings, stores: Stores) -> InstallStore:
    """Return the store of installations. Raises ConfigurationError for a missing or wrong setting."""
    return InstallStore(stores.redis, settings.retention, token_box(settings, stores.keyring))


async def reseal(settings: Settings, stores: Stores) -> None:
    """Encrypt everything stored with the key in use, so that old keys can retire."""
    await stores.audit.reseal()
    if settings.slack_client_id:
        await install_store(settings, stores).reseal()
    if settings.personal_servers:
        await account_store(settings, stores).reseal()


@asynccontextmanager
async def announcing_keys(settings: Settings, stores: Stores) -> AsyncGenerator[None]:
    """Announce the keys of this process while the body runs, and encrypt again what is stored when
    every process has a newer key, or another starts without it.
    """
    await stores.keyring.announce()
    await reseal(settings, stores)

    async def announce() -> None:
        is_stale = False
        while True:
            await asyncio.sleep(_ANNOUNCE_SECONDS)
            try:
                is_stale |= await stores.keyring.announce()
                if is_stale:
                    await reseal(settings, stores)
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
    accounts: Accounts | None,
) -> OAuthApp:
    """Return the OAuth app, whose uninstallation also ends people's accounts.

    Raises ConfigurationError when a setting is missing or wrong.
    """
    installs = install_store(settings, stores)
    why = "it is next to the client id on the app's Basic Information page"
    client_secret = secret(settings.slack_client_secret, "SLACK_CLIENT_SECRET", why)
    app = AppKeys(settings.slack_client_id or "", client_secret)
    base_url = settings.slack_api_url
    client = DeadlineClient(deadline=_DEADLINE, base_url=base_url, session=session)
    tokens = Tokens(installs, app, client)

    async def forget(team: str) -> None:
        if accounts:  # first: erasing deletes the tokens that are to be revoked
            await accounts.ending.erase_team(team)
        await _forget(settings, stores, team)

    return OAuthApp(
        workspaces=InstalledWorkspaces(installs, tokens, session, base_url),
        flow=oauth_flow(
            installs,
            app,
            client,
            scopes=manifest()["oauth_config"]["scopes"]["bot"],
            authorize_url=_page_of_slack(base_url, "oauth/v2/authorize"),
        ),
        sign_in=SlackSignIn(app, client, _page_of_slack(base_url, "openid/connect/authorize")),
        uninstaller=Uninstaller(installs, tokens, client, forget),
    )


def _page_of_slack(api_url: str, path: str) -> str:
    host = "https://slack.com/" if api_url == SLACK else api_url.removesuffix("api/")
    return f"{host}{path}"


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
