"""Which posts are for the bot: those to it alone, with a mention, and replies in threads that it follows."""

from __future__ import annotations

from collections import OrderedDict
from typing import Protocol

from slack_sdk.errors import SlackApiError

from bot.core.errors import SlackUnavailable
from bot.core.request import Entry
from bot.slack.client import TRANSPORT_ERRORS, Clients, Identity
from bot.slack.gate import Gate
from bot.slack.posts import Event, is_direct
from bot.slack.text import mentions

_KNOWN_CROWDS = 10_000  # threads remembered to have several people in them


class Askers(Protocol):
    """What is kept of threads."""

    async def participants(self, thread_key: str) -> frozenset[str]:
        """Who asked the bot something in that thread; nobody where it has no part."""


class Following:
    """Follows a thread without mentions as long as one person alone talks with the bot there."""

    def __init__(self, identity: Identity, clients: Clients, gate: Gate, threads: Askers) -> None:
        self._identity = identity
        self._clients = clients
        self._gate = gate
        self._threads = threads
        self._crowds: OrderedDict[str, str] = OrderedDict()  # by thread, what was missed in it

    async def entry(self, event: Event) -> Entry | None:
        """By which rule the post is for the bot; None when it is not. Raises SlackUnavailable."""
        if is_direct(event):
            return Entry.DIRECT_MESSAGE
        if event["type"] == "app_mention" or mentions(str(event.get("text")), self._identity.user):
            return Entry.MENTION
        thread = event.get("thread_ts")
        if not thread or thread == event["ts"]:
            return None
        return Entry.THREAD_REPLY if await self._follows(event) else None

    def misses(self, event: Event) -> bool:
        """Whether a reply that is not for the bot stands right below what it said to its author, the
        first in that thread since others wrote there."""
        return str(event["ts"]) == self._crowds.get(self._key(event))

    async def _follows(self, event: Event) -> bool:
        """Whether a reply without a mention is for the bot, in a thread that it is part of."""
        askers = await self._threads.participants(self._key(event))
        if not askers:
            return False
        follow = (await self._gate.settings(event["channel"])).follow
        if follow == "alone" and self._key(event) not in self._crowds:
            return await self._alone(event, askers)
        return follow == "always"

    async def _alone(self, event: Event, askers: frozenset[str]) -> bool:
        """True when nobody but the author has written or asked in the thread. Once several people
        have, they may be talking with each other: the bot waits to be mentioned."""
        try:
            replies = await self._clients.reads.conversations_replies(
                channel=event["channel"], ts=event["thread_ts"], limit=1000
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            raise SlackUnavailable("Slack did not say who is in a thread") from error
        messages = replies["messages"]
        speakers = {m.get("user") for m in messages if not m.get("bot_id")}
        if speakers | askers <= {event["user"], self._identity.user, None}:
            return True
        above = [m.get("user") for m in messages if float(m["ts"]) < float(event["ts"])]
        is_below = above[-1:] == [self._identity.user] and event["user"] in askers
        self._crowds[self._key(event)] = event["ts"] if is_below else ""
        if len(self._crowds) > _KNOWN_CROWDS:
            self._crowds.popitem(last=False)
        return False

    def _key(self, event: Event) -> str:
        """As `Request.thread_key`: the team is the bot's own, in shared channels too."""
        return f"{self._identity.team}:{event['channel']}:{event['thread_ts']}"
