"""Slack intake: receives events, commands and clicks of all workspaces, and queues their requests."""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

from bot.app.accounts import account_store, personal_servers, telling_changes
from bot.app.features import answer_buttons
from bot.app.http_server import ProcessStatus
from bot.app.oauth import OAuthApp
from bot.app.run_setup import budget_policy, is_tool_name, tool_catalogue
from bot.core.background import alongside
from bot.core.errors import BotError
from bot.features import Feature
from bot.features.accounts.account import AccountChange
from bot.features.accounts.slack.changes import AccountChanges
from bot.features.accounts.slack.listeners import AccountListeners
from bot.features.accounts.slack.people import PeopleAccounts
from bot.mcp import McpServers
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.lessons import LessonIntake
from bot.runs.policy.channels import Channels
from bot.runs.policy.preferences import PreferenceBook
from bot.runs.queue.engine import Engine
from bot.runs.queue.requests import Requests
from bot.runs.watching import Submit
from bot.settings import Settings, secret
from bot.settings.checks import unpriced_models
from bot.slack.edge.api_watch import SlackApiWatch
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.client import DeadlineClient
from bot.slack.edge.event_retries import EventRetries
from bot.slack.edge.socket_mode import socket_mode
from bot.slack.edge.workspaces import (
    LOOK_SECONDS,
    OneWorkspace,
    PerWorkspace,
    Slack,
    Workspaces,
    run_in_each,
)
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.bolt_app import Listener, slack_app, workspace_router
from bot.slack.intake.catch_up import CatchUp
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.due_schedules import DueSchedules
from bot.slack.intake.edits import Edits
from bot.slack.intake.home.admin import Admin
from bot.slack.intake.home.lessons import LessonDesk
from bot.slack.intake.home.publish import HomeTab, no_accounts
from bot.slack.intake.intake import Intake
from bot.slack.intake.listeners import register, switched_off
from bot.slack.intake.listeners.people import nothing_to_end
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.schedules import WorkspaceSchedules
from bot.slack.intake.share import AnswerSharing
from bot.slack.intake.slack_part import SlackPart, SlackPartDeps
from bot.slack.intake.stop import StopAction
from bot.slack.message.orphans import Orphans
from bot.slack.providers.waiting_messages import WaitingMessages
from bot.store import Stores

if TYPE_CHECKING:
    from bot.features.accounts.accounts import Accounts

log = logging.getLogger(__name__)


@asynccontextmanager
async def slack_intake(
    settings: Settings,
    stores: Stores,
    workspaces: Workspaces,
    engine: Engine,
    process: ProcessStatus,
    oauth: OAuthApp | None,
    accounts: Accounts | None,
    features: Sequence[Feature],
) -> AsyncGenerator[None]:
    """Receive events, commands and clicks inside the context, over Socket Mode or HTTP.

    Meanwhile, look for missed messages, submit scheduled questions, and let people connect
    accounts.
    """
    async with AsyncExitStack() as stack:
        background = await stack.enter_async_context(Background())
        retries = await stack.enter_async_context(EventRetries.open())
        requests = Requests(stores, engine, process.observers)

        def listener(slack: Slack) -> Listener:
            return make_listener(
                settings, stores, slack, requests, background, retries, features, accounts
            )

        listeners = PerWorkspace(workspaces, listener)
        await stack.enter_async_context(
            _receiving_events(settings, workspaces, listeners, process, oauth)
        )
        await stack.enter_async_context(_catching_up(settings, stores, workspaces, listeners))
        await stack.enter_async_context(_running_schedules(stores, workspaces, listeners))
        parts = run_in_each(workspaces.teams, partial(_run_parts, listeners))
        await stack.enter_async_context(alongside(parts, name="features"))
        if accounts:
            await stack.enter_async_context(
                _connecting_accounts(settings, stores, workspaces, listeners, accounts)
            )
            stack.enter_context(process.account_pages.served_by(accounts))
        yield


async def _run_parts(listeners: PerWorkspace[Listener], team: str) -> None:
    """Run what features do in the background of a workspace."""
    listener = await listeners.of(team)
    if listener is None:
        return
    async with asyncio.TaskGroup() as group:
        for part in listener.features:
            group.create_task(_run_part(part), name=type(part).__name__)
        await asyncio.Event().wait()  # parts that end are over


async def _run_part(part: SlackPart) -> None:
    while True:
        try:
            await part.run()
        except BotError as error:
            log.warning("%s failed, and starts again soon: %s", type(part).__name__, error)
            await asyncio.sleep(LOOK_SECONDS)
        else:
            return


