"""Workspaces that installed the app through OAuth: current tokens, clients and uninstallation."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from weakref import WeakValueDictionary

import aiohttp
from slack_sdk.errors import SlackApiError, SlackTokenRotationError
from slack_sdk.oauth.installation_store.models.bot import Bot
from slack_sdk.oauth.token_rotation.async_rotator import AsyncTokenRotator

from bot.core.errors import SlackUnavailable, StoreUnavailable
from bot.slack.edge.client import (
    TRANSPORT_ERRORS,
    WRONG_TOKEN,
    DeadlineClient,
    Identity,
    TokenRefused,
    clients_on,
    error_code,
    identify,
)
from bot.slack.edge.workspaces import Slack
from bot.store.workspaces.installs import Install, InstallStore

log = logging.getLogger(__name__)

EARLY_MINUTES = 120
"""Minutes before its expiry at which a token is refreshed. Rotated tokens live twelve hours
(docs.slack.dev, "Using token rotation")."""

_WAIT = 0.1  # seconds between checks whether another process has stored the new token

EraseWorkspace = Callable[[str], Awaitable[None]]
"""Erases everything stored about a workspace, by its id."""


@dataclass(frozen=True, slots=True)
class AppKeys:
    """The app's OAuth credentials."""

    client_id: str
    client_secret: str


@dataclass(frozen=True, slots=True)
class InstallableApp:
    """The app that many workspaces install: its keys, a client without a token, and Slack's pages."""

    keys: AppKeys
    client: DeadlineClient

    def page(self, path: str) -> str:
        """Return the address of a page of Slack, such as `oauth/v2/authorize`."""
        url = self.client.base_url
        host = "https://slack.com/" if url == "https://slack.com/api/" else url.removesuffix("api/")
        return f"{host}{path}"


class Tokens:
    """The current token of each installation, refreshed by one process at a time."""

    def __init__(self, installs: InstallStore, keys: AppKeys, client: DeadlineClient) -> None:
        self._installs = installs
        self._rotator = AsyncTokenRotator(
            client_id=keys.client_id, client_secret=keys.client_secret, client=client
        )

    async def of(self, holder: str) -> str:
        """Return the current token of an installation, refreshed when it expires soon.

        Raises SlackApiError, with Slack's own codes, when the installation is gone, or when its
        token has expired and Slack gives no new one.
        """
        while True:
            install = await self._installs.load(holder)
            if install is None:
                raise _token_error("account_inactive")
            if not _expires_soon(install):
                return install.token
            async with self._installs.lock(holder) as is_locked:
                fresh = await self._refresh(holder) if is_locked else None
            if fresh:
                return fresh
            if not _is_expired(install):
                return install.token  # another process refreshes it; this token is good for hours
            await asyncio.sleep(_WAIT)

    async def _refresh(self, holder: str) -> str | None:
        """Return the new token; None when the refresh failed and the old token is still valid."""
        install = await self._installs.load(holder)
        if install is None or not _expires_soon(install):
            return install.token if install else None
        try:
            bot = await self._rotator.perform_bot_token_rotation(
                bot=_bot(install), minutes_before_expiration=EARLY_MINUTES
            )
        except (SlackTokenRotationError, *TRANSPORT_ERRORS) as error:
            log.error("The token of %s was not refreshed: %s", holder, error)  # noqa: TRY400 - a trace adds nothing
            if _is_expired(install):
                raise _token_error("token_expired") from error
            return None
        if bot is None:
            raise _token_error("token_expired")
        token = bot.bot_token
        tokens = {"token": token, "refresh_token": bot.bot_refresh_token}
        expires = {"expires_at": bot.bot_token_expires_at}
        await self._installs.save(install.model_copy(update=tokens | expires))
        log.info("The token of %s was refreshed", holder)
        return token


