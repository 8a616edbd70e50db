"""Reactions in one workspace: one asks about its message, and stops that when it is taken back.

Of one emoji on one message there is one request, of whoever reacted first, for as long as claims are
kept: the answer stands in the thread for everybody. Once they take it back before there is an answer,
the next person can ask. It is made like that of a shortcut on the message, with the rights and budget of
whoever reacted.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.errors import NotPermitted, StoreUnavailable
from bot.core.request import Entry
from bot.features.reactions.settings import ChannelReactions, Instructions
from bot.runs.policy.access import Person, PersonKind
from bot.slack.edge.client import NO_PLACE, error_code
from bot.slack.edge.text import clean
from bot.slack.intake.questions import Question
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import Reaction, SlackPart
from bot.slack.message.message_contents import file_refs, said_in
from bot.store.leases import locked
from bot.store.threads.mailbox import event_claim
from bot.store.values import Names
from bot.text.translation import load_catalogue, reader

TAKEN_BACK = "reaction-taken-back"
"""The family of keys with the people who took an emoji back."""

_GONE = NO_PLACE | {"message_not_found", "thread_not_found", "channel_not_found", "not_in_channel"}
_LOCK_SECONDS = 30


class ReactionsPart(SlackPart):
    """Reactions in one workspace. `everywhere` are the instructions of `[reactions]`."""

    def __init__(self, everywhere: Instructions, app: SlackApp) -> None:
        self._everywhere, self._app = everywhere, app

    @override
    async def reacted(self, reaction: Reaction) -> None:
        instruction = await self._instruction(reaction)
        if not instruction:
            return
        person = await self._app.people.find(reaction.user)
        if person.kind is PersonKind.BOT:
            return
        async with self._locked(reaction):
            taken_back_by = await self._taken_back_by(reaction).all()
            key = _key(reaction, turn=len(taken_back_by))
            if person.id in taken_back_by:  # their event may come again
                return
            if reaction.removed:
                await self._stop(reaction, key)
            elif not await self._app.stores.mailbox.has_caused(self._app.team, key):
                await load_catalogue(person.locale)
                with reader(person.locale):
                    await self._ask(reaction, key, instruction, person)

    def _taken_back_by(self, reaction: Reaction) -> Names:
        """Return the people who took the emoji back before it was answered."""
        redis, seconds = self._app.stores.redis, self._app.stores.retention.claims
        place = (self._app.team, reaction.channel, reaction.ts, reaction.emoji)
        return Names(redis, redis.key(TAKEN_BACK, *place), seconds)

    async def _instruction(self, reaction: Reaction) -> str:
        """Return what the emoji asks in the channel; "" for nothing."""
        settings = await self._app.gate.settings(reaction.channel)
        own = settings if isinstance(settings, ChannelReactions) else ChannelReactions()
        return {**self._everywhere, **own.reactions}.get(reaction.emoji, "")

    async def _ask(self, reaction: Reaction, key: str, instruction: str, person: Person) -> None:
        questions = self._app.questions
        thread = None
        try:
            await questions.permitted(person.id, reaction.channel)
            message = await self._message(reaction)
            if message is None:
                return
            thread = str(message.get("thread_ts") or reaction.ts)
            await questions.ask(
                Question(
                    entry=Entry.MESSAGE_SHORTCUT,
                    user=person.id,
                    channel=reaction.channel,
                    thread=thread,
                    text=instruction,
                    key=key,
                    quoted=clean(said_in(message)),
                    files=file_refs(message.get("files") or ()),
                )
            )
        except NotPermitted as refusal:
            notice = f"{reaction.ts}:{reaction.emoji}:{person.id}"
            threads = self._app.stores.threads
            if await threads.first_notice(self._app.team, reaction.channel, notice):
                telling = self._app.tell(reaction.channel, thread, person.id, str(refusal))
                self._app.background.start(telling, "ephemeral reply")

    async def _message(self, reaction: Reaction) -> dict[str, Any] | None:
        """Return the message; None if it is gone or has nothing to read."""
        try:
            page = await self._app.clients.reads.conversations_replies(
                channel=reaction.channel,
                ts=reaction.ts,
                oldest=reaction.ts,
                latest=reaction.ts,
                inclusive=True,
                limit=1,
            )
        except SlackApiError as error:
            if error_code(error) in _GONE:
                return None
            raise
        message = next((each for each in page["messages"] if each["ts"] == reaction.ts), None)
        return message if message and (said_in(message) or message.get("files")) else None

    async def _stop(self, reaction: Reaction, key: str) -> None:
        """Stop the request of this reaction, if it waits or works and was made by this person."""
        stores, team = self._app.stores, self._app.team
        raw = await stores.redis.call("GET", event_claim(stores.redis, team, key))
        for request in await stores.mailbox.get_many([raw.decode()] if raw else []):
            asked = team, request.channel, request.ts
            # It leaves what somebody else asked.
            if await self._app.requests.cancel_message(*asked, reaction.user):
                await self._taken_back_by(reaction).add([reaction.user])

    @asynccontextmanager
    async def _locked(self, reaction: Reaction) -> AsyncGenerator[None]:
        """Let no other process handle the same emoji of the message, so that two people who react at
        once make one request. Raises StoreUnavailable, after which the event is tried again."""
        name = ("lock", "reaction", self._app.team, reaction.channel, reaction.ts, reaction.emoji)
        async with locked(self._app.stores.redis, *name, seconds=_LOCK_SECONDS) as lock:
            if lock is None:
                raise StoreUnavailable("the same emoji of the message is being handled")
            yield


def _key(reaction: Reaction, *, turn: int) -> str:
    """Return the key of the request of an emoji on a message, after so many were taken back."""
    key = f"reaction:{reaction.channel}:{reaction.ts}:{reaction.emoji}"
    return f"{key}:{turn}" if turn else key
