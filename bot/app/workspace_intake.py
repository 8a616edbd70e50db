"""Slack intake: receives events, commands and clicks of all workspaces, and queues their requests."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

from bot.app.channel_policy import channel_policy
from bot.app.features import answer_buttons, made, wait_kinds
from bot.app.http_server import ProcessStatus
from bot.app.oauth import OAuthApp
from bot.app.run_setup import budget_policy
from bot.app.tool_loading import tool_label
from bot.core.background import alongside, apart
from bot.core.errors import BotError
from bot.features import Feature, IntakeDeps, ServiceDeps
from bot.runs.queue.engine import Engine
from bot.runs.queue.requests import Requests
from bot.settings import Settings, secret
from bot.slack.edge.client import DeadlineClient, SlackApiWatch
from bot.slack.edge.socket_mode import socket_mode
from bot.slack.edge.tasks import Background, EventRetries
from bot.slack.edge.workspaces import (
    LOOK_SECONDS,
    OneWorkspace,
    PerWorkspace,
    Slack,
    Workspaces,
    run_in_each,
)
from bot.slack.intake.bolt_app import workspace_router
from bot.slack.intake.catch_up import CatchUp
from bot.slack.intake.schedules import DueSchedules
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.message.repair import Orphans
from bot.store import Phase, Stores

log = logging.getLogger(__name__)


@asynccontextmanager
async def slack_intake(
    settings: Settings,
    stores: Stores,
    workspaces: Workspaces,
    engine: Engine,
    process: ProcessStatus,
    oauth: OAuthApp | None,
    features: Sequence[Feature],
) -> AsyncGenerator[None]:
    """Receive events, commands and clicks inside the context, over Socket Mode or HTTP.

    Meanwhile, look for missed messages, submit scheduled questions, and do what features do.
    """
    async with AsyncExitStack() as stack:
        background = await stack.enter_async_context(Background())
        retries = await stack.enter_async_context(EventRetries.open())
        requests = Requests(stores, engine, process.observers)

        def slack_app(slack: Slack) -> SlackApp:
            return make_slack_app(settings, stores, slack, requests, background, retries, features)

        apps = PerWorkspace(workspaces, slack_app)
        await stack.enter_async_context(
            _receiving_events(settings, workspaces, apps, process, oauth)
        )
        await stack.enter_async_context(_catching_up(settings, workspaces, apps))
        await stack.enter_async_context(_running_schedules(workspaces, apps))
        parts = run_in_each(workspaces.teams, partial(_run_parts, apps))
        await stack.enter_async_context(alongside(parts, name="features"))
        deps = IntakeDeps(stores, partial(_parts_in, apps))
        for feature in features:
            if feature.intake:
                context = apart(partial(feature.intake, deps), name=f"intake of {feature.name}")
                await stack.enter_async_context(context)
        yield


async def _parts_in(apps: PerWorkspace[SlackApp], team: str) -> Sequence[SlackPart]:
    """Return what features add to a workspace, () when the bot is no longer installed there."""
    app = await apps.of(team)
    return app.parts if app else ()


async def _run_parts(apps: PerWorkspace[SlackApp], team: str) -> None:
    """Run what features do in the background of a workspace."""
    app = await apps.of(team)
    if app is None:
        return
    async with asyncio.TaskGroup() as group:
        for part in app.parts:
            group.create_task(_run_part(part), name=type(part).__name__)
        await asyncio.Event().wait()  # parts that end are over


async def _run_part(part: SlackPart) -> None:
    while True:
        try:
            await part.run()
        except BotError as error:
            log.warning("%s failed, and starts again soon: %s", type(part).__name__, error)
        except Exception:  # a bug of a feature ends neither the others nor the bot
            log.exception("%s failed, and starts again soon", type(part).__name__)
        else:
            return
        await asyncio.sleep(LOOK_SECONDS)


@asynccontextmanager
async def _receiving_events(
    settings: Settings,
    workspaces: Workspaces,
    apps: PerWorkspace[SlackApp],
    process: ProcessStatus,
    oauth: OAuthApp | None,
) -> AsyncGenerator[None]:
    signing_secret = _signing_secret(settings)
    on_uninstalled = oauth.uninstaller.uninstalled if oauth else None
    app = workspace_router(apps, signing_secret=signing_secret, on_uninstalled=on_uninstalled)
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
    settings: Settings, workspaces: Workspaces, apps: PerWorkspace[SlackApp]
) -> AsyncGenerator[None]:
    async def catch_up(team: str) -> None:
        if app := await apps.of(team):
            await _catch_up(settings, app).run()

    if not settings.catch_up.every_minutes:
        yield
        return
    async with alongside(run_in_each(workspaces.teams, catch_up), name="catching up"):
        yield


@asynccontextmanager
async def _running_schedules(
    workspaces: Workspaces, apps: PerWorkspace[SlackApp]
) -> AsyncGenerator[None]:
    async def submit_due(team: str) -> None:
        if app := await apps.of(team):
            stores = app.stores
            due = DueSchedules(team, stores.schedules, stores.pause, app.parts, app.slack)
            await due.run()

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


def _catch_up(settings: Settings, app: SlackApp) -> CatchUp:
    stores = app.stores

    async def is_known(team: str, channel: str, ts: str) -> bool:
        taken = await stores.mailbox.was_taken(team, channel, ts)
        return taken or await stores.threads.was_noticed(team, channel, ts)

    async def is_idle(thread_key: str) -> bool:
        return not await stores.mailbox.waiting(thread_key)

    async def is_open(run_id: str) -> bool:
        begun = await stores.runs.begun_by(run_id)
        return begun is not None and begun[1] is not Phase.DELIVERED

    orphans = Orphans(
        clients=app.clients,
        identity=app.identity,
        status=app.status,
        people=app.people,
        is_idle=is_idle,
        is_open=is_open,
    )
    return CatchUp(
        settings.catch_up,
        client=app.clients.reads,
        identity=app.identity,
        intake=app.intake,
        turns=stores.catch_ups,
        is_known=is_known,
        orphans=orphans,
        join=stores.threads.join,
    )


def make_slack_app(
    settings: Settings,
    stores: Stores,
    slack: Slack,
    requests: Requests,
    background: Background,
    retries: EventRetries,
    features: Sequence[Feature],
) -> SlackApp:
    """Return a workspace, with everything that people can do with the bot there."""
    app = SlackApp(
        slack,
        stores,
        requests,
        policy=settings.access,
        channels=channel_policy(settings, stores),
        budgets=budget_policy(settings, stores),
        one_of_many=settings.slack_client_id is not None,
        background=background,
        retries=retries,
        answer_buttons=answer_buttons(features),
        waits=wait_kinds(features, ServiceDeps(stores, slack)),
        tool_label=partial(tool_label, settings),
        signing_secret=_signing_secret(settings),
    )
    parts = [
        made(feature, "part in Slack", feature.slack_part, app)
        for feature in features
        if feature.slack_part
    ]
    app.parts += filter(None, parts)
    app.listen()
    return app
