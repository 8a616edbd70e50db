"""Edits and deletions of questions.

An edited question replaces the waiting one, restarts the running one in the same message, or
revises the posted answer in place. That is possible five times within an hour; later, people have
read the answer. Deleting a question without an answer withdraws it, with everything that the bot
posted for it. A posted answer stays, as others may rely on it, and says that its question is gone.

Slack may deliver an edit or a deletion before the message itself, whose delivery it retries.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Protocol

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.request import RepeatReason, Request
from bot.runs.queue.revisions import EditScope
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity
from bot.slack.edge.text import mentions
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.intake import Intake
from bot.slack.intake.short_replies import is_stop
from bot.slack.ui import buttons, words
from bot.slack.ui.parts import context
from bot.text.redaction import redacted
from bot.text.translation import reader

log = logging.getLogger(__name__)

Event = Mapping[str, Any]

_EDIT = "_edit"
"""Separates the id of the original request from the time of the edit in an edited request's id."""

_SECONDS = 3_600.0
_TIMES = 5
_UNDELIVERED_SECONDS = 900.0
"""The age up to which Slack may still deliver a message for the first time: it retries for six minutes."""


class RequestRevisions(Protocol):
    """The requests that messages made, and operations to replace or withdraw them."""

    async def edit_scope(self, team: str, channel: str, ts: str) -> EditScope | None:
        """Return the request of a message and its state; None when there is none, or no longer."""

    async def is_known(self, team: str, channel: str, ts: str) -> bool:
        """Return whether a message was taken in, ignored by a rule, or deleted before it came."""

    async def ignore(self, team: str, channel: str, ts: str) -> None:
        """Make the message `ts` ask nothing if it still comes. A message that asked is not affected."""

    async def answers_to(self, team: str, channel: str, ts: str) -> Sequence[tuple[str, bool]]:
        """Return the ts of each answer to the message `ts`, and whether it answers only that."""

    async def supersede(self, old: EditScope, new: Request) -> None:
        """Replace `old` by `new`, which is already stored. Safe to repeat."""

    async def withdraw(self, thread_key: str, ts: str, by: str) -> bool:
        """Withdraw the request of a message, whether it is waiting or running."""

    async def forget_lessons(self, thread_key: str, ts: str) -> None:
        """Delete what admins may read of a message because of a rating. Safe to repeat."""

    async def forget_question(self, thread_key: str, ts: str) -> None:
        """Delete what is kept of a deleted message for later use of its answer. Safe to repeat."""


class Edits:
    """The handlers of edited and deleted messages in one workspace."""

    def __init__(
        self,
        identity: Identity,
        clients: Clients,
        gate: AccessGate,
        intake: Intake,
        asked: RequestRevisions,
        answer_buttons: Sequence[buttons.AnswerButton],
    ) -> None:
        self._identity = identity
        self._clients = clients
        self._gate = gate
        self._intake = intake
        self._asked = asked
        more = (button.action for button in answer_buttons if button.asks_again)
        self._ask_again = (*buttons.ASK_AGAIN, *more)

    async def changed(self, event: Event, event_id: str) -> None:
        """Handle message_changed. Ignores link previews, which change a message without an edit."""
        now: Event = event.get("message") or {}
        before: Event = event.get("previous_message") or {}
        if now.get("subtype") == "tombstone":  # a deleted message that has replies
            await self.deleted(event)
            return
        text, old = str(now.get("text") or ""), str(before.get("text") or "")
        if "edited" not in now or text == old or now.get("bot_id"):
            return
        team, channel, ts = self._identity.team, str(event["channel"]), str(now["ts"])
        await self._asked.forget_lessons(f"{team}:{channel}:{now.get('thread_ts') or ts}", ts)
        if _may_be_undelivered(ts) and not await self._asked.is_known(team, channel, ts):
            await self._take_unedited(event, f"{event_id}:unedited")
        asked = await self._asked.edit_scope(team, channel, ts)
        if asked:
            await self._revise(asked, now, event_id)
        elif mentions(text, self._identity.user) and not mentions(old, self._identity.user):
            post = {**now, "channel": channel, "channel_type": event.get("channel_type")}
            await self._intake.message({**post, "type": "app_mention"}, event_id)

    async def _take_unedited(self, event: Event, event_id: str) -> None:
        """Take in a message as it was before its edit, which came first. Its own event then adds nothing.

        As with a message that came in time, the newest of its edits counts, in whatever order they come.
        """
        before: Event = event.get("previous_message") or {}
        place = {"channel": event["channel"], "channel_type": event.get("channel_type")}
        mentioned = mentions(str(before.get("text") or ""), self._identity.user)
        kind = "app_mention" if mentioned else "message"
        await self._intake.message({**before, **place, "type": kind}, event_id)

    async def deleted(self, event: Event) -> None:
        """Withdraw the question of a deleted message, and mark its answers."""
        before: Event = event.get("previous_message") or {}
        ts = event.get("deleted_ts") or before.get("ts")
        if not ts or before.get("bot_id") or not before.get("user"):
            return
        team, channel, thread = self._identity.team, str(event["channel"]), before.get("thread_ts")
        if _may_be_undelivered(str(ts)):
            await self._asked.ignore(team, channel, str(ts))
        for answer, alone in await self._asked.answers_to(team, channel, str(ts)):
            with reader(await self._gate.people.locale(str(before["user"]))):
                sentence = words.DELETED() if alone else words.DELETED_AMONG()
            await self._say_deleted(channel, answer, sentence)
        key = f"{team}:{channel}:{thread or ts}"
        await self._asked.forget_question(key, str(ts))
        await self._asked.withdraw(key, str(ts), str(before["user"]))

    async def _say_deleted(self, channel: str, ts: str, sentence: str) -> None:
        """Put `sentence` above an answer, and remove the buttons that would ask its question again."""
        notice = context(sentence).block
        try:
            page = await self._clients.reads.conversations_replies(channel=channel, ts=ts)
            [message] = [each for each in page["messages"] if each["ts"] == ts]
            if notice["elements"] == (message.get("blocks") or [{}])[0].get("elements"):
                return
            left = buttons.without_actions(message.get("blocks") or (), *self._ask_again)
            await self._clients.updates.chat_update(
                channel=channel, ts=ts, text=message["text"], blocks=[notice, *left]
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
                "again": RepeatReason.EDITED,
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


def _may_be_undelivered(ts: str) -> bool:
    return time.time() - float(ts) <= _UNDELIVERED_SECONDS
