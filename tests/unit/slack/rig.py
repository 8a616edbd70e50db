"""The Slack side as `bot.app` builds it, on the local workspace, with stores in memory."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, cast

from pydantic import SecretStr

from bot.app.features import all_features
from bot.app.workspace_intake import make_slack_app
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.audit import AuditEntry
from bot.core.budgets import Account, Budget, Spent
from bot.core.errors import LeaseLost, StoreUnavailable
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.workspace import Workspace
from bot.model import ModelChoices
from bot.runs.policy.access import Policy
from bot.runs.policy.budgets import BudgetUse
from bot.runs.policy.channels import ChannelSettings
from bot.runs.queue.requests import Requests
from bot.runs.queue.revisions import EditScope, MessageVersions
from bot.settings import Settings
from bot.slack.edge.client import Clients, Identity, identify, slack_clients
from bot.slack.edge.socket_mode import socket_mode
from bot.slack.edge.tasks import Background, EventRetries
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.intake import Intake
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.store import (
    BudgetStore,
    PauseSwitch,
    Position,
    Refusal,
    open_stores,
)
from bot.store.embedded import embedded_redis


@dataclass
class Mailbox:
    """What a store would keep: claims on event id and on (team, channel, ts), as reliability 1."""

    requests: list[Request] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)
    withdrawn: list[tuple[str, str, str]] = field(default_factory=list)
    cancelled: list[tuple[str, str]] = field(default_factory=list)
    superseded: list[tuple[str, str]] = field(default_factory=list)
    begun: tuple[str, ...] = ()
    running: bool = True
    down: bool = False
    refused: int = 0
    questions: dict[str, ApprovalRecord] = field(default_factory=dict)
    decisions: list[tuple[str, Decision]] = field(default_factory=list)
    refusal: Refusal | None = None
    recorded: list[AuditEntry] = field(default_factory=list)

    async def pending(self, *_: object) -> list[Approval]:
        return []

    async def approvals_in_dm(self, *_: object) -> list[tuple[Approval, str]]:
        return []

    async def append(self, entries: Sequence[AuditEntry]) -> None:
        self.recorded += entries

    async def answered(self, *_: object) -> None:
        """Nothing is."""

    async def asked(self, approval_id: str) -> ApprovalRecord | None:
        return self.questions.get(approval_id)

    async def decide(
        self, approval: Approval, decision: Decision, *, sha256: str
    ) -> Refusal | None:
        if self.refusal is None:
            self.decisions.append((approval.id, decision))
        return self.refusal

    async def submit(self, request: Request, event_id: str) -> bool:
        if self.down:
            self.refused += 1
            raise StoreUnavailable("down")
        keys = {event_id, f"{request.team}:{request.channel}:{request.ts}"}
        if keys & self.seen:
            return False
        self.seen |= keys
        self.requests.append(request)
        return True

    async def edit_scope(self, team: str, channel: str, ts: str) -> EditScope | None:
        found = [r for r in self.requests if ts in (r.ts, r.message) and r.channel == channel]
        return EditScope(MessageVersions(found[0], found[-1]), runs=self.begun) if found else None

    async def is_known(self, team: str, channel: str, ts: str) -> bool:
        key = f"{team}:{channel}:{ts}"
        return bool({key, f"notice:{key}"} & self.seen)

    async def ignore(self, team: str, channel: str, ts: str) -> None:
        self.seen.add(f"{team}:{channel}:{ts}")

    async def answers_to(self, *_: object) -> list[tuple[str, bool]]:
        return []

    async def supersede(self, old: EditScope, new: Request) -> None:
        self.superseded.append((old.request.id, new.id))

    async def withdraw(self, thread_key: str, ts: str, user: str) -> bool:
        self.withdrawn.append((thread_key, ts, user))
        return True

    async def cancel(
        self, thread_key: str, user: str, *, before: str | None = None, request_id: str = ""
    ) -> bool:
        self.cancelled.append((thread_key, user))
        return self.running

    async def cancel_in_channel(
        self, team: str, channel: str, by: str, *, before: str | None = None
    ) -> bool:
        return await self.cancel(f"{team}:{channel}:*", by)

    async def cancel_own(self, thread_key: str, by: str, *, request_id: str = "") -> bool:
        if self.requests[-1].user != by:
            return False
        return await self.cancel(thread_key, by)

    async def cancel_message(self, team: str, channel: str, ts: str, by: str) -> bool:
        asked = next((r for r in self.requests if (r.channel, r.ts) == (channel, ts)), None)
        if asked is None or asked.user != by:
            return False
        return await self.cancel(asked.thread_key, by)

    async def asked_in(self, _run_id: str) -> list[Request]:
        return self.requests[-1:]

    async def forget_question(self, *_: object) -> None:
        """Nothing is kept."""

    async def whole(self, request_id: str) -> Request | None:
        return next((r for r in self.requests if r.id == request_id), None)

    async def first_notice(self, team: str, channel: str, ts: str) -> bool:
        key = f"notice:{team}:{channel}:{ts}"
        first = key not in self.seen
        self.seen.add(key)
        return first

    async def was_noticed(self, team: str, channel: str, ts: str) -> bool:
        return f"notice:{team}:{channel}:{ts}" in self.seen

    async def participants(self, thread_key: str) -> frozenset[str]:
        return frozenset(r.user for r in self.requests if r.thread_key == thread_key)


async def nothing_used(team: str, user: str) -> list[BudgetUse]:
    """Where somebody stands who has asked nothing, in a deployment without budgets."""
    budgets = (Budget.USER_DAY, Budget.USER_MONTH)
    accounts = [Account(budget=each, holder=f"{team}:{user}", period="") for each in budgets]
    return [BudgetUse(Position(each, Spent(), None), None) for each in accounts]


class NothingUsed(BudgetStore):
    """Nobody has asked anything."""

    def __init__(self) -> None:
        pass

    async def positions(self, accounts: Sequence[Account]) -> list[Position]:
        return [Position(each, Spent(), None) for each in accounts]


async def not_noted(run_id: str, file: str) -> None:
    """Nobody asks for the files of a run."""


class NeverPaused(PauseSwitch):
    """A switch that needs no store."""

    def __init__(self) -> None:
        pass

    async def get(self) -> None:
        """Nobody paused the bot."""


class Decisions:
    """What people who run the bot decided."""

    def __init__(self) -> None:
        self.kept: dict[str, Any] = {}

    async def load(self, name: str, _kind: type[Any]) -> Any:
        return self.kept.get(name)

    async def save(self, name: str, value: Any) -> None:
        self.kept[name] = value

    async def forget(self, name: str) -> None:
        self.kept.pop(name, None)

    async def names(self, team: str) -> list[str]:
        return [name for name in self.kept if name.startswith(team)]


@dataclass
class Post:
    """What is kept of a run's messages."""

    run_id: str = "run_1"
    ts: str | None = None
    parts: int = 0
    files: list[str] = field(default_factory=list)
    lost: bool = False
    kept_cards: dict[str, str] = field(default_factory=dict)
    outcome: Outcome | None = None

    async def message(self) -> str | None:
        return self.ts

    async def save_message(self, ts: str) -> None:
        self.ts = ts

    async def posted_parts(self) -> int:
        return self.parts

    async def save_part(self, count: int, file: str = "") -> None:
        self.parts = count
        self.files += [file] if file else []

    async def files_of(self, run_ids: Sequence[str]) -> frozenset[str]:
        return frozenset()

    async def cards(self) -> list[str]:
        return [ts for ts in self.kept_cards.values() if ts]

    async def card(self, name: str) -> str | None:
        return self.kept_cards.get(name)

    async def save_card(self, name: str, ts: str) -> None:
        self.kept_cards[name] = ts

    async def is_open(self, run_id: str) -> bool:
        return True

    async def may_write(self) -> None:
        if self.lost:
            raise LeaseLost("another worker")

    async def decided(self) -> Outcome | None:
        return self.outcome


