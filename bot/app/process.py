"""Process of the bot: built from the settings, with a request intake, workers, or both.

Contexts nest: the context entered first is left last, so that runs are drained before Redis closes.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from typing import Any

import aiohttp

from bot.app.features import (
    all_features,
    answer_buttons,
    check_features,
    made,
    operator_parts,
    served_tools,
    wait_kinds,
)
from bot.app.http_server import process_status
from bot.app.oauth import OAuthApp, announcing_keys, oauth_app, token_box
from bot.app.run_setup import (
    MakeRunner,
    check_run_settings,
    redis_and_stores,
    response_deleter,
    runner_factory,
)
from bot.app.tool_loading import tool_catalogue
from bot.app.tool_providers import bound_providers
from bot.app.workspace_intake import check_signing, slack_intake
from bot.core.background import alongside, apart
from bot.core.errors import ToolError
from bot.core.request import Request
from bot.features import Feature, ProcessDeps, ServiceDeps
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.queue.engine import Engine, open_engine
from bot.runs.queue.revisions import messages_answered
from bot.runs.run_deps import Frontend
from bot.runs.runner import Runner
from bot.runs.trials import CaseRun
from bot.runs.watching import Observer, optional
from bot.settings import Settings, arm_failpoints, secret
from bot.slack.edge.client import clients_on, identify, slack_session, static_token
from bot.slack.edge.people_and_channels import naming
from bot.slack.edge.tasks import Background
from bot.slack.edge.workspaces import OneWorkspace, PerWorkspace, Slack, Workspaces
from bot.slack.intake.access_gate import may_administer, may_ask, may_decide
from bot.slack.intake.slack_part import is_switched_off, tell_alone
from bot.slack.message.message_metadata import EarlierAnswers
from bot.slack.message.open_run_message import RunMessages
from bot.slack.message.repair import StatusSweep
from bot.slack.message.streams import Streams
from bot.slack.providers.channel_access import ReachableChannels
from bot.slack.providers.conversation import SlackConversation
from bot.slack.providers.directory import SlackDirectory
from bot.slack.ui import words
from bot.slack.ui.approval_kinds import WaitKinds
from bot.store import Stores, data_format
from bot.store.pools import host_of
from bot.telemetry.event_loop import EventLoopWatchdog
from bot.text.counting import counted
from bot.text.translation import load_catalogue, reader
from bot.toolkit import Directory

log = logging.getLogger(__name__)

REDIS_SECONDS = 30.0
"""How long the start waits for Redis; after that the process ends, and its host restarts it."""

_IN_LINE_DELAY = 1.0  # seconds: the intake also sets a status, which must not come second


async def one_workspace(settings: Settings, session: aiohttp.ClientSession) -> OneWorkspace:
    """Return the workspace of SLACK_BOT_TOKEN.

    Raises ConfigurationError when the token is missing or wrong.
    """
    clients = clients_on(
        session, static_token(_bot_token(settings)), base_url=settings.slack_api_url
    )
    return OneWorkspace(Slack.with_clients(clients, await identify(clients.reads)))


def _bot_token(settings: Settings) -> str:
    why = (
        "copy the Bot User OAuth Token from your app's Install App page, or set SLACK_CLIENT_ID to "
        "have it installed in many workspaces"
    )
    return secret(settings.slack_bot_token, "SLACK_BOT_TOKEN", why)


@asynccontextmanager
async def bot(
    settings: Settings,
    *,
    intake: bool = True,
    work: bool = True,
    run_case: Callable[..., Coroutine[Any, Any, CaseRun]] | None = None,
    features: Sequence[Feature] | None = None,
) -> AsyncGenerator[dict[str, str]]:
    """Run the bot inside the context: its `intake` of requests, its `work` on them, or both.

    Yields what it works with, by what it is, for the log: bot, events, model, tools, redis.

    `run_case` runs an evaluation case for an admin: `bot.evals.trials.run_trial_case`, which this
    package must not import. Without it, none can be tried. `features` are those of the bot instead of
    all.

    Leaving the context stops the intake, lets runs reach a save point, and requeues them. When the
    context is cancelled, runs are requeued at once. Raises ConfigurationError.
    """
    arm_failpoints(settings)
    if features is None:
        features = all_features(settings, partial(run_case, settings) if run_case else None)
    check_features(features)
    _check_settings(settings, intake=intake, work=work)
    async with AsyncExitStack() as stack:
        process = await stack.enter_async_context(
            process_status(
                settings,
                intake=intake,
                work=work,
                pages=[route for feature in features for route in feature.pages],
            )
        )
        for part in operator_parts(features):
            with optional(part, "metrics"):
                process.metrics.include(part.metrics)
        watchdog = EventLoopWatchdog(process.metrics.loop_lag)
        process.health.needs("event_loop", watchdog.keeps_up)
        call_counter = process.metrics.slack_calls(settings.slack_api_url)
        session = await stack.enter_async_context(slack_session(call_counter))
        # Before the embedded Redis makes its folder: a wrong token must leave none behind.
        single = None if settings.slack_client_id else await one_workspace(settings, session)
        data_dir = settings.bot_data_dir / "redis"
        opened = redis_and_stores(settings, data_dir=data_dir, patience=REDIS_SECONDS)
        url, stores = await stack.enter_async_context(opened)
        process.use_stores(stores)
        await data_format.take_over(stores.redis)
        await stack.enter_async_context(announcing_keys(settings, stores, features))
        oauth: OAuthApp | None = None
        workspaces: Workspaces
        if single:
            workspaces = single
        else:
            oauth = oauth_app(settings, stores, session, features)
            workspaces = oauth.workspaces
        deps = ProcessDeps(stores, workspaces, settings.access, oauth.app if oauth else None)
        for feature in features:
            if feature.process:
                context = apart(partial(feature.process, deps), name=f"process of {feature.name}")
                await stack.enter_async_context(context)
        engine = await stack.enter_async_context(open_engine(url, stores.mailbox, settings.engine))
        if work:
            await stack.enter_async_context(
                _working(
                    settings,
                    stores,
                    workspaces,
                    engine,
                    (*process.observers, engine.starts),
                    features,
                )
            )
        if intake:
            await stack.enter_async_context(
                slack_intake(settings, stores, workspaces, engine, process, oauth, features)
            )
        await stack.enter_async_context(alongside(watchdog.run(), name="loop watch"))
        await stack.enter_async_context(
            alongside(data_format.watch(stores.redis), name="format watch")
        )
        if intake:
            noting = process.health.note_while_ready(stores.receivers)
            await stack.enter_async_context(alongside(noting, name="receiver"))
        stack.callback(engine.stop_intake)  # runs look for a save point while the intake closes
        stack.enter_context(process.health.serving())
        parts = {"bot": single.slack.identity.at if single else "every workspace that installs it"}
        parts |= {"events": process.events_from} if intake else {}
        parts |= _work_parts(settings, features) if work else {}
        where = f"at {host_of(url)}" if settings.redis_url else f"in {data_dir.absolute()}"
        yield parts | {"redis": f"Redis {where}"}


def _work_parts(settings: Settings, features: Sequence[Feature]) -> dict[str, str]:
    """Return the models and the number of tools of a worker, counted as `bot doctor` does."""
    tools = len(served_tools(settings, features))
    return {"model": ", ".join(settings.models.configured), "tools": counted(tools, "tool")}


def _check_settings(settings: Settings, *, intake: bool, work: bool) -> None:
    """Raise ConfigurationError for a missing or wrong setting, before anything is opened.

    The embedded Redis would leave a folder, from which commands conclude that a bot ran here.
    """
    if settings.slack_client_id:
        token_box(settings)
    else:
        _bot_token(settings)
    tool_catalogue(settings)
    if intake:
        check_signing(settings)
    if work:
        check_run_settings(settings)
        bound_providers(settings)


@asynccontextmanager
async def _working(
    settings: Settings,
    stores: Stores,
    workspaces: Workspaces,
    engine: Engine,
    observers: Sequence[Observer],
    features: Sequence[Feature],
) -> AsyncGenerator[None]:
    """Work on queued requests inside the context; drain the engine when it is left."""
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stores.signals.listening())
        make_runner = await stack.enter_async_context(
            runner_factory(
                settings,
                stores,
                observers=observers,
                draining=engine.draining,
                features=features,
            )
        )
        artifacts = ThreadArtifacts(stores.artifacts)
        runners = PerWorkspace(
            workspaces,
            lambda slack: _runner_in(slack, stores, artifacts, make_runner, settings, features),
        )

        async def handle(request: Request, deaths: int) -> None:
            runner, slack = await runners.of(request.team), await workspaces.of(request.team)
            if runner is None or slack is None:
                log.warning("request dropped: the bot is no longer installed in %s", request.team)
                return
            if request.job:
                kind = request.job.kind
                job_for = next((each.jobs[kind] for each in features if kind in each.jobs), None)
                if job_for:
                    await job_for(runner.deps, slack)(request, deaths)
                else:
                    log.warning("request dropped: no feature does a job %s", kind)
                    await tell_alone(slack.clients, request, words.JOB_SWITCHED_OFF)
            elif is_switched_off(request, runner.deps.frontend.surfaces):
                log.warning("request dropped: no feature shows a run of %s", request.entry)
                await tell_alone(slack.clients, request, words.JOB_SWITCHED_OFF)
            else:
                await runner.answer(request, deaths)

        background = await stack.enter_async_context(Background())

        def on_deferred(request: Request) -> None:
            background.start(_show_in_line(request, stores, workspaces), "status of a deferred run")

        def on_held(request: Request) -> None:
            background.start(_show_paused(request, stores, workspaces), "status of a held run")

        def on_dropped(request: Request) -> None:
            background.start(_tell_dropped(request, workspaces), "end of a dropped request")

        async def is_paused() -> bool:
            return await stores.pause.get() is not None

        deleter = response_deleter(settings, stores)
        await stack.enter_async_context(alongside(deleter.run(), name="response deleter"))
        await stack.enter_async_context(
            engine.work(
                handle, on_deferred, on_held=on_held, on_dropped=on_dropped, is_paused=is_paused
            )
        )
        sweep = StatusSweep(
            workspaces=workspaces,
            mailbox=stores.mailbox,
            stale=stores.stale_statuses,
            in_line=engine.in_line,
            paused=stores.pause.get,
            renew_seconds=settings.engine.sweep,
        )
        await stack.enter_async_context(alongside(sweep.run(), name="status sweep"))
        yield
        await engine.drain(
            settings.engine.grace
        )  # not reached when cancelled: there is no grace then


async def _tell_dropped(request: Request, workspaces: Workspaces) -> None:
    """Tell whoever asked that nothing came of a request: no attempt got so far as to say it."""
    if slack := await workspaces.of(request.team):
        await tell_alone(slack.clients, request, words.WENT_WRONG)


async def _show_in_line(request: Request, stores: Stores, workspaces: Workspaces) -> None:
    """Set the "in line" status of a request that waits for its asker's other runs."""
    if request.job:  # it has no thread
        return
    await asyncio.sleep(_IN_LINE_DELAY)
    slack = await workspaces.of(request.team)
    if slack and await stores.mailbox.is_parked(request.thread_key):
        await slack.status.show(request.channel, request.thread, words.STATUS_IN_LINE())