class InstalledWorkspaces:
    """The workspaces of all OAuth installations; implements `Workspaces`."""

    def __init__(
        self, installs: InstallStore, tokens: Tokens, session: aiohttp.ClientSession, base_url: str
    ) -> None:
        self._installs = installs
        self._tokens = tokens
        self._session = session
        self._base_url = base_url
        self._opening: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()
        self._open: dict[str, tuple[tuple[str, str], Slack]] = {}

    async def of(self, team: str, enterprise: str | None = None) -> Slack | None:
        """Return the workspace; None when the bot is not installed there. See `Workspaces.of`.

        Reads Redis each time, because another process may have handled the uninstallation.
        """
        install = await self._installs.find(team, enterprise)
        if install is None:
            self._open.pop(team, None)
            return None
        made_for = (install.holder, install.bot_user)
        async with self._opening.setdefault(install.holder, asyncio.Lock()):
            known = self._open.get(team)
            if known and known[0] == made_for:
                return known[1]
            try:
                slack = await self._connect(install, team)
            except TokenRefused as error:
                log.warning("The bot is no longer installed in %s: %s", team, error)
                return None
            self._open[team] = (made_for, slack)
            for gone in self._open.keys() - {team, *await self.teams()}:
                self._open.pop(gone, None)
            return slack

    async def teams(self) -> list[str]:
        """Return the ids of all known workspaces."""
        return await self._installs.teams()

    async def _connect(self, install: Install, team: str) -> Slack:
        last = ""

        async def token() -> str:
            nonlocal last  # used while Redis is unavailable
            try:
                last = await self._tokens.of(install.holder)
            except StoreUnavailable:
                if not last:
                    raise
            return last

        is_organisation_wide = install.holder != team
        team_argument = team if is_organisation_wide else None
        clients = clients_on(self._session, token, base_url=self._base_url, team=team_argument)
        found = await identify(clients.reads)
        identity = Identity(
            team=team,
            enterprise=found.enterprise or (install.holder if is_organisation_wide else None),
            user=found.user,
            bot=found.bot,
            name=found.name,
            url=found.url,
        )
        return Slack.with_clients(clients, identity)


class Uninstaller:
    """A handler of app_uninstalled and tokens_revoked, which erases a workspace's data.

    It first checks the token with Slack: the event may be late, and the app installed again.
    """

    def __init__(
        self, installs: InstallStore, tokens: Tokens, client: DeadlineClient, erase: EraseWorkspace
    ) -> None:
        self._installs = installs
        self._tokens = tokens
        self._client = client
        self._erase = erase

    async def uninstalled(self, team: str, enterprise: str | None) -> None:
        """Erase the data and the installation of a workspace, unless its token is still valid.

        Safe to repeat. A workspace without an installation is erased too, because a process may
        have died halfway. Raises SlackUnavailable when Slack cannot say whether the token is valid.
        """
        install = await self._installs.find(team, enterprise)
        if install is not None and await self._is_valid(install):
            return
        holder = install.holder if install else team
        for installed in {team, *await self._installs.teams_of(holder)}:
            await self._erase(installed)
        await self._installs.forget(holder)
        log.warning("The bot was uninstalled from %s; all data of the workspace is erased", team)

    async def _is_valid(self, install: Install) -> bool:
        try:
            token = await self._tokens.of(install.holder)
            await self._client.auth_test(token=token)
        except SlackApiError as error:
            if error_code(error) in WRONG_TOKEN:
                return False
            # Other errors, such as those while a workspace is moved, must not erase anything.
            raise SlackUnavailable("Slack did not say whether a token is good") from error
        except TRANSPORT_ERRORS as error:
            raise SlackUnavailable("Slack did not say whether a token is good") from error
        return True


def _expires_soon(install: Install) -> bool:
    expires = install.expires_at
    return expires is not None and expires - EARLY_MINUTES * 60 <= time.time()


def _is_expired(install: Install) -> bool:
    return install.expires_at is not None and install.expires_at <= time.time()


def _bot(install: Install) -> Bot:
    return Bot(
        bot_token=install.token,
        bot_id=install.bot,
        bot_user_id=install.bot_user,
        bot_refresh_token=install.refresh_token,
        bot_token_expires_at=install.expires_at,
        installed_at=install.at,
    )


def _token_error(code: str) -> SlackApiError:
    return SlackApiError(f"There is no token: {code}", {"ok": False, "error": code})  # type: ignore[no-untyped-call]  # the SDK's
