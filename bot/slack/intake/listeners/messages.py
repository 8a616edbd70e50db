"""Messages in channels the bot is in and in direct messages; their edits and deletions."""

from __future__ import annotations

import math
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from bot.slack.intake.edits import Edits
from bot.slack.intake.slack_app import SlackApp

Event = dict[str, Any]


def register(app: SlackApp) -> None:
    """Listen to messages. The first listener that matches wins: edits and deletions come first."""
    edits = Edits(app)

    async def after_earlier(event: Event, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` after all earlier messages of the thread are stored."""
        post = event.get("message") or event.get("previous_message") or {}
        thread = post.get("thread_ts") or post.get("ts") or event.get("deleted_ts") or ""
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

    @app.bolt.event("message")
    async def posted(event: Event, body: Event) -> None:
        await app.intake.message(event, body["event_id"])
