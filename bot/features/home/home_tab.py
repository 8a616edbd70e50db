"""Publication of Home tabs: collect the data, then show it."""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field, replace

from bot.core.errors import NotPermitted
from bot.features.home.settings_forms import shown_model
from bot.features.home.view import CHOICE, AdminView, home_view
from bot.runs.policy.budgets import BudgetUse
from bot.runs.policy.preferences import PreferenceBook
from bot.slack.edge.client import Clients, Identity
from bot.slack.edge.tasks import Background, OrderedLocks
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.administration import Admin
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui.blocks import Block
from bot.text.translation import reader

log = logging.getLogger(__name__)

UsageOf = Callable[[str, str], Awaitable[Sequence[BudgetUse]]]
"""Return the budget standings of a person (team, user)."""


@dataclass(frozen=True, slots=True)
class HomeTab:
    """The Home tabs of one workspace. `parts` are those of features, each with its sections."""

    identity: Identity
    clients: Clients
    background: Background
    gate: AccessGate
    usage_of: UsageOf
    admin: Admin
    preferences: PreferenceBook
    parts: list[SlackPart] = field(default_factory=list)
    locks: OrderedLocks = field(default_factory=OrderedLocks)

    def refresh(self, user: str, *, choice: str = CHOICE) -> None:
        """Publish a person's tab soon, in the background. `choice` is passed to `home_view`."""
        self.background.start(self._publish_in_order(user, choice), "Home tab")

    async def _publish_in_order(self, user: str, choice: str) -> None:
        """Publish one tab at a time per person, so that old data never overwrites newer data."""
        async with self.locks.of(user):
            with reader(await self.gate.people.locale(user)):
                await self._publish(user, choice)

    async def _publish(self, user: str, choice: str) -> None:
        team = self.identity.team
        preferences, refusal = await self.preferences.of(team, user), await self.refusal(user)
        viewer = HomeViewer(user, may_ask=not refusal)
        view = home_view(
            self.identity.name,
            await self.usage_of(team, user),
            preferences,
            await self._board(user),
            choice,
            refusal=refusal,
            pause=await self.admin.paused(),
            model=shown_model(self.admin.general_settings.models, preferences.model),
            sections=await self._sections(lambda part: part.home(viewer)),
        )
        await self.clients.writes.views_publish(user_id=user, view=view)

    async def _board(self, user: str) -> AdminView | None:
        """Return the part for admins; None for other people."""
        board = await self.admin.board(user)
        if board is None:
            return None
        sections = await self._sections(lambda part: part.admin_home(user))
        return replace(board, sections=sections)

    async def _sections(
        self, section: Callable[[SlackPart], Awaitable[Sequence[Block]]]
    ) -> list[Block]:
        """Return the sections of features. One that fails is left out: the tab is not only its own."""
        blocks: list[Block] = []
        for part in self.parts:
            try:
                blocks += await section(part)
            except Exception:
                log.exception("The Home tab lacks the section of %s", type(part).__name__)
        return blocks

    async def refusal(self, user: str) -> str:
        """Return the reason why a person may not ask; "" if they may."""
        try:
            await self.gate.asker(user, "")
        except NotPermitted as refusal:
            return str(refusal)
        return ""
