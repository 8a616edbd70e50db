"""The one place where everything comes together: settings in, a running bot out.

Contexts nest: what is entered first is left last, so that leaving drains before it closes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial

import aiohttp

from bot.app.http_server import serving
from bot.app.oauth import encryption, many_workspaces, reseal
from bot.app.run_setup import MakeRunner, check_work, redis_and_stores, response_deleter, runners
from bot.app.workspace_intake import check_signing, listening
from bot.core.background import alongside
from bot.core.errors import ToolError
from bot.core.request import Request
from bot.ops.event_loop import EventLoopWatchdog
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.observers import Observer
from bot.runs.policy.access import Policy
from bot.runs.queue.engine import Engine, open_engine
from bot.runs.runner import Runner
from bot.settings import Settings, arm_failpoints, secret
from bot.slack.actions.schedules import WorkspaceSchedules, with_schedules
from bot.slack.actions.workflow_step import with_steps
from bot.slack.approvals.decisions import may_administer, may_ask, may_decide
from bot.slack.incoming.names import naming
from bot.slack.providers.canvases import SlackCanvases
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.conversation import SlackConversation
from bot.slack.providers.directory import SlackDirectory
from bot.slack.providers.message_reading import MessageReader
from bot.slack.providers.scheduled_messages import SlackScheduledMessages
from bot.slack.providers.waiting_messages import WaitingMessages
from bot.slack.render import words
from bot.slack.reply.open_run_message import RunMessages
from bot.slack.reply.status_sweep import StatusSweep
from bot.slack.reply.streams import Streams
from bot.slack.transport.background_tasks import Background
from bot.slack.transport.client import clients_on, identify, slack_session, static_token
from bot.slack.transport.workspaces import OneWorkspace, PerWorkspace, Slack, Workspaces
from bot.store import Stores
from bot.toolkit import Canvases, Directory, ScheduledMessages
from bot.toolkit.tool import Services

log = logging.getLogger(__name__)

REDIS_SECONDS = 30.0
"""How long a Redis may be away when the process starts; hosts start it again after that."""

_AFTER_FIRST_STATUS = 1.0  # seconds: whoever took a request in shows one, too


async def one_workspace(settings: Settings, session: aiohttp.ClientSession) -> OneWorkspace:
    """That of SLACK_BOT_TOKEN. Raises ConfigurationError when it is missing or wrong."""
    clients = clients_on(session, static_token(_token(settings)), base_url=settings.slack_api_url)
    return OneWorkspace(Slack.with_clients(clients, await identify(clients.reads)))


def _token(settings: Settings) -> str:
    why = (
        "copy the Bot User OAuth Token from your app's Install App page, or set SLACK_CLIENT_ID to "
        "have it installed in many workspaces"
    )
    return secret(settings.slack_bot_token, "SLACK_BOT_TOKEN", why)


@asynccontextmanager
async def bot(
    settings: Settings, *, intake: bool = True, work: bool = True
) -> AsyncGenerator[None]:
    """The bot for the length of the context: what takes requests in, what works on them, or both.

    Leaving it stops the intake, lets runs come to a save point, and hands them back; by way of a
    cancellation it hands them back as they are.
    """
    arm_failpoints(settings)
    _check(settings, intake=intake, work=work)
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(serving(settings, intake=intake, work=work))
        watch = EventLoopWatchdog(process.metrics.loop_lag)
        process.health.needs("event_loop", watch.keeps_up)
        traced = process.metrics.slack_calls(settings.slack_api_url)
        session = await stack.enter_async_context(slack_session(traced))
        # A wrong token is found before a Redis of the bot's own makes its folder.
        one = None if settings.slack_client_id else await one_workspace(settings, session)
        data_dir = settings.bot_data_dir / "redis"
        url, stores = await stack.enter_async_context(redis_and_stores(settings, data_dir=data_dir))
        process.looks_into(stores)
        await stores.wait_reachable(REDIS_SECONDS)
        await reseal(settings, stores)
        there: Workspaces
        if one:
            many, there = None, one
        else:
            many = many_workspaces(settings, stores, session)
            there = many.workspaces
        engine = await stack.enter_async_context(open_engine(url, stores.mailbox, settings.engine))
        if work:
            await stack.enter_async_context(
                _working(settings, stores, there, engine, process.watches)
            )
        if intake:
            await stack.enter_async_context(
                listening(settings, stores, there, engine, process, many)
            )
        await stack.enter_async_context(alongside(watch.run(), name="loop watch"))
        stack.callback(engine.stop_intake)  # runs look for a save point while the intake closes
        stack.enter_context(process.health.serving())
        yield


def _check(settings: Settings, *, intake: bool, work: bool) -> None:
    """Find a missing or wrong setting before anything is opened: a Redis of the bot's own leaves a
    folder, by which other commands would take it that a bot worked here. Raises ConfigurationError."""
    if settings.slack_client_id:
        encryption(settings)
    else:
        _token(settings)
    if intake:
        check_signing(settings)
    if work:
        check_work(settings)


@asynccontextmanager
async def _working(
    settings: Settings,
    stores: Stores,
    there: Workspaces,
    engine: Engine,
    watches: Sequence[Observer],
) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stores.signals.listening())
        make = await stack.enter_async_context(
            runners(settings, stores, watches=watches, draining=engine.draining)
        )
        artifacts = ThreadArtifacts(stores.artifacts)
        in_workspace = PerWorkspace(
            there, lambda slack: _runner_in(slack, stores, artifacts, make, settings.access)
        )

        async def handle(request: Request, deaths: int) -> None:
            works = await in_workspace.of(request.team)
            if works is None:
                log.warning("Dropped: the bot is not in %s any more", request.team)
                return
            await works.answer(request, deaths)

        background = await stack.enter_async_context(Background())

        def say_it_rests(request: Request) -> None:
            background.start(_say_it_rests(request, stores, there), "saying that one is in line")

        deleter = response_deleter(settings, stores)
        await stack.enter_async_context(alongside(deleter.run(), name="response deleter"))
        await stack.enter_async_context(engine.work(handle, say_it_rests))
        sweep = StatusSweep(
            workspaces=there,
            mailbox=stores.mailbox,
            stale=stores.stale_statuses,
            in_line=engine.in_line,
            renew_seconds=settings.engine.sweep,
        )
        await stack.enter_async_context(alongside(sweep.run(), name="status sweep"))
        yield
        await engine.drain(settings.engine.grace)  # not when cancelled: then there is no grace


async def _say_it_rests(request: Request, stores: Stores, there: Workspaces) -> None:
    await asyncio.sleep(_AFTER_FIRST_STATUS)
    slack = await there.of(request.team)
    if slack and await stores.mailbox.is_parked(request.thread_key):
        await slack.status.show(request.channel, request.thread, words.STATUS_IN_LINE)


def _runner_in(
    slack: Slack,
    stores: Stores,
    artifacts: ThreadArtifacts,
    make: MakeRunner,
    policy: Policy,
) -> Runner:
    async def read_artifact(request: Request, handle: str) -> bytes:
        data = await artifacts.of(request, handle)
        if data is None:
            raise ToolError(f"{handle} is not kept any more.")
        return data

    surfaces = RunMessages(
        clients=slack.clients,
        identity=slack.identity,
        status=slack.status,
        streams=Streams(slack.clients, slack.identity),
        read_artifact=read_artifact,
        name_of=naming(slack.people, slack.access),
        note_stale=stores.stale_statuses.add,
    )
    schedules = WorkspaceSchedules(slack.identity.team, stores.schedules, slack.clients)
    channels = ReachableChannels(slack)
    return make(
        SlackConversation(slack, channels, stores.runs.note_file),
        _services_of(slack, channels, stores),
        with_schedules(with_steps(surfaces.open, slack.clients, slack.identity), schedules),
        partial(may_decide, slack.people),
        partial(may_administer, slack.people, policy),
        partial(may_ask, slack.people, policy),
    )


def _services_of(slack: Slack, channels: ReachableChannels, stores: Stores) -> Services:
    """What a workspace has for tools, beside its conversations."""
    waiting = WaitingMessages(slack.identity.team, slack.clients, stores.scheduled_messages)
    return {
        Canvases: SlackCanvases(slack, channels),
        Directory: SlackDirectory(slack, channels),
        ScheduledMessages: SlackScheduledMessages(waiting, channels, MessageReader(slack)),
    }
