"""The Home tabs of a workspace: what they show is collected, and what is pressed there done."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.agent.limits import Limits
from bot.core.errors import NotPermitted
from bot.features.home import settings_forms
from bot.features.home.settings_forms import GeneralSettings, shown_model
from bot.features.home.view import CHOICE, PAUSE, RESUME, AdminView, home_view, suggested_prompts
from bot.mcp import McpServers
from bot.model import ModelChoices
from bot.runs.policy.preferences import PreferenceBook
from bot.runs.watching import name_of
from bot.slack.edge.client import error_code
from bot.slack.edge.payloads import channel_beside
from bot.slack.edge.tasks import OrderedLocks
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui.blocks import Block
from bot.store import Stores
from bot.text.translation import reader
from bot.toolkit import Tool

log = logging.getLogger(__name__)

_SECTION_SECONDS = 10.0
_FORM_SECONDS = 1.0  # Slack waits three for a modal
_INVALID = frozenset({"invalid_arguments", "invalid_blocks"})

Event = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class HomeConfig:
    """What bot.toml and the tools say that the tab shows, or that its forms check.

    `is_priced` says whether the price of each model is known, so that a budget can be in dollars.
    """

    limits: Limits
    models: ModelChoices
    is_priced: bool
    is_tool: Callable[[str], bool]
    tools: Callable[[], Sequence[Tool]]
    servers: Callable[[Stores], McpServers]


class HomeTab(SlackPart):
    """The Home tabs of one workspace, with the sections of all features."""

    def __init__(self, config: HomeConfig, app: SlackApp) -> None:
        self._app = app
        self._servers = config.servers(app.stores)
        self._tools = Counter(tool.group for tool in config.tools())
        self._locks = OrderedLocks()
        self.config = config
        self.preferences = PreferenceBook(app.stores.preferences)
        app.refresh_home = self.refresh

    @override
    def register(self, app: SlackApp) -> None:
        app.bolt.event("app_home_opened")(self._opened)
        app.bolt.event("app_context_changed")(self._looked_elsewhere)
        app.button(PAUSE, RESUME)(self._switch)
        settings_forms.register(app, self)

    @property
    def general(self) -> GeneralSettings:
        """The settings that apply where a channel sets nothing."""
        return GeneralSettings(
            self.config.limits,
            self._app.admin.budgets.budgets,
            self._app.gate.policy.confirm,
            self.config.models,
            [choice for part in self._app.parts for choice in part.channel_choices],
        )

    async def below_channel_form(self, channel: str) -> list[Block]:
        """Return what features show in the form of a channel's settings."""
        parts = self._app.parts
        return await _sections(parts, lambda part: part.channel_blocks(channel), _FORM_SECONDS)

    def refresh(self, user: str, *, choice: str = CHOICE) -> None:
        """Publish a person's tab soon, in the background. `choice` is passed to `home_view`."""
        self._app.background.start(self._publish_in_order(user, choice), "Home tab")

    async def _opened(self, event: Event) -> None:
        if event.get("tab") == "home":
            self.refresh(event["user"])
        elif event.get("channel"):
            suggesting = self._suggest(event["user"], event["channel"], None)
            self._app.background.start(suggesting, "suggested prompts")

    async def _looked_elsewhere(self, event: Event) -> None:
        if event.get("channel"):
            beside = channel_beside(event.get("context"))
            suggesting = self._suggest(event["user"], event["channel"], beside)
            self._app.background.start(suggesting, "suggested prompts")

    async def _suggest(self, user: str, direct: str, beside: str | None) -> None:
        """Suggest prompts in a direct message, about the open channel if there is one."""
        if await self._refusal(user):
            return
        app = self._app
        place = await app.access.place(beside, otherwise="") if beside else ""
        await app.clients.writes.assistant_threads_setSuggestedPrompts(
            channel_id=direct, prompts=suggested_prompts(place)
        )

    async def _switch(self, press: Press) -> None:
        admin = self._app.admin
        try:
            await (admin.pause if press.action == PAUSE else admin.resume)(press.user)
        finally:
            self.refresh(press.user)

    async def _publish_in_order(self, user: str, choice: str) -> None:
        """Publish one tab at a time per person, so that old data never overwrites newer data."""
        async with self._locks.of(user):
            with reader(await self._app.people.locale(user)):
                await self._publish(user, choice)

    async def _publish(self, user: str, choice: str) -> None:
        publish = self._app.clients.writes.views_publish
        try:
            await publish(user_id=user, view=await self._view(user, choice, self._app.parts))
        except SlackApiError as error:
            if error_code(error) not in _INVALID:
                raise
            log.exception("The Home tab lacks the sections of features: one of them is not valid")
            await publish(user_id=user, view=await self._view(user, choice, ()))

    async def _view(self, user: str, choice: str, parts: Sequence[SlackPart]) -> Block:
        """Return the tab of a person with the sections of `parts`."""
        app = self._app
        preferences, refusal = await self.preferences.of(app.team, user), await self._refusal(user)
        viewer = HomeViewer(user, may_ask=not refusal)
        return home_view(
            app.identity.name,
            await app.admin.budgets.of_person(app.team, user),
            preferences,
            await self._board(user, parts),
            choice,
            refusal=refusal,
            pause=await app.admin.paused(),
            model=shown_model(self.config.models, preferences.model),
            sections=await _sections(parts, lambda part: part.home(viewer)),
        )

    async def _board(self, user: str, parts: Sequence[SlackPart]) -> AdminView | None:
        """Return the part for admins; None for other people."""
        app = self._app
        try:
            await app.gate.admin(user)
        except NotPermitted:
            return None
        return AdminView(
            budgets=app.admin.budgets.budgets,
            spent=await app.admin.budgets.of_all(app.team),
            tools=self._tools,
            servers=await self._servers.pinned_statuses(),
            changed=await app.gate.channels.changed(app.team),
            sections=await _sections(parts, lambda part: part.admin_home(user)),
        )

    async def _refusal(self, user: str) -> str:
        """Return the reason why a person may not ask; "" if they may."""
        try:
            await self._app.gate.asker(user, "")
        except NotPermitted as refusal:
            return str(refusal)
        return ""


async def _sections(
    parts: Sequence[SlackPart],
    section: Callable[[SlackPart], Awaitable[Sequence[Block]]],
    seconds: float = _SECTION_SECONDS,
) -> list[Block]:
    """Return the sections of features. One that fails is left out: the tab is not only its own."""
    blocks: list[Block] = []
    for part in parts:
        try:
            async with asyncio.timeout(seconds):
                blocks += await section(part)
        except Exception:
            log.exception("The Home tab lacks the section of %s", name_of(part))
    return blocks
