"""Rules for which messages are for the bot, and what short replies mean."""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Sequence
from typing import Protocol

from slack_sdk.errors import SlackApiError

from bot.core.errors import SlackUnavailable
from bot.core.request import Entry
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity
from bot.slack.edge.payloads import SLACKBOT, Event, is_direct
from bot.slack.edge.text import clean, mentions, without_mention
from bot.slack.intake.access_gate import AccessGate
from bot.slack.ui.words import CALL_OFF_WORDS, GREETING_WORDS, STOP_WORDS, YES_WORDS

_OTHERS = r"<(?:@[UW]|!(?:subteam|here|channel|everyone))[^<>]*>(?!['’]s\b)"
_TO_OTHERS = re.compile(
    rf"\W*(?:(?:{'|'.join(GREETING_WORDS)})\b\W*)*{_OTHERS}|.*,\s*{_OTHERS}[\s.!?…]*\Z",
    re.IGNORECASE | re.DOTALL,
)


def is_stop(text: str, bot: str) -> bool:
    """Return whether a message says stop and nothing else."""
    return _plain_text(text, bot) in STOP_WORDS


def may_be_request(text: str, bot: str) -> bool:
    """Return whether a message that says stop is a request where nothing runs, as "cancel it"."""
    return _plain_text(text, bot) in CALL_OFF_WORDS


def is_yes(text: str, bot: str) -> bool:
    """Return whether a message is only an approval in words, such as "yes"."""
    return _plain_text(text, bot).replace(",", "") in YES_WORDS


def is_to_others(text: str) -> bool:
    """Return whether a message without a mention of the bot speaks to another person.

    It begins with their mention, or ends with it after a comma. "What did @Ben say?" does not.
    """
    return _TO_OTHERS.match(text) is not None


def _plain_text(text: str, bot: str) -> str:
    plain = " ".join(clean(without_mention(clean(text), bot)).casefold().split())
    return plain.strip(" .!…")


_MAX_SHARED_THREADS = 10_000  # threads with several people, kept in memory


class ThreadParticipants(Protocol):
    """The stored participants of threads."""

    async def participants(self, thread_key: str) -> frozenset[str]:
        """Return the users who asked the bot in a thread; empty when nobody did."""


class Addressing:
    """The addressing rules of one workspace.

    Without mentions the bot follows a thread, by default, while only one person talks to it there.
    """

    def __init__(
        self, identity: Identity, clients: Clients, gate: AccessGate, threads: ThreadParticipants
    ) -> None:
        self._identity = identity
        self._clients = clients
        self._gate = gate
        self._threads = threads
        self._shared_threads: OrderedDict[str, None] = OrderedDict()  # keys of threads

    async def entry(self, event: Event) -> Entry | None:
        """Return the rule by which a message is for the bot, or None. Raises SlackUnavailable."""
        if is_direct(event):
            return Entry.DIRECT_MESSAGE
        if event["type"] == "app_mention" or mentions(str(event.get("text")), self._identity.user):
            return Entry.MENTION
        thread = event.get("thread_ts")
        if not thread or thread == event["ts"]:
            return None
        return Entry.THREAD_REPLY if await self._follows(event) else None

    async def is_reply_to_bot(self, event: Event) -> bool:
        """Return whether a reply directly follows a message of the bot in a thread of several people.

        The bot ignores such a reply only because several people write there. Raises
        SlackUnavailable.
        """
        if self._key(event) not in self._shared_threads:
            return False
        replies = await self._replies(event)
        above = [m.get("user") for m in replies if float(m["ts"]) < float(event["ts"])]
        return above[-1:] == [self._identity.user]

    async def _follows(self, event: Event) -> bool:
        """Return whether the bot follows the thread of a reply without a mention."""
        askers = await self._threads.participants(self._key(event))
        if not askers:
            return False
        follow = (await self._gate.settings(event["channel"])).follow
        if follow == "never" or (follow == "alone" and self._is_for_others(event)):
            return False
        replies = await self._replies(event)
        if not self._bot_was_in_thread(event, replies):
            return False
        return follow == "always" or self._is_alone(event, askers, replies)

    def _is_for_others(self, event: Event) -> bool:
        return self._key(event) in self._shared_threads or is_to_others(str(event.get("text")))

    def _bot_was_in_thread(self, event: Event, replies: Sequence[Event]) -> bool:
        """Return whether the bot had written, or was mentioned, in the thread before the message.

        A message that is found later in the history was not for a bot that joined after it.
        """
        me = self._identity.user
        above = (m for m in replies if float(m["ts"]) < float(event["ts"]))
        return any(m.get("user") == me or mentions(str(m.get("text")), me) for m in above)

    def _is_alone(self, event: Event, askers: frozenset[str], replies: Sequence[Event]) -> bool:
        """Return whether only the author has written or asked in the thread.

        Several people may be talking to each other, so the bot then waits for a mention.
        """
        speakers = {m.get("user") for m in replies if not m.get("bot_id")}
        if speakers | askers <= {event["user"], self._identity.user, SLACKBOT, None}:
            return True
        self._shared_threads[self._key(event)] = None
        if len(self._shared_threads) > _MAX_SHARED_THREADS:
            self._shared_threads.popitem(last=False)
        return False

    async def _replies(self, event: Event) -> Sequence[Event]:
        """Return the messages of the thread, oldest first. Raises SlackUnavailable."""
        try:
            page = await self._clients.reads.conversations_replies(
                channel=event["channel"], ts=event["thread_ts"], limit=1000
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            raise SlackUnavailable("Slack did not say who is in a thread") from error
        return list(page["messages"])

    def _key(self, event: Event) -> str:
        """Return the `Request.thread_key`: its team is the bot's own, in shared channels too."""
        return f"{self._identity.team}:{event['channel']}:{event['thread_ts']}"
