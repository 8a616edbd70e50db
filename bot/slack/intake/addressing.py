"""Rules for which messages are for the bot, and what short replies mean."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Collection, Sequence
from typing import Protocol

from slack_sdk.errors import SlackApiError

from bot.core.errors import SlackUnavailable
from bot.core.request import Entry
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity
from bot.slack.edge.payloads import SLACKBOT, Event, is_direct
from bot.slack.edge.text import clean, mentions, without_mention
from bot.slack.intake.access_gate import AccessGate
from bot.slack.message.message_metadata import run_of
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


def is_to_one_of(names: Collection[str], text: str) -> bool:
    """Return whether a message speaks to one of these people without a mention: "Ben, please look"."""
    first = {name.split()[0] for name in names if name.split()}
    called = "|".join(re.escape(name) for name in first if len(name) > 1)
    if not called:
        return False
    greeting = rf"\W*(?:(?:{'|'.join(GREETING_WORDS)})\b\W*)*"
    to_them = rf"{greeting}(?:{called})\b|.*,\s*(?:{called})[\s.!?…]*\Z"
    return re.match(to_them, text, re.IGNORECASE | re.DOTALL) is not None


def _plain_text(text: str, bot: str) -> str:
    plain = " ".join(clean(without_mention(clean(text), bot)).casefold().split())
    return plain.strip(" .!…")


_HEARD_SECONDS = 3_600.0
"""How long the person whom the bot answered last is heard among others without a mention."""

AskerOf = Callable[[str], Awaitable[str | None]]
"""Returns who asked what a run answers, by its id: "" while it waits for people, None when unknown."""
_LATEST = 50  # messages whose authors may be called by name


class ThreadParticipants(Protocol):
    """The stored participants of threads."""

    async def participants(self, thread_key: str) -> frozenset[str]:
        """Return the users who asked the bot in a thread; empty when nobody did."""


class ThreadReplies:
    """The messages of a reply's thread, which Slack is asked for once, when they first matter."""

    def __init__(self, clients: Clients, event: Event) -> None:
        self._clients = clients
        self._event = event
        self._messages: Sequence[Event] | None = None

    async def read(self) -> Sequence[Event]:
        """Return the messages of the thread, oldest first. Raises SlackUnavailable."""
        if self._messages is None:
            self._messages = await self._read()
        return self._messages

    async def _read(self) -> Sequence[Event]:
        try:
            page = await self._clients.reads.conversations_replies(
                channel=self._event["channel"],
                ts=self._event["thread_ts"],
                limit=1000,
                include_all_metadata=True,
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            raise SlackUnavailable("Slack did not say who is in a thread") from error
        return list(page["messages"])


class Addressing:
    """The addressing rules of one workspace.

    Without mentions the bot follows a thread, by default, while only one person talks to it there.
    Among several it goes on for an hour with whom it answered last, unless they speak to somebody else.
    """

    def __init__(
        self,
        identity: Identity,
        clients: Clients,
        gate: AccessGate,
        threads: ThreadParticipants,
        asker_of: AskerOf,
    ) -> None:
        self._identity = identity
        self._clients = clients
        self._gate = gate
        self._threads = threads
        self._asker_of = asker_of

    def thread_of(self, event: Event) -> ThreadReplies:
        """Return the messages of a reply's thread, to be read once for all rules."""
        return ThreadReplies(self._clients, event)

    async def entry(self, event: Event, thread: ThreadReplies) -> Entry | None:
        """Return the rule by which a message is for the bot, or None. Raises SlackUnavailable."""
        if is_direct(event):
            return Entry.DIRECT_MESSAGE
        if event["type"] == "app_mention" or mentions(str(event.get("text")), self._identity.user):
            return Entry.MENTION
        if event.get("thread_ts") in (None, "", event["ts"]):
            return None
        return Entry.THREAD_REPLY if await self._follows(event, thread) else None

    async def may_be_meant(self, event: Event, thread: ThreadReplies) -> str:
        """Return the ts of the bot's last message above a reply that no rule takes, if the reply may be
        for the bot all the same: its author has asked in the thread, and speaks to nobody else. Else
        "". Raises SlackUnavailable.
        """
        if event["user"] not in await self._threads.participants(self._key(event)):
            return ""
        if (await self._gate.settings(event["channel"])).follow == "never":
            return ""
        replies = await thread.read()
        if await self._is_for_others(event, replies):
            return ""
        own = [m["ts"] for m in self._above(event, replies) if m.get("user") == self._identity.user]
        return str(own[-1]) if own else str(event["thread_ts"])

    async def _follows(self, event: Event, thread: ThreadReplies) -> bool:
        """Return whether the bot follows the thread of a reply without a mention."""
        askers = await self._threads.participants(self._key(event))
        if not askers:
            return False
        follow = (await self._gate.settings(event["channel"])).follow
        if follow == "never" or (follow == "alone" and event["user"] not in askers):
            return False
        replies = await thread.read()
        if not self._bot_was_in_thread(event, replies):
            return False
        if follow == "always":
            return True
        if await self._is_for_others(event, replies):
            return False
        is_alone = _speakers(replies) | askers <= {event["user"], self._identity.user, SLACKBOT}
        return is_alone or await self._is_answered_last(event, replies)

    async def _is_for_others(self, event: Event, replies: Sequence[Event]) -> bool:
        """Return whether the message speaks to somebody else, by a mention or by name."""
        text = str(event.get("text"))
        if is_to_others(text):
            return True
        others = _speakers(replies[-_LATEST:]) - {event["user"], self._identity.user, SLACKBOT}
        return is_to_one_of([await self._gate.people.name(other) for other in others], text)

    async def _is_answered_last(self, event: Event, replies: Sequence[Event]) -> bool:
        """Return whether the bot's latest run in the thread, within an hour, is one of the author's."""
        for message in reversed(self._above(event, replies)):
            run_id = run_of(message) if message.get("user") == self._identity.user else None
            asker = await self._asker_of(run_id) if run_id else None
            if asker is not None:
                is_recent = float(event["ts"]) - float(message["ts"]) <= _HEARD_SECONDS
                return is_recent and asker == event["user"]
        return False

    def _bot_was_in_thread(self, event: Event, replies: Sequence[Event]) -> bool:
        """Return whether the bot had written, or was mentioned, in the thread before the message.

        A message that is found later in the history was not for a bot that joined after it.
        """
        me, above = self._identity.user, self._above(event, replies)
        return any(m.get("user") == me or mentions(str(m.get("text")), me) for m in above)

    def _above(self, event: Event, replies: Sequence[Event]) -> list[Event]:
        return [reply for reply in replies if float(reply["ts"]) < float(event["ts"])]

    def _key(self, event: Event) -> str:
        """Return the `Request.thread_key`: its team is the bot's own, in shared channels too."""
        return f"{self._identity.team}:{event['channel']}:{event['thread_ts']}"


def _speakers(replies: Sequence[Event]) -> set[str]:
    """Return the users who have written in a thread, without bots."""
    return {str(m["user"]) for m in replies if m.get("user") and not m.get("bot_id")}
