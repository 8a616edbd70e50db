"""Who may ask: decided by code, at intake and again where something is read for a person."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from bot.core.errors import NotPermitted
from bot.core.request import Entry, Request
from bot.runs.policy.channels import ChannelSettings, Confirm


class PersonKind(StrEnum):
    """What somebody is in this workspace."""

    MEMBER = "member"
    GUEST = "guest"
    EXTERNAL = "external"  # another organisation's, met in a shared channel
    BOT = "bot"
    UNKNOWN = "unknown"  # deactivated, or nobody can say who that is


@dataclass(frozen=True, slots=True)
class Person:
    """Somebody as their workspace describes them. `locale` is like en-US, `time_zone` IANA;
    `is_admin` means admin or owner."""

    id: str
    name: str
    kind: PersonKind
    locale: str = "en-US"
    time_zone: str = "UTC"
    is_admin: bool = False


_REFUSALS = {
    PersonKind.GUEST: "I can't take questions from guests of this workspace. "
    "Please ask a full member to ask me for you.",
    PersonKind.EXTERNAL: "I can only take questions from members of the workspace I belong to. "
    "Please ask one of them to ask me for you.",
    PersonKind.BOT: "I don't take questions from other bots.",
    PersonKind.UNKNOWN: "I can't see who you are in this workspace, so I can't take your question. "
    "Please ask an admin to check your account.",
}


_NOT_LISTED = (
    "In this channel I only take questions from the people that an admin has listed. "
    "Ask one of them, or ask an admin to list you."
)


_LONGEST_WAIT = 14 * 24.0
"""Hours: runs are kept for longer than that."""


@dataclass(frozen=True, slots=True)
class Policy:
    """Refuses everybody but full members, unless a setting lets them in. `admins` are ids of
    members who count as admins of the bot, beside those of the workspace. `confirm` says which calls
    wait for a person's yes, for up to `approval_hours`; only `approvers` may give it, by default
    whoever asked. Pages of `open_hosts` (`*` stands for any letters) are fetched without anybody's
    yes, whatever the run has read before; with `open_searches` the web is searched so too, and MCP servers
    of `open_servers` are asked what changes nothing. Admins have
    things remembered for the whole workspace, with `open_memories` every member does."""

    __pydantic_config__ = ConfigDict(extra="forbid")

    allow_guests: bool = False
    allow_external: bool = False
    admins: tuple[str, ...] = ()
    confirm: Confirm = "sensitive"
    approvers: tuple[str, ...] = ()
    open_hosts: tuple[str, ...] = ()
    open_searches: bool = False
    open_servers: tuple[str, ...] = ()
    open_memories: bool = False
    approval_hours: Annotated[float, Field(gt=0, le=_LONGEST_WAIT)] = 24.0

    def may_ask(self, person: Person, channel: ChannelSettings) -> None:
        """Raises NotPermitted with a sentence for that person when they may not ask there."""
        if person.kind not in self._allowed(channel):
            raise NotPermitted(_REFUSALS[person.kind], reason=person.kind)
        if channel.people is not None and person.id not in channel.people:
            raise NotPermitted(_NOT_LISTED, reason="not listed")

    def may_administer(self, person: Person) -> None:
        """Raises NotPermitted with a sentence for that person unless they are an admin here: one
        of another organisation is none."""
        is_admin = person.is_admin or person.id in self.admins
        if not (is_admin and person.kind is PersonKind.MEMBER):
            raise NotPermitted("Only admins can do that. Please ask one of them.")

    def confirms(self, channel: ChannelSettings, *, mutates: bool, sensitive: bool) -> bool:
        """Whether such a call waits for a person's yes there."""
        match channel.confirm or self.confirm:
            case "never":
                return False
            case "sensitive":
                return sensitive
            case "always":
                return sensitive or mutates

    def approvers_of(self, request: Request) -> tuple[str, ...]:
        """Who may give it: decided from who asked, never by the model. At a terminal that is
        whoever sits there."""
        at_terminal = request.entry is Entry.HEADLESS
        return (request.user,) if at_terminal or not self.approvers else self.approvers

    def _allowed(self, channel: ChannelSettings) -> set[PersonKind]:
        allowed = {PersonKind.MEMBER}
        if _first(channel.allow_guests, self.allow_guests):
            allowed.add(PersonKind.GUEST)
        if _first(channel.allow_external, self.allow_external):
            allowed.add(PersonKind.EXTERNAL)
        return allowed


def _first(here: bool | None, everywhere: bool) -> bool:
    return everywhere if here is None else here
