"""Workspaces in which the app was installed through OAuth: their tokens as they are now, and what
happens when one takes the bot out.
"""

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
from bot.slack.transport.client import (
    TRANSPORT_ERRORS,
    WRONG_TOKEN,
    DeadlineClient,
    Identity,
    TokenRefused,
    clients_on,
    error_code,
    identify,
)
from bot.slack.transport.workspaces import Slack
from bot.store.workspaces.installs import Install, InstallStore

log = logging.getLogger(__name__)

EARLY_MINUTES = 120
"""Tokens that Slack rotates live twelve hours (docs.slack.dev, using token rotation)."""

_WAIT = 0.1  # seconds between looks whether another process has the new token

Forgotten = Callable[[str], Awaitable[None]]
"""Erases all that is held about a workspace."""


@dataclass(frozen=True, slots=True)
class AppKeys:
    """How the app names itself to Slack."""

    client_id: str
    client_secret: str


class Tokens:
    """The current token of each installation, refreshed by one process at a time."""

    def __init__(self, installs: InstallStore, keys: AppKeys, client: DeadlineClient) -> None:
        self._installs = installs
        self._rotator = AsyncTokenRotator(
            client_id=keys.client_id, client_secret=keys.client_secret, client=client
        )

    async def of(self, holder: str) -> str:
        """Raises SlackApiError as Slack would when it is installed there no more, or when the
        token has expired and there is no new one."""
        while True:
            install = await self._installs.load(holder)
            if install is None:
                raise _refused("account_inactive")
            if not _is_due(install):
                return install.token
            async with self._installs.lock(holder) as alone:
                fresh = await self._refreshed(holder) if alone else None
            if fresh:
                return fresh
            if not _is_over(install):
                return install.token  # another process is at it, and this one is good for hours
            await asyncio.sleep(_WAIT)

    async def _refreshed(self, holder: str) -> str | None:
        """The new token; None when there is none yet, and the old one is still good."""
        install = await self._installs.load(holder)
        if install is None or not _is_due(install):
            return install.token if install else None
        try:
            bot = await self._rotator.perform_bot_token_rotation(
                bot=_bot(install), minutes_before_expiration=EARLY_MINUTES
            )
        except (SlackTokenRotationError, *TRANSPORT_ERRORS) as error:
            log.error("The token of %s was not refreshed: %s", holder, error)  # noqa: TRY400 - Slack's words say it all
            if _is_over(install):
                raise _refused("token_expired") from error
            return None
        if bot is None:
            raise _refused("token_expired")
        token = bot.bot_token
        kept = {"token": token, "refresh_token": bot.bot_refresh_token}
        expires = {"expires_at": bot.bot_token_expires_at}
        await self._installs.save(install.model_copy(update=kept | expires))
        log.info("The token of %s was refreshed", holder)
        return token


class InstalledWorkspaces:
    """See `bot.slack.transport.workspaces.Workspaces`."""

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
        """Looked up in Redis each time: another process may have seen it go."""
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
                slack = await self._opened(install, team)
            except TokenRefused as error:
                log.warning("The bot is out of %s: %s", team, error)
                return None
            self._open[team] = (made_for, slack)
            for gone in self._open.keys() - {team, *await self.teams()}:
                self._open.pop(gone, None)
            return slack

    async def teams(self) -> list[str]:
        """All workspaces that are known."""
        return await self._installs.teams()

    async def _opened(self, install: Install, team: str) -> Slack:
        last = ""

        async def token() -> str:
            nonlocal last
            try:
                last = await self._tokens.of(install.holder)
            except StoreUnavailable:
                if not last:
                    raise
            return last

        named = team if install.holder != team else None
        clients = clients_on(self._session, token, base_url=self._base_url, team=named)
        found = await identify(clients.reads)
        identity = Identity(
            team=team,
            enterprise=found.enterprise or (install.holder if named else None),
            user=found.user,
            bot=found.bot,
            name=found.name,
            url=found.url,
        )
        return Slack.reached_by(clients, identity)


class Removals:
    """What Slack says of tokens that are good no more is asked again before anything is erased: the
    app may have been installed again meanwhile, and the news be late."""

    def __init__(
        self, installs: InstallStore, tokens: Tokens, client: DeadlineClient, forget: Forgotten
    ) -> None:
        self._installs = installs
        self._tokens = tokens
        self._client = client
        self._forget = forget

    async def taken_out(self, team: str, enterprise: str | None) -> None:
        """Erase what is held about a workspace, and the installation. Safe to repeat: one that is
        not known is erased too, as whoever was at it may have died.

        Raises SlackUnavailable when Slack does not say now whether the token is good.
        """
        install = await self._installs.find(team, enterprise)
        if install is not None and await self._is_good(install):
            return
        holder = install.holder if install else team
        for each in {team, *await self._installs.teams_of(holder)}:
            await self._forget(each)
        await self._installs.forget(holder)
        log.warning("The bot was taken out of %s; all that was held of it is erased", team)

    async def _is_good(self, install: Install) -> bool:
        try:
            token = await self._tokens.of(install.holder)
            await self._client.auth_test(token=token)
        except SlackApiError as error:
            if error_code(error) in WRONG_TOKEN:
                return False
            # Of no other refusal, as one while a workspace is moved, is everything erased.
            raise SlackUnavailable("Slack did not say whether a token is good") from error
        except TRANSPORT_ERRORS as error:
            raise SlackUnavailable("Slack did not say whether a token is good") from error
        return True


def _is_due(install: Install) -> bool:
    expires = install.expires_at
    return expires is not None and expires - EARLY_MINUTES * 60 <= time.time()


def _is_over(install: Install) -> bool:
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


def _refused(code: str) -> SlackApiError:
    return SlackApiError(f"There is no token: {code}", {"ok": False, "error": code})  # type: ignore[no-untyped-call]  # the SDK's
