"""Edits and deletions of what people wrote.

An edited question that waits is asked in its new words; one that is worked on is begun anew, in the
same message; one that was answered has its answer revised in place. Within an hour, five times:
after that people have read the answer. Deleting a question that has no answer yet takes it back, and
what the bot had posted for it goes as well. An answer that is up stays, as others may rest on it, and
says that its question is gone.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.request import Again, Request
from bot.core.text.redaction import redacted
from bot.runs.queue.revisions import EditScope
from bot.slack.incoming.access_gate import AccessGate
from bot.slack.incoming.intake import Intake
from bot.slack.incoming.short_replies import is_stop
from bot.slack.incoming.text import mentions
from bot.slack.render import buttons, words
from bot.slack.render.parts import context
from bot.slack.transport.client import TRANSPORT_ERRORS, Clients, Identity

log = logging.getLogger(__name__)

Event = Mapping[str, Any]

_EDIT = "_edit"
"""Stands in the id of an edited request, after that of the first."""

_SECONDS = 3_600.0
_TIMES = 5


class Asked(Protocol):
    """What was asked with messages."""

    async def edit_scope(self, team: str, channel: str, ts: str) -> EditScope | None:
        """How it stands with what a message asked; None when it asked nothing, or nothing is known of
        it any more."""

    async def answers_to(self, team: str, channel: str, ts: str) -> Sequence[tuple[str, bool]]:
        """The messages that answer what the message `ts` asked, by their ts, and whether they answer
        that alone."""

    async def supersede(self, old: EditScope, new: Request) -> None:
        """`new`, which was taken in, takes the place of `old`. Safe to repeat."""

    async def withdraw(self, thread_key: str, ts: str, by: str) -> bool:
        """Take back what a message asked, waiting or running."""


class Edits:
    """Turns them into requests, or takes requests back."""

    def __init__(
        self, identity: Identity, clients: Clients, gate: AccessGate, intake: Intake, asked: Asked
    ) -> None:
        self._identity = identity
        self._clients = clients
        self._gate = gate
        self._intake = intake
        self._asked = asked

    async def changed(self, event: Event, event_id: str) -> None:
        """A message changed. Unfurls change messages as well, and are no edits."""
        now: Event = event.get("message") or {}
        before: Event = event.get("previous_message") or {}
        if now.get("subtype") == "tombstone":  # a deleted message that has replies
            await self.deleted(event)
            return
        text, old = str(now.get("text") or ""), str(before.get("text") or "")
        if "edited" not in now or text == old or now.get("bot_id"):
            return
        team, channel, ts = self._identity.team, str(event["channel"]), str(now["ts"])
        asked = await self._asked.edit_scope(team, channel, ts)
        if asked:
            await self._revise(asked, now, event_id)
        elif mentions(text, self._identity.user) and not mentions(old, self._identity.user):
            post = {**now, "channel": channel, "channel_type": event.get("channel_type")}
            await self._intake.message({**post, "type": "app_mention"}, event_id)

    async def deleted(self, event: Event) -> None:
        """Who deletes a question takes it back."""
        before: Event = event.get("previous_message") or {}
        ts = event.get("deleted_ts") or before.get("ts")
        if not ts or before.get("bot_id") or not before.get("user"):
            return
        team, channel, thread = self._identity.team, str(event["channel"]), before.get("thread_ts")
        for answer, alone in await self._asked.answers_to(team, channel, str(ts)):
            await self._say_deleted(
                channel, answer, words.DELETED if alone else words.DELETED_AMONG
            )
        key = f"{team}:{channel}:{thread or ts}"
        await self._asked.withdraw(key, str(ts), str(before["user"]))

    async def _say_deleted(self, channel: str, ts: str, sentence: str) -> None:
        """Above an answer; nobody asks again from there what somebody took back."""
        said = context(sentence).block
        try:
            page = await self._clients.reads.conversations_replies(channel=channel, ts=ts)
            [message] = [each for each in page["messages"] if each["ts"] == ts]
            if said["elements"] == (message.get("blocks") or [{}])[0].get("elements"):
                return
            left = buttons.without(message.get("blocks") or (), *buttons.ASK_AGAIN)
            await self._clients.updates.chat_update(
                channel=channel, ts=ts, text=message["text"], blocks=[said, *left]
            )
        except (SlackApiError, ValueError, *TRANSPORT_ERRORS) as error:
            log.info("An answer does not say that its question is gone: %s", type(error).__name__)

    async def _revise(self, asked: EditScope, now: Event, event_id: str) -> None:
        old = asked.request
        edited, user = str(now["edited"]["ts"]), now.get("user")
        text = redacted(await self._intake.question(str(now.get("text") or "")))
        if not text or text == old.said or is_stop(text, self._identity.user):
            return
        late = time.time() - float(now["ts"]) > _SECONDS or old.revision >= _TIMES
        if user != old.user or late or not await self._may_still_ask(old):
            return
        if old.revision and float(edited) <= float(old.ts):  # an older edit, delivered late
            return
        new = old.model_copy(
            update={
                "id": f"{old.id.partition(_EDIT)[0]}{_EDIT}{edited.replace('.', '')}",
                "ts": edited,
                "text": text,
                "mentioned": await self._intake.mentioned(str(now.get("text") or "")),
                "again": Again.EDITED,
                "replaces": asked.runs,
                "revises": (*old.revises, old.id),
                "message": str(now["ts"]),
                "before_edit": old.said,
                "own": "",
                "revision": old.revision + 1,
                "superseded": False,
                "withdrawn": False,
                "received_at": datetime.now(UTC),
            }
        )
        new = asked.edited(new)
        await self._intake.accept(new, event_id)
        await self._asked.supersede(asked, new)

    async def _may_still_ask(self, request: Request) -> bool:
        try:
            await self._gate.asker(request.user, request.channel)
        except NotPermitted:
            return False
        return True
