"""The Slack side as `bot.app` builds it, on the local workspace and the Redis of the tests."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from pydantic import SecretStr

from bot.app.features import all_features
from bot.app.workspace_intake import make_slack_app
from bot.core.budgets import Account, Budget, Spent
from bot.core.chain import CallerState
from bot.core.errors import StoreUnavailable
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.workspace import Workspace
from bot.features import Feature
from bot.model import ModelChoices
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import BudgetUse
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.settings import ChannelTable, Settings
from bot.slack.edge.client import Clients, Identity, identify, slack_clients
from bot.slack.edge.socket_mode import socket_mode
from bot.slack.edge.tasks import Background, EventRetries
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.intake import Intake
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.store import Position, Stores, open_stores
from tests.support.redis import shared_redis

Found = TypeVar("Found")

NO_CHOICE = ModelChoices(("gpt-5.4-mini",))


async def nothing_used(team: str, user: str) -> list[BudgetUse]:
    """Where somebody stands who has asked nothing, in a deployment without budgets."""
    budgets = (Budget.USER_DAY, Budget.USER_MONTH)
    accounts = [Account(budget=each, holder=f"{team}:{user}", period="") for each in budgets]
    return [BudgetUse(Position(each, Spent(), None), None) for each in accounts]


async def not_noted(run_id: str, file: str) -> None:
    """Nobody asks for the files of a run."""


@dataclass(frozen=True)
class Watched(Requests):
    """The requests of the workspace; `taken` are those that were taken in, in order."""

    taken: list[Request] = field(default_factory=list)
    refused: list[Request] = field(default_factory=list)

    async def submit(self, request: Request, event_id: str) -> bool:
        try:
            is_new = await Requests.submit(self, request, event_id)
        except StoreUnavailable:
            self.refused.append(request)
            raise
        if is_new:
            self.taken.append(request)
        return is_new


@dataclass
class Rig:
    """Everything of the Slack side, wired. No worker runs what is asked."""

    ws: Workspace
    stores: Stores
    queue: Watched
    slack: Slack
    app: SlackApp

    @property
    def intake(self) -> Intake:
        return self.app.intake

    @property
    def asking(self) -> QuestionIntake:
        return self.app.questions

    @property
    def features(self) -> Sequence[SlackPart]:
        return self.app.parts

    @property
    def clients(self) -> Clients:
        return self.slack.clients

    @property
    def identity(self) -> Identity:
        return self.slack.identity

    @property
    def requests(self) -> list[Request]:
        """The requests that were taken in, in order."""
        return self.queue.taken

    def direct(self, user: str) -> str:
        """The direct messages between somebody and the bot."""
        channel = self.ws.state.direct(user)
        assert channel is not None
        return channel.id

    def mention(self, text: str) -> str:
        return f"<@{self.identity.user}> {text}"

    async def until(self, look: Callable[[], Awaitable[Found]]) -> Found:
        """Wait until what `look` finds is true, and return it."""
        async with asyncio.timeout(30):
            while not (found := await look()):  # noqa: ASYNC110 - another process does it
                await asyncio.sleep(0.01)
            return found

    async def stopped(self) -> list[tuple[str, str]]:
        """The requests that somebody wants stopped: the thread of each, and who wants it."""
        keys = [self.stores.redis.key("cancelled", request.id) for request in self.requests]
        people = await self.stores.redis.call("MGET", *keys) if keys else []
        wanted = zip(self.requests, people, strict=True)
        return [(request.thread_key, person.decode()) for request, person in wanted if person]

    async def superseded(self) -> list[str]:
        """The ids of the requests that an edit has replaced."""
        known = await self.stores.mailbox.get_many([request.id for request in self.requests])
        return [request.id for request in known if request.superseded]

    async def begin(self, request: Request, run_id: str = "run_1") -> None:
        """Have a run of the request begin, as a worker would."""
        await self.stores.runs.start(request, run_id)

    async def end(self, request: Request, outcome: Outcome | None = None) -> None:
        """Have the request leave its mailbox: nothing runs any more. With an outcome, it had a run."""
        if outcome:
            lease, run = await self.stores.runs.start(request, outcome.run_id)
            await self.stores.runs.finish(
                run.run_id, outcome, CallerState(), lease, request=request
            )
        await self.stores.mailbox.pop(request.thread_key, request.id)

    @asynccontextmanager
    async def outage(self) -> AsyncGenerator[None]:
        """Have Redis accept no writes meanwhile."""
        await self.stores.redis.call("CONFIG", "SET", "min-replicas-to-write", 1)
        try:
            yield
        finally:
            await self.stores.redis.call("CONFIG", "SET", "min-replicas-to-write", 0)


@asynccontextmanager
async def wired(
    ws: Workspace,
    policy: Policy | None = None,
    settings: Mapping[str, ChannelTable] | None = None,
    features: Sequence[Feature] | None = None,
) -> AsyncGenerator[Rig]:
    """The rig, on a database of its own on the server of the fixture `redis_url`."""
    configured = Settings(
        slack_signing_secret=SecretStr(ws.signing_secret),
        access=policy or Policy(),
        channels=dict(settings or {}),
    )
    url = f"{shared_redis()}?db=1"
    async with (
        slack_clients(ws.bot_token, base_url=ws.api_url) as clients,
        open_stores(url) as stores,
        open_engine(url, stores.mailbox) as engine,
        Background() as background,  # ends before the stores that it uses
        EventRetries.open() as retries,
    ):
        slack = Slack.with_clients(clients, await identify(clients.reads))
        queue = Watched(stores, engine)
        if features is None:
            features = all_features(configured)
        app = make_slack_app(configured, stores, slack, queue, background, retries, features)
        yield Rig(ws, stores, queue, slack, app)


@asynccontextmanager
async def listening(
    ws: Workspace,
    policy: Policy | None = None,
    settings: Mapping[str, ChannelTable] | None = None,
    features: Sequence[Feature] | None = None,
) -> AsyncGenerator[Rig]:
    """The rig, connected over Socket Mode."""
    async with (
        wired(ws, policy, settings, features) as rig,
        socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads),
    ):
        yield rig