@asynccontextmanager
async def _connecting_accounts(
    settings: Settings,
    stores: Stores,
    workspaces: Workspaces,
    listeners: PerWorkspace[Listener],
    accounts: Accounts,
) -> AsyncGenerator[None]:
    """Tell people of changes of their accounts, and erase those of people who have left."""

    async def on_change(change: AccountChange) -> None:
        log.info("An account at %s: %s", change.server, change.outcome)
        listener = await listeners.of(change.team)
        if listener and listener.accounts:
            await listener.accounts.tell(change)

    async def look_for_leavers(team: str) -> None:
        listener = await listeners.of(team)
        if listener and listener.accounts:
            await listener.accounts.people.erase_of_people_who_left()

    async with (
        telling_changes(settings, stores, accounts, on_change),
        alongside(run_in_each(workspaces.teams, look_for_leavers), name="people who left"),
    ):
        yield


@asynccontextmanager
async def _receiving_events(
    settings: Settings,
    workspaces: Workspaces,
    listeners: PerWorkspace[Listener],
    process: ProcessStatus,
    oauth: OAuthApp | None,
) -> AsyncGenerator[None]:
    signing_secret = _signing_secret(settings)
    on_uninstalled = oauth.uninstaller.uninstalled if oauth else None
    app = workspace_router(listeners, signing_secret=signing_secret, on_uninstalled=on_uninstalled)
    watch = SlackApiWatch(_slack_probe(settings, workspaces))
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(alongside(watch.run(), name="Slack watch"))
        if oauth:
            stack.enter_context(process.install_pages.served_by(oauth.flow))
        if settings.slack_app_token:
            token = settings.slack_app_token.get_secret_value()
            client = DeadlineClient(deadline=20, base_url=settings.slack_api_url)
            sockets = await stack.enter_async_context(socket_mode(app, token, web_client=client))

            async def is_connected() -> bool:
                return await sockets.is_connected() and await watch.answers()

            process.health.needs("slack", is_connected)
        else:
            process.health.needs("slack", watch.answers)
            await stack.enter_async_context(process.slack_requests.taken_by(app, signing_secret))
        yield


def _slack_probe(settings: Settings, workspaces: Workspaces) -> Callable[[], Awaitable[object]]:
    """Return a call that succeeds while Slack is reachable; with one workspace it checks the token,
    too."""
    if isinstance(workspaces, OneWorkspace):
        return workspaces.slack.clients.reads.auth_test
    return DeadlineClient(deadline=20, base_url=settings.slack_api_url).api_test


@asynccontextmanager
async def _catching_up(
    settings: Settings, stores: Stores, workspaces: Workspaces, listeners: PerWorkspace[Listener]
) -> AsyncGenerator[None]:
    async def catch_up(team: str) -> None:
        if listener := await listeners.of(team):
            await _catch_up(settings, stores, listener).run()

    if not settings.catch_up.every_minutes:
        yield
        return
    async with alongside(run_in_each(workspaces.teams, catch_up), name="catching up"):
        yield


@asynccontextmanager
async def _running_schedules(
    stores: Stores, workspaces: Workspaces, listeners: PerWorkspace[Listener]
) -> AsyncGenerator[None]:
    async def submit_due(team: str) -> None:
        if listener := await listeners.of(team):
            slack, questions = listener.slack, listener.deps.questions
            await DueSchedules(
                team, stores.schedules, stores.pause, questions, listener.features, slack
            ).run()

    async with alongside(run_in_each(workspaces.teams, submit_due), name="schedules"):
        yield


def check_signing(settings: Settings) -> None:
    """Raise ConfigurationError when events come over HTTP and their signatures cannot be checked."""
    if not settings.slack_app_token:
        why = "without SLACK_APP_TOKEN events come over HTTP and must be signed"
        secret(settings.slack_signing_secret, "SLACK_SIGNING_SECRET", why)


def _signing_secret(settings: Settings) -> str:
    signing = settings.slack_signing_secret
    return signing.get_secret_value() if signing else ""


def _catch_up(settings: Settings, stores: Stores, listener: Listener) -> CatchUp:
    async def is_known(team: str, channel: str, ts: str) -> bool:
        taken = await stores.mailbox.was_taken(team, channel, ts)
        return taken or await stores.threads.was_noticed(team, channel, ts)

    async def is_idle(thread_key: str) -> bool:
        return not await stores.mailbox.waiting(thread_key)

    slack = listener.slack
    orphans = Orphans(
        clients=slack.clients,
        identity=slack.identity,
        status=slack.status,
        people=slack.people,
        is_idle=is_idle,
    )
    return CatchUp(
        settings.catch_up,
        client=listener.slack.clients.reads,
        identity=listener.slack.identity,
        intake=listener.intake,
        turns=stores.catch_ups,
        is_known=is_known,
        orphans=orphans,
        join=stores.threads.join,
    )


