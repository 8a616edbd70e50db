"""Somebody opened the bot: its Home tab, or a direct message with it."""

from __future__ import annotations

import logging
import re
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import Any, Protocol

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck

from bot.core.errors import NotPermitted
from bot.core.memory import Memory, MemoryScope
from bot.runs.budgets import Standing
from bot.slack.access import Access
from bot.slack.admin import Admin
from bot.slack.background import Background
from bot.slack.beside import channel_beside
from bot.slack.client import Clients, Identity
from bot.slack.home import FORGET, PAUSE, RESUME, home_view, suggested_prompts
from bot.slack.render.schedules import CANCEL as CANCEL_SCHEDULE
from bot.slack.schedules import WorkspaceSchedules


class Memories(Protocol):
    """What is kept of what people had the bot remember."""

    async def all(self, scope: MemoryScope, holder: str) -> Sequence[Memory]:
        """Everything that is remembered, oldest first."""

    async def forget(self, scope: MemoryScope, holder: str, memory_id: str) -> bool:
        """Forget one."""


log = logging.getLogger(__name__)

UsageOf = Callable[[str, str], Awaitable[Sequence[Standing]]]
"""What a person (team, user) has used of the model service."""


def register(
    app: AsyncApp,
    identity: Identity,
    clients: Clients,
    access: Access,
    background: Background,
    usage_of: UsageOf,
    admin: Admin,
    memories: Memories,
    schedules: WorkspaceSchedules,
) -> None:
    """Listen to the opening of either, and to what is open beside it."""

    async def suggest(direct: str, beside: str | None) -> None:
        place = await access.place(beside, otherwise="") if beside else ""
        await clients.writes.assistant_threads_setSuggestedPrompts(
            channel_id=direct, prompts=suggested_prompts(place)
        )

    def holder(user: str) -> str:
        return f"{identity.team}:{user}"

    async def publish(user: str) -> None:
        usage = await usage_of(identity.team, user)
        known = await memories.all(MemoryScope.USER, holder(user))
        own, board = await schedules.of(user), await admin.board(user)
        view = home_view(identity.name, usage, known, own, board)
        await clients.writes.views_publish(user_id=user, view=view)

    @app.event("app_home_opened")
    async def opened(event: dict[str, Any]) -> None:
        if event.get("tab") == "home":
            background.start(publish(event["user"]), "Home tab")
        elif event.get("channel"):
            background.start(suggest(event["channel"], None), "suggested prompts")

    _listen_to_buttons(app, holder, publish, background, admin, memories, schedules)

    @app.event("app_context_changed")
    async def looked_elsewhere(event: dict[str, Any]) -> None:
        beside = channel_beside(event.get("context"))
        if event.get("channel"):
            background.start(suggest(event["channel"], beside), "suggested prompts")


def _listen_to_buttons(
    app: AsyncApp,
    holder: Callable[[str], str],
    publish: Callable[[str], Coroutine[None, None, None]],
    background: Background,
    admin: Admin,
    memories: Memories,
    schedules: WorkspaceSchedules,
) -> None:
    """After each of them the tab is shown anew."""

    @app.action(FORGET)
    async def forgotten(body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        user = body["user"]["id"]
        await memories.forget(MemoryScope.USER, holder(user), str(action["value"]))
        background.start(publish(user), "Home tab")
        await ack()

    @app.action(CANCEL_SCHEDULE)
    async def cancelled(body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        user, which = body["user"]["id"], str(action["value"])
        try:
            if not await schedules.cancel(user, which):
                await admin.cancel_schedule(user, which)
        except NotPermitted:
            log.warning("%s pressed Cancel on a schedule that is not theirs", user)
        background.start(publish(user), "Home tab")
        await ack()

    @app.action(re.compile(f"^({PAUSE}|{RESUME})$"))
    async def switched(body: dict[str, Any], action: dict[str, Any], ack: AsyncAck) -> None:
        user = body["user"]["id"]
        try:
            await (admin.pause(user) if action["action_id"] == PAUSE else admin.resume(user))
        except NotPermitted:
            log.warning("%s pressed a button of the Home tab of admins", user)
        background.start(publish(user), "Home tab")
        await ack()
