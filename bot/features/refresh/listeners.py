"""*Refresh* under an answer, and the buttons under its result."""

from __future__ import annotations

import asyncio
import logging
from dataclasses import dataclass
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.errors import NotPermitted, StoreError
from bot.core.schedule import Schedule
from bot.features.refresh import words as said
from bot.features.refresh.actions import AnswerRefresh
from bot.features.refresh.message import KEEP, POST, START
from bot.features.refresh.store import RefreshStore
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.intake.listeners.actions import tell
from bot.slack.intake.slack_part import SlackPart, SlackPartDeps
from bot.slack.ui import words
from bot.slack.ui.button_payload import ButtonPress, channel_of, thread_of

log = logging.getLogger(__name__)

Body = dict[str, Any]

_SOON = 3.0  # seconds in which a post is usually complete


@dataclass(frozen=True, slots=True)
class RefreshListeners(SlackPart):
    """The listeners of one workspace. Only the person who pressed sees why a press had no effect."""

    refresh: AnswerRefresh
    background: Background

    @classmethod
    def of(cls, deps: SlackPartDeps) -> RefreshListeners:
        """Return the listeners of a workspace."""
        slack, stores = deps.slack, deps.stores
        refresh = AnswerRefresh(
            deps.questions,
            answer_of=stores.runs.answer,
            store=RefreshStore.of(stores),
            schedules=stores.schedules,
            submit=deps.submit,
            clients=slack.clients,
            identity=slack.identity,
            alone=stores.sharing,
        )
        return cls(refresh, deps.background)

    @override
    def register(self, app: AsyncApp) -> None:
        app.action(START)(self._start)
        app.action(POST)(self._post)
        app.action(KEEP)(self._keep)

    @override
    async def take_due(self, schedule: Schedule) -> bool:
        if schedule.refresh:
            await self.refresh.scheduled(schedule)
        return bool(schedule.refresh)

    async def _start(self, body: Body, action: Body, ack: AsyncAck) -> None:
        press = ButtonPress.of(body, action)
        try:
            await self.refresh.start(press)
            reply = said.WORKING()
        except NotPermitted as refusal:
            reply = str(refusal)
        self.background.start(tell(self.refresh.clients, press, reply), "ephemeral reply")
        await ack()

    async def _post(self, body: Body, action: Body, ack: AsyncAck, respond: AsyncRespond) -> None:
        press = ButtonPress.of(body, action)
        self.background.start(self._posting(press, respond), "posting a refresh")
        await ack()

    async def _posting(self, press: ButtonPress, respond: AsyncRespond) -> None:
        clients = self.refresh.clients
        try:
            done = await self.refresh.post(press)
            if not done:  # another press is posting it, or its process died
                await asyncio.sleep(_SOON)
                done = await self.refresh.post(press)
        except NotPermitted as refusal:
            await tell(clients, press, str(refusal))
        except (SlackApiError, StoreError, *TRANSPORT_ERRORS) as error:
            log.warning("A refresh was not posted: %s: %s", type(error).__name__, error)
            await tell(clients, press, words.TRY_AGAIN())
        else:
            if done:
                await respond(delete_original=True)

    async def _keep(self, body: Body, action: Body, ack: AsyncAck) -> None:
        chosen = (action.get("selected_option") or {}).get("value") or ""
        run_id, _, cron = str(chosen).partition(" ")
        user, channel = str(body["user"]["id"]), channel_of(body)
        try:
            reply = await self.refresh.keep(run_id, cron, user, channel)
        except NotPermitted as refusal:
            reply = str(refusal)
        telling = self.refresh.clients.writes.chat_postEphemeral(
            channel=channel, user=user, thread_ts=thread_of(body), text=reply
        )
        self.background.start(telling, "ephemeral reply")
        await ack()