def make_listener(
    settings: Settings,
    stores: Stores,
    slack: Slack,
    requests: Requests,
    background: Background,
    retries: EventRetries,
    features: Sequence[Feature],
    accounts: Accounts | None = None,
) -> Listener:
    """Return the listener of a workspace, with everything that people can do with the bot there."""
    submit = requests.submit
    app = slack_app(slack.clients, slack.identity, signing_secret=_signing_secret(settings))
    channels = Channels(settings.channels, stores.channels)
    gate = AccessGate(slack.identity.team, slack.people, settings.access, channels)
    stop_action = StopAction(slack, gate, requests, stores.audit.append)
    intake = Intake(
        slack,
        gate,
        threads=stores.threads,
        pending_approvals=requests,
        submit=submit,
        stop_action=stop_action,
        background=background,
        retries=retries,
        record=stores.audit.append,
    )
    questions = QuestionIntake(slack, gate, intake, requests.whole)
    buttons = answer_buttons(features)
    people = people_accounts(settings, stores, slack, accounts) if accounts else None
    home_tab = _home_tab(settings, stores, slack, gate, submit, background, people)
    decisions = ApprovalDecisions(
        slack.identity.team,
        slack.people,
        requests.asked,
        requests.decide,
        record=stores.audit.append,
        note_card=stores.runs.note_card,
    )
    deps = SlackPartDeps(
        slack=slack,
        stores=stores,
        gate=gate,
        requests=requests,
        questions=questions,
        decisions=decisions,
        submit=submit,
        retries=retries,
        background=background,
        refresh_home=home_tab.refresh,
    )
    parts = [feature.slack_part(deps) for feature in features if feature.slack_part]
    home_tab.parts.extend(parts)
    register(
        app,
        slack,
        intake=intake,
        edits=Edits(slack.identity, slack.clients, gate, intake, requests, buttons),
        questions=questions,
        submit=submit,
        stop_action=stop_action,
        keep_feedback=stores.feedback,
        lesson_intake=LessonIntake(requests, stores.lessons),
        decisions=decisions,
        home_tab=home_tab,
        on_left=people.left if people else nothing_to_end,
        answers=AnswerSharing(
            slack.identity,
            slack.clients,
            questions,
            requests.answered,
            find_artifact=ThreadArtifacts(stores.artifacts).of,
            alone=stores.sharing,
            switch=stores.pause,
        ),
        features=parts,
        answer_buttons=buttons,
        background=background,
    )
    changes = None
    if people:
        AccountListeners(people, decisions, slack.clients, background, home_tab.refresh).register(
            app
        )
        changes = AccountChanges(
            people,
            stores.threads,
            requests.asked,
            requests.decide,
            connected=home_tab.schedules.connected,
            refresh_home=home_tab.refresh,
        )
    switched_off.register(app, slack.clients, background)
    return Listener(deps, app, intake, parts, changes)


def people_accounts(
    settings: Settings, stores: Stores, slack: Slack, accounts: Accounts
) -> PeopleAccounts:
    """Return the personal accounts of a workspace."""
    store = account_store(settings, stores)
    return PeopleAccounts(slack, accounts, store.owners, stores.audit.append)


def _home_tab(
    settings: Settings,
    stores: Stores,
    slack: Slack,
    gate: AccessGate,
    submit: Submit,
    background: Background,
    people: PeopleAccounts | None,
) -> HomeTab:
    budgets = budget_policy(settings, stores)
    schedules = WorkspaceSchedules(gate.team, stores.schedules, slack.clients)
    catalogue = tool_catalogue(settings)
    admin = Admin(
        gate,
        one_of_many=settings.slack_client_id is not None,
        budgets=budgets,
        servers=McpServers(
            settings.mcp_servers, stores.mcp, personal=personal_servers(settings, stores.mcp)
        ),
        schedules=schedules,
        tools=Counter(tool.group for tool in catalogue.tools),
        is_tool=partial(is_tool_name, settings),
        is_priced=not unpriced_models(settings),
        limits=settings.limits,
        models=settings.models,
        evidence=settings.evidence.mode,
        record=stores.audit.append,
    )
    return HomeTab(
        slack.identity,
        slack.clients,
        background,
        gate=gate,
        usage_of=budgets.of_person,
        admin=admin,
        lessons=LessonDesk(slack, gate, admin, stores.lessons, submit, stores.audit.append),
        schedules=schedules,
        messages=WaitingMessages(gate.team, slack.clients, stores.scheduled_messages),
        preferences=PreferenceBook(stores.preferences),
        accounts_of=people.views if people else no_accounts,
    )
