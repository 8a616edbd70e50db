"""The feature: people schedule questions and messages, and see and cancel theirs in the Home tab."""

from __future__ import annotations

from functools import partial

from typing_extensions import override

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature, ServiceDeps
from bot.features.schedules.home import SchedulesInSlack
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.features.schedules.messages import SlackScheduledMessages
from bot.features.schedules.own import OwnSchedules
from bot.features.schedules.waiting import WaitingMessages
from bot.runs.watching import Listener, ListenerFor
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.schedules import WorkspaceSchedules
from bot.slack.providers.channel_access import ReachableChannels, for_the_model
from bot.slack.providers.messages import MessageReader
from bot.store import Stores
from bot.store.families import Family
from bot.toolkit import ScheduledMessages, Schedules


def schedules() -> Feature:
    """Return the feature."""
    return Feature(
        "schedules",
        stored=(Family("scheduled-messages", "hash"),),
        services={Schedules: _own_schedules, ScheduledMessages: _scheduled_messages},
        run_listener=_listener,
        slack_part=SchedulesInSlack,
    )


def _own_schedules(deps: ServiceDeps) -> Schedules:
    slack = deps.slack
    if slack is None:
        return OwnSchedules(deps.stores.schedules)

    async def direct_channel(user: str) -> str:
        async with for_the_model():
            return await slack.clients.direct(user)

    return OwnSchedules(deps.stores.schedules, direct_channel=direct_channel)


def _scheduled_messages(deps: ServiceDeps) -> ScheduledMessages | None:
    slack = deps.slack
    if slack is None:
        return None
    store = ScheduledMessageStore.of(deps.stores)
    waiting = WaitingMessages(slack.identity.team, slack.clients, store)
    return SlackScheduledMessages(waiting, ReachableChannels(slack), MessageReader(slack))


def _listener(stores: Stores, slack: Slack) -> ListenerFor:
    schedules = WorkspaceSchedules(slack.identity.team, stores.schedules, slack.clients)
    return partial(ScheduleListener, schedules)


class ScheduleListener(Listener):
    """A listener to the run of a request, which counts how the runs of a schedule end."""

    def __init__(self, schedules: WorkspaceSchedules, request: Request) -> None:
        self._schedules = schedules
        self._request = request

    @override
    async def on_end(self, outcome: Outcome) -> None:
        if not self._request.schedule:
            return
        await self._schedules.ended(self._request, outcome)
        for server in outcome.unconnected:
            await self._schedules.wait_for_account(self._request, server)
