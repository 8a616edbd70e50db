"""Edits and deletions of questions.

An edited question replaces the waiting one, restarts the running one in the same message, or
revises the posted answer in place. That is possible five times within an hour; later, people have
read the answer. Deleting a question without an answer withdraws it, with everything that the bot
posted for it. A posted answer stays, as others may rely on it, and says that its question is gone.

Slack may deliver an edit or a deletion before the message itself, whose delivery it retries.
"""

from __future__ import annotations

import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.request import RepeatReason, Request
from bot.runs.queue.revisions import EditScope
from bot.runs.watching import bounded
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.text import mentions
from bot.slack.intake.addressing import is_stop
from bot.slack.ui import buttons, words
from bot.slack.ui.parts import context
from bot.text.redaction import redacted
from bot.text.translation import reader

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

Event = Mapping[str, Any]

_EDIT = "_edit"
"""Separates the id of the original request from the time of the edit in an edited request's id."""

_SECONDS = 3_600.0
_TIMES = 5
_UNDELIVERED_SECONDS = 900.0
"""The age up to which Slack may still deliver a message for the first time: it retries for six minutes."""


def register(app: SlackApp) -> None:
    """Listen to edits and deletions. Register it before other messages: the first listener wins."""
    edits = Edits(app)

    async def after_earlier(event: Event, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` after all earlier messages of the thread are stored."""
        post = event.get("message") or event.get("previous_message") or {}
        thread = post.get("thread_ts") or post.get("ts") or event.get("deleted_ts") or ""
        if str(event["channel"]).startswith("D"):
            thread = post.get("thread_ts") or ""
        line = app.thread_key(event["channel"], thread)
        async with app.retries.turn(line, float(event.get("event_ts") or math.inf)):
            pass  # released before `work`, in which an added mention takes the same lock
        await work()

    @app.bolt.event({"type": "message", "subtype": "message_changed"})
    async def changed(event: Event, body: Event) -> None:
        mark = f"{body['event_id']}:edit"
        work = partial(after_earlier, event, partial(edits.changed, event, body["event_id"]))
        await app.retries.run_in_order(mark, work, line=mark)

    @app.bolt.event({"type": "message", "subtype": "message_deleted"})
    async def deleted(event: Event, body: Event) -> None:
        mark = f"{body['event_id']}:deletion"
        work = partial(after_earlier, event, partial(edits.deleted, event))
        await app.retries.run_in_order(mark, work, line=mark)


class Edits:
    """The handlers of edited and deleted messages in one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._identity, self._clients, self._gate = app.identity, app.clients, app.gate
        self._intake, self._requests, self._parts = app.intake, app.requests, app.parts
        more = (button.action for button in app.answer_buttons if button.asks_again)
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
        await self._tell_parts(channel, str(now.get("thread_ts") or ts), ts)
        if _may_be_undelivered(ts) and not await self._requests.is_known(team, channel, ts):
            await self._take_unedited(event, f"{event_id}:unedited")
        scope = await self._requests.edit_scope(team, channel, ts)
        if scope:
            await self._revise(scope, now, event_id)
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
        """Withdraw the question of a deleted message, and mark its answers. Of one that rules watch, withdraw
        what they would answer."""
        before: Event = event.get("previous_message") or {}
        ts = event.get("deleted_ts") or before.get("ts")
        if not ts:
            return
        team, channel, thread = self._identity.team, str(event["channel"]), before.get("thread_ts")
        key, author = f"{team}:{channel}:{thread or ts}", str(before.get("user") or "")
        await self._requests.withdraw_watched(key, str(ts), author)
        if before.get("bot_id") or not author:
            return
        if _may_be_undelivered(str(ts)):
            await self._requests.ignore(team, channel, str(ts))
        for answer, alone, locale in await self._requests.answers_to(team, channel, str(ts)):
            with reader(locale):
                sentence = words.DELETED() if alone else words.DELETED_AMONG()
            await self._say_deleted(channel, answer, sentence)
        await self._requests.forget_question(key, str(ts))
        await self._requests.withdraw(key, str(ts), author)
        await self._tell_parts(channel, str(thread or ts), str(ts))

    async def _tell_parts(self, channel: str, thread: str, ts: str) -> None:
        """Have features forget what they keep of a message."""
        for part in self._parts:
            async with bounded(part, "message_changed"):
                await part.message_changed(channel, thread, ts)

    async def _say_deleted(self, channel: str, ts: str, sentence: str) -> None:
        """Put `sentence` above an answer, and remove the buttons that would ask its question again."""
        notice = context(sentence).block
        try:
            page = await self._clients.reads.conversations_replies(channel=channel, ts=ts)
            [message] = [reply for reply in page["messages"] if reply["ts"] == ts]
            if notice["elements"] == (message.get("blocks") or [{}])[0].get("elements"):
                return
            blocks = buttons.without_actions(message.get("blocks") or (), *self._ask_again)
            await self._clients.updates.chat_update(
                channel=channel, ts=ts, text=message["text"], blocks=[notice, *blocks]
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
        await self._requests.supersede(asked, new)

    async def _may_still_ask(self, request: Request) -> bool:
        try:
            await self._gate.asker(request.user, request.channel)
        except NotPermitted:
            return False
        return True


def _may_be_undelivered(ts: str) -> bool:
    return time.time() - float(ts) <= _UNDELIVERED_SECONDS
