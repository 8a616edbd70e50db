"""Installations of the Slack app with their tokens.

They are encrypted, so that somebody who can read Redis or a backup cannot act in Slack. An
installation belongs to a workspace (`T…`) or to a whole organisation (`E…`). The bot knows only the
workspaces of an organisation from which it has received something.
"""

from __future__ import annotations

from base64 import urlsafe_b64decode
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from hashlib import sha256

from pydantic import BaseModel, ConfigDict

from bot.core.errors import CorruptValue
from bot.store.connection import Connection, Retention
from bot.store.leases import locked
from bot.store.sealed import SealedBox, SealedValues
from bot.store.values import Command, Names

STATE_SECONDS = 600
"""How long somebody may take to press Allow."""

_STATE = b"oauth state"
_MOST_USED = 10_000  # remembered OAuth states

LOCK_SECONDS = 30  # longer than Slack may take to answer


class Install(BaseModel):
    """An installation of the app. `holder` is the id of the workspace or organisation.

    `expires_at` and `at` are in seconds since the epoch; a token without `expires_at` never expires.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    holder: str
    name: str = ""
    app: str = ""
    bot: str
    bot_user: str
    token: str
    refresh_token: str | None = None
    expires_at: int | None = None
    scopes: tuple[str, ...] = ()
    by: str = ""
    at: float = 0.0


class InstallStore:
    """The store of installations. Using one renews its expiry."""

    def __init__(self, redis: Connection, retention: Retention, box: SealedBox) -> None:
        self._redis = redis
        self._seconds = retention.settings
        self._box = box
        self._values = SealedValues(redis, box, self._seconds)
        self._teams = Names(redis, redis.key("installed"), self._seconds)

    async def save(self, install: Install) -> None:
        """Store an installation, replacing the one before."""
        sealed = self._values.seal(install)
        commands: list[Command] = [("SET", self._key(install.holder), sealed, "EX", self._seconds)]
        if install.holder.startswith("T"):
            commands += self._teams.adding(install.holder)
        await self._redis.together(*commands)

    async def load(self, holder: str) -> Install | None:
        """Return the own installation of a workspace or organisation, None without one.

        Raises CorruptValue when no key opens it. The value stays, because the configured keys may be
        the wrong ones.
        """
        try:
            found = await self._values.load(self._key(holder), Install)
        except CorruptValue as error:
            raise CorruptValue(
                f"The installation of {holder} cannot be opened: {error}. Add that key, or have the app "
                "installed again."
            ) from None
        if found is None:
            return None
        if found.value.holder != holder:  # somebody copied it there
            raise CorruptValue(
                f"The installation kept for {holder} is that of {found.value.holder}."
            )
        return found.value

    async def on_old_keys(self) -> list[str]:
        """Return the holders whose installation is not sealed with the first key."""
        return await self._values.on_old_keys("install")

    async def reseal(self) -> None:
        """Seal all installations with the first key, so that the other keys can be retired.

        An installation that no key opens does not change.
        """
        for holder in await self.on_old_keys():
            with suppress(CorruptValue):
                await self.load(holder)

    async def find(self, team: str, enterprise: str | None = None) -> Install | None:
        """Return the installation of a workspace, else of its organisation, else None."""
        own = await self.load(team)
        if own is not None:
            return own
        known = await self._redis.call("GETEX", self._org_key(team), "EX", self._seconds)
        holder = enterprise or (known.decode() if known else None)
        install = await self.load(holder) if holder else None
        if install is not None and known is None:
            organisation = ("SET", self._org_key(team), install.holder, "EX", self._seconds)
            await self._redis.together(organisation, *self._teams.adding(team))
        return install

    async def teams(self) -> list[str]:
        """Return the ids of all known workspaces, sorted."""
        return await self._teams.all()

    async def teams_of(self, holder: str) -> list[str]:
        """Return the known workspaces that use the installation of `holder`."""
        teams = await self.teams()
        keys = [self._org_key(each) for each in teams]
        organisations = await self._redis.call("MGET", *keys) if keys else []
        return [
            team
            for team, organisation in zip(teams, organisations, strict=True)
            if holder in (team, organisation and organisation.decode())
        ]

    async def forget(self, holder: str) -> None:
        """Delete the installation of `holder` and forget the workspaces that use it."""
        teams = await self.teams_of(holder)
        keys = [self._key(holder), *(self._org_key(team) for team in teams)]
        await self._redis.together(("DEL", *keys), *self._teams.removing(*teams))

    @asynccontextmanager
    async def lock(self, holder: str) -> AsyncGenerator[bool]:
        """Lock the installation while the body runs. Yield whether this process has the lock."""
        async with locked(self._redis, "install-lock", holder, seconds=LOCK_SECONDS) as lock:
            yield lock is not None

    def new_state(self) -> str:
        """Return a new OAuth state parameter for an installation.

        Nothing is stored, because anybody may open the page as often as they like.
        """
        return self._box.encrypt(_STATE).decode()

    async def use_state(self, state: str) -> bool:
        """Use up a state parameter. Return True once for each valid state, for ten minutes."""
        if self._box.decrypt(state.encode(), ttl=STATE_SECONDS) != _STATE:
            return False
        used = sha256(
            urlsafe_b64decode(state.encode())
        ).hexdigest()  # one token has many base64 spellings
        keys, bounds = [self._redis.key("oauth-states-used")], (STATE_SECONDS, _MOST_USED)
        return bool(await self._redis.script("use_once", keys, used, *bounds))

    def _key(self, holder: str) -> str:
        return self._redis.key("install", holder)

    def _org_key(self, team: str) -> str:
        return self._redis.key("install-org", team)
