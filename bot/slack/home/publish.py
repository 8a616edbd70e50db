"""What stands in somebody's Home tab, brought together and shown."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from bot.core.errors import NotPermitted
from bot.core.memory import Memory, MemoryScope
from bot.runs.policy.budgets import Standing
from bot.runs.policy.preferences import PreferenceBook
from bot.slack.actions.schedules import WorkspaceSchedules
from bot.slack.home.admin import Admin
from bot.slack.home.view import CHOICE, home_view
from bot.slack.incoming.access_gate import AccessGate
from bot.slack.providers.waiting_messages import WaitingMessages
from bot.slack.transport.background_tasks import Background
from bot.slack.transport.client import Clients, Identity
from bot.slack.transport.ordered_locks import OrderedLocks


class Memories(Protocol):
    """What is kept of what people had the bot remember."""

    async def all(self, scope: MemoryScope, holder: str) -> Sequence[Memory]:
        """Everything that is remembered, oldest first."""

    async def forget(self, scope: MemoryScope, holder: str, memory_id: str) -> bool:
        """Forget one."""


UsageOf = Callable[[str, str], Awaitable[Sequence[Standing]]]
"""What a person (team, user) has used of the model service."""


@dataclass(frozen=True, slots=True)
class HomeTab:
    """The Home tabs of one workspace."""

    identity: Identity
    clients: Clients
    background: Background
    gate: AccessGate
    usage_of: UsageOf
    admin: Admin
    memories: Memories
    schedules: WorkspaceSchedules
    messages: WaitingMessages
    preferences: PreferenceBook
    turns: OrderedLocks = field(default_factory=OrderedLocks)

    def renew(self, user: str, *, choice: str = CHOICE) -> None:
        """Show somebody's as it is now, soon; `choice` as `home_view` takes it."""
        self.background.start(self._in_turn(user, choice), "Home tab")

    async def forget(self, user: str, memory_id: str) -> None:
        """Forget what the person had remembered of themself."""
        await self.memories.forget(MemoryScope.USER, self._holder(user), memory_id)

    async def _in_turn(self, user: str, choice: str) -> None:
        """What was looked up earlier must not cover what came later."""
        async with self.turns.of(user):
            await self._publish(user, choice)

    async def _publish(self, user: str, choice: str) -> None:
        team = self.identity.team
        view = home_view(
            self.identity.name,
            await self.usage_of(team, user),
            await self.preferences.of(team, user),
            await self.memories.all(MemoryScope.USER, self._holder(user)),
            await self.schedules.of(user),
            await self.messages.of(user),
            await self.admin.board(user),
            await self.gate.people.locale(user),
            choice,
            refusal=await self.refusal(user),
            pause=await self.admin.paused(),
        )
        await self.clients.writes.views_publish(user_id=user, view=view)

    async def refusal(self, user: str) -> str:
        """Why somebody may not ask; empty if they may."""
        try:
            await self.gate.asker(user, "")
        except NotPermitted as refusal:
            return str(refusal)
        return ""

    def _holder(self, user: str) -> str:
        return f"{self.identity.team}:{user}"
