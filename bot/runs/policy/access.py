"""Access policy: who may ask and who may approve, decided by code and never by the model.

It is checked at intake, and again wherever something is read for a person.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from pydantic import ConfigDict, Field

from bot.core.errors import NotPermitted
from bot.core.request import Entry, Request
from bot.runs.policy.channels import ChannelSettings, Confirm
from bot.text.translation import Text


class PersonKind(StrEnum):
    """The kind of a person in this workspace."""

    MEMBER = "member"
    GUEST = "guest"
    EXTERNAL = "external"  # a member of another organisation, in a shared channel
    BOT = "bot"
    UNKNOWN = "unknown"  # deactivated, or not found


@dataclass(frozen=True, slots=True)
class Person:
    """A person as their workspace describes them.

    `locale` is a tag such as en-US, `time_zone` an IANA name; `is_admin` means admin or owner.
    """

    id: str
    name: str
    kind: PersonKind
    locale: str = "en-US"
    time_zone: str = "UTC"
    is_admin: bool = False


_REFUSALS = {
    PersonKind.GUEST: Text(
        "I can't take questions from guests of this workspace. "
        "Please ask a full member to ask me for you."
    ),
    PersonKind.EXTERNAL: Text(
        "I can only take questions from members of the workspace I belong to. "
        "Please ask one of them to ask me for you."
    ),
    PersonKind.BOT: Text("I don't take questions from other bots."),
    PersonKind.UNKNOWN: Text(
        "I can't see who you are in this workspace, so I can't take your question. "
        "Please ask an admin to check your account."
    ),
}


_NOT_LISTED = Text(
    "In this channel I only take questions from people on a list. Ask an admin to add you."
)
_ONLY_ADMINS = Text("Only admins can do that. Please ask one of them.")

_LONGEST_WAIT = 14 * 24.0
"""Hours: runs must be stored for longer than an approval can wait."""


@dataclass(frozen=True, slots=True)
class Policy:
    """The access policy, `[access]` in bot.toml: only full members may ask, unless a setting allows more.

    `admins` are ids of members who count as admins of the bot, beside the admins of the workspace.
    `confirm` says which calls wait for an approval, for up to `approval_hours`; only `approvers` may
    approve, by default the asker. Whatever the run has read before, these calls need no approval:
    fetching pages of `open_hosts` (`*` matches any letters), web searches with `open_searches`, and
    reading calls to the MCP servers `open_servers`. Only admins may save memories for the whole
    workspace; with `open_memories` every member may.
    """

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
        """Check that a person may ask in a channel. Raises NotPermitted with a sentence for them."""
        if person.kind not in self._allowed(channel):
            raise NotPermitted(_REFUSALS[person.kind](), reason=person.kind)
        if channel.people is not None and person.id not in channel.people:
            raise NotPermitted(_NOT_LISTED(), reason="not listed")

    def may_administer(self, person: Person) -> None:
        """Check that a person is an admin. Raises NotPermitted with a sentence for them.

        Admins of another organisation do not count.
        """
        is_admin = person.is_admin or person.id in self.admins
        if not (is_admin and person.kind is PersonKind.MEMBER):
            raise NotPermitted(_ONLY_ADMINS())

    def confirms(self, channel: ChannelSettings, *, mutates: bool, sensitive: bool) -> bool:
        """Return whether a call of this kind needs an approval in the channel."""
        match channel.confirm or self.confirm:
            case "never":
                return False
            case "sensitive":
                return sensitive
            case "always":
                return sensitive or mutates

    def approvers_of(self, request: Request) -> tuple[str, ...]:
        """Return the ids of the people who may approve calls; at a console only its user may."""
        at_terminal = request.entry is Entry.HEADLESS
        return (request.user,) if at_terminal or not self.approvers else self.approvers

    def _allowed(self, channel: ChannelSettings) -> set[PersonKind]:
        allowed = {PersonKind.MEMBER}
        if _override(channel.allow_guests, self.allow_guests):
            allowed.add(PersonKind.GUEST)
        if _override(channel.allow_external, self.allow_external):
            allowed.add(PersonKind.EXTERNAL)
        return allowed


def _override(channel_value: bool | None, default: bool) -> bool:
    return default if channel_value is None else channel_value