@dataclass
class Rig:
    """Everything of the Slack side, wired."""

    ws: Workspace
    mailbox: Mailbox
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

    def direct(self, user: str) -> str:
        """The direct messages between somebody and the bot."""
        channel = self.ws.state.direct(user)
        assert channel is not None
        return channel.id

    def mention(self, text: str) -> str:
        return f"<@{self.identity.user}> {text}"


NO_CHOICE = ModelChoices(("gpt-5.4-mini",))


@asynccontextmanager
async def wired(
    ws: Workspace,
    policy: Policy | None = None,
    settings: Mapping[str, ChannelSettings] | None = None,
) -> AsyncGenerator[Rig]:
    configured = Settings(
        slack_signing_secret=SecretStr(ws.signing_secret),
        access=policy or Policy(),
        channels=dict(settings or {}),
    )
    mailbox = Mailbox()
    in_memory: dict[str, Any] = {
        "threads": mailbox,
        "audit": mailbox,
        "budgets": NothingUsed(),
        "pause": NeverPaused(),
        "preferences": Decisions(),
        "channels": Decisions(),
        "mcp": Decisions(),
    }
    async with (
        slack_clients(ws.bot_token, base_url=ws.api_url) as clients,
        Background() as background,
        embedded_redis(None) as url,
        open_stores(url) as stores,
        EventRetries.open() as retries,
    ):
        slack = Slack.with_clients(clients, await identify(clients.reads))
        app = make_slack_app(
            configured,
            replace(stores, **in_memory),
            slack,
            cast(Requests, mailbox),
            background,
            retries,
            all_features(configured),
        )
        yield Rig(ws, mailbox, slack, app)


@asynccontextmanager
async def listening(
    ws: Workspace,
    policy: Policy | None = None,
    settings: Mapping[str, ChannelSettings] | None = None,
) -> AsyncGenerator[Rig]:
    """The rig, connected over Socket Mode."""
    async with (
        wired(ws, policy, settings) as rig,
        socket_mode(rig.app.bolt, ws.app_token, web_client=rig.clients.reads),
    ):
        yield rig