async def _show_paused(request: Request, stores: Stores, workspaces: Workspaces) -> None:
    """Set the status of a request that waits for the end of a pause."""
    if request.job:
        return
    await asyncio.sleep(_IN_LINE_DELAY)
    slack, pause = await workspaces.of(request.team), await stores.pause.get()
    if slack and pause and await stores.mailbox.is_parked(request.thread_key):
        await load_catalogue(request.spoken_locale)
        with reader(request.spoken_locale):
            line = words.STATUS_PAUSED(name=pause.name)
        await slack.status.show(request.channel, request.thread, line)


def _runner_in(
    slack: Slack,
    stores: Stores,
    artifacts: ThreadArtifacts,
    make_runner: MakeRunner,
    settings: Settings,
    features: Sequence[Feature],
) -> Runner:
    """Return the runner of one workspace."""

    async def read_artifact(request: Request, handle: str) -> bytes:
        data = await artifacts.of(request, handle)
        if data is None:
            raise ToolError(f"{handle} is no longer stored.")
        return data

    asked = wait_kinds(features, ServiceDeps(stores, slack))
    waits = WaitKinds(slack.identity.canvas_link, asked)
    surfaces = RunMessages(
        clients=slack.clients,
        identity=slack.identity,
        status=slack.status,
        people=slack.people,
        streams=Streams(slack.clients, slack.identity),
        read_artifact=read_artifact,
        name_of=naming(slack.people, slack.access),
        note_stale=stores.stale_statuses.add,
        questions_of=partial(messages_answered, stores),
        waits=waits,
        answer_buttons=answer_buttons(features),
    )
    listeners = [
        made(feature, "run listener", feature.run_listener, stores, slack)
        for feature in features
        if feature.run_listener
    ]
    channels = ReachableChannels(slack)
    frontend = Frontend(
        SlackConversation(slack, channels, stores.runs.note_file),
        surfaces.open,
        may_decide=partial(may_decide, slack.people),
        may_administer=partial(may_administer, slack.people, settings.access),
        may_ask=partial(may_ask, slack.people, settings.access),
        services={Directory: SlackDirectory(slack, channels)},
        reaches_asker=True,
        ended_by=EarlierAnswers(slack.clients, slack.identity).ended_by,
        surfaces={
            entry: surface(slack, waits)
            for feature in features
            for entry, surface in feature.surfaces.items()
        },
        listeners=[listener for listener in listeners if listener],
    )
    return make_runner(frontend, slack)
