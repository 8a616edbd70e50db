"""The one place where everything is built: settings in, a running bot out.

Contexts nest: what is entered first is left last, so that leaving drains before it closes.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import pkgutil
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import cache, partial
from pathlib import Path
from typing import Any

import aiohttp
from openai import AsyncOpenAI
from slack_bolt.async_app import AsyncApp

import tools
from bot.agent.calls import Toolbox
from bot.agent.commands import AfterTool
from bot.agent.effort import Effort
from bot.agent.evaluate import Evaluation
from bot.agent.hooks import HookChain, Hooks
from bot.agent.subagents import dispatch_subagent
from bot.core import failpoints
from bot.core.background import alongside
from bot.core.errors import ConfigurationError, ToolError
from bot.core.request import Again, Request
from bot.loop_watch import LoopWatch
from bot.many_workspaces import ManyWorkspaces, many_workspaces
from bot.model import Model, PriceList, ResponsesModel, sdk_client
from bot.runs.artifacts import ThreadArtifacts
from bot.runs.budgets import BudgetPolicy
from bot.runs.channels import Channels
from bot.runs.confirming import MayDecide
from bot.runs.engine import Engine, open_engine
from bot.runs.images import Images
from bot.runs.memories import ScopedMemories
from bot.runs.requests import Requests
from bot.runs.runner import Runner
from bot.runs.schedules import OwnSchedules
from bot.runs.surface import OpenSurface
from bot.runs.watching import Submit, Watch
from bot.serving import Serving, serving
from bot.settings import NO_MODEL, SLACK, Settings, secret
from bot.slack.admin import Admin
from bot.slack.app import Listener, front_door, slack_app
from bot.slack.asking import Asking
from bot.slack.background import Background
from bot.slack.catching_up import CatchingUp
from bot.slack.client import DeadlineClient, clients_on, fixed, identify, slack_session
from bot.slack.conversation import SlackConversation
from bot.slack.deciding import Deciding, may_decide
from bot.slack.directory import SlackDirectory
from bot.slack.edits import Edits
from bot.slack.intake import Intake
from bot.slack.listeners import register
from bot.slack.reachable import ReachableChannels
from bot.slack.scheduling import Scheduling
from bot.slack.socket_mode import socket_mode
from bot.slack.stopping import Stopping
from bot.slack.surface import slack_surfaces
from bot.slack.workflow import with_steps
from bot.slack.workspaces import OneWorkspace, PerWorkspace, Slack, Workspaces, in_each
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis
from bot.toolkit import (
    Artifacts,
    Conversation,
    Databases,
    Directory,
    Fetcher,
    Memories,
    Schedules,
    Tool,
)
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.directory import NoDirectory
from bot.toolkit.mcp import McpServers, open_mcp_servers

log = logging.getLogger(__name__)

REDIS_SECONDS = 30.0
"""How long a Redis may be away when the process starts; hosts start it again after that."""


@cache
def catalogue() -> Catalogue:
    """All tools: whatever `@tool` made in the modules of `tools/`, and the agent's own."""
    names = [each.name for each in pkgutil.iter_modules(tools.__path__)]
    modules = [importlib.import_module(f"tools.{name}") for name in names]
    made = (getattr(value, "tool", None) for module in modules for value in vars(module).values())
    named = Catalogue.of(each for each in made if isinstance(each, Tool))
    return named.with_own(dispatch_subagent.tool)


@asynccontextmanager
async def redis_and_stores(
    settings: Settings, *, data_dir: Path | None
) -> AsyncGenerator[tuple[str, Stores]]:
    """The configured Redis, or one of our own that keeps its data in `data_dir` (None: nowhere)."""
    async with AsyncExitStack() as stack:
        url = settings.redis_url
        if url is None:
            url = await stack.enter_async_context(embedded_redis(data_dir))
        yield url, await stack.enter_async_context(open_stores(url, settings.retention))


MakeRunner = Callable[[Conversation, Directory, OpenSurface, MayDecide], Runner]


@asynccontextmanager
async def runner(
    settings: Settings,
    stores: Stores,
    conversation: Conversation,
    open_surface: OpenSurface,
    *,
    may_decide: MayDecide,
    **options: Any,
) -> AsyncGenerator[Runner]:
    """The runner of a place that is no workspace; see `runners`."""
    async with runners(settings, stores, **options) as make:
        yield make(conversation, NoDirectory(), open_surface, may_decide)


@asynccontextmanager
async def runners(
    settings: Settings,
    stores: Stores,
    *,
    stream: bool = True,
    dry_run: bool = False,
    watches: Sequence[Watch] = (),
    draining: asyncio.Event | None = None,
) -> AsyncGenerator[MakeRunner]:
    """Makes a runner for each place where runs are shown, looked on by `watches`. Runs are handed
    back once `draining` is set. `MayDecide` says who may approve anything there.

    Raises ConfigurationError when no model service is named.
    """
    prices = PriceList(settings.model.window, settings.model.price)
    _check_prices(settings, prices)
    key = "none"  # a server of one's own may ask for none
    if settings.openai_api_key or not settings.openai_base_url:
        key = secret(settings.openai_api_key, "OPENAI_API_KEY", NO_MODEL)
    artifacts = ThreadArtifacts(stores.artifacts)
    databases = Databases(settings.databases)
    memories = ScopedMemories(stores.memories)
    shared = {
        Artifacts: artifacts,
        Databases: databases,
        Fetcher: Fetcher(),
        Memories: memories,
        Schedules: OwnSchedules(stores.schedules),
    }
    async with (
        open_mcp_servers(settings.mcp_servers, stores.mcp) as mcp,
        sdk_client(key, settings.openai_base_url) as client,
    ):
        model: Model = _service(settings, client, stream=stream)
        for each in watches:
            model = each.model(model, prices)

        def make(
            conversation: Conversation,
            directory: Directory,
            open_surface: OpenSurface,
            may_decide: MayDecide,
        ) -> Runner:
            for each in watches:
                open_surface = each.surfaces(open_surface)
            services = {**shared, Conversation: conversation, Directory: directory}
            return Runner(
                stores=stores,
                toolbox=Toolbox(offered(settings), services, artifacts),
                model=model,
                models=(settings.openai_model, *settings.openai_fallback_models),
                prices=prices,
                limits=settings.limits,
                open_surface=open_surface,
                budgets=budget_policy(settings, stores),
                hooks_for=lambda request, asked: _hooks(
                    *(settings, model, artifacts, conversation, request, asked)
                ),
                channels=Channels(settings.channels, stores.channels),
                more_tools=mcp.tools,
                memories_of=memories.known_to,
                draining=draining or asyncio.Event(),
                policy=settings.access,
                may_decide=may_decide,
                temperature=settings.model.temperature,
                stateless=settings.model.stateless,
                conversation=conversation if settings.model.images else None,
                dry_run=dry_run,
            )

        yield make


def offered(settings: Settings) -> Catalogue:
    """All tools, with those of the model service that are switched on."""
    return catalogue().with_hosted(settings.hosted.definitions())


def _service(settings: Settings, client: AsyncOpenAI, *, stream: bool) -> ResponsesModel:
    return ResponsesModel(
        client,
        stream=stream,
        reasoning=settings.model.reasoning_parameter,
        temperature=settings.model.temperature,
        max_output_tokens=settings.model.max_output_tokens,
    )


def budget_policy(settings: Settings, stores: Stores) -> BudgetPolicy:
    """Who may spend how much."""
    return BudgetPolicy(settings.budgets, stores.budgets, stores.pause)


def _check_prices(settings: Settings, prices: PriceList) -> None:
    """Raises ConfigurationError when money is bounded but nobody knows what a model costs."""
    bounds = [f"budgets.{name}" for name in settings.budgets.bound_money]
    if settings.limits.cost and "cost" in settings.limits.model_fields_set:
        bounds.append("limits.cost")
    bounds += [
        f"channels.{key}.limits.cost"
        for key, each in settings.channels.items()
        if each.limits.get("cost")
    ]
    models = (settings.openai_model, *settings.openai_fallback_models)
    unknown = [model for model in models if not prices.knows(model)]
    if bounds and unknown:
        raise ConfigurationError(
            f"{', '.join(bounds)}: the price of {', '.join(unknown)} is not known, so money cannot "
            "be bounded. Set [model] price = {input = …, output = …} in dollars per million tokens."
        )


def _hooks(
    settings: Settings,
    model: Model,
    artifacts: Artifacts,
    conversation: Conversation,
    request: Request,
    asked: Callable[[], str],
) -> HookChain:
    """The policies of one run, in the order in which they judge a result."""
    hooks: list[Hooks] = [Images(conversation)] if settings.model.images else []
    deeper = settings.limits.deeper if request.again is Again.DEEPER else 0
    if effort := max(settings.limits.effort or 0, deeper):
        hooks.append(Effort(effort))
    if settings.model.evaluation != "off":
        tries = 2 if settings.model.evaluation == "full" else 0
        hooks.append(Evaluation(asked, model, settings.openai_model, tries=tries))
    if settings.hooks.after_tool:
        hooks.append(AfterTool(settings.hooks.after_tool, artifacts))
    return HookChain(tuple(hooks))


async def one_workspace(settings: Settings, session: aiohttp.ClientSession) -> OneWorkspace:
    """That of SLACK_BOT_TOKEN. Raises ConfigurationError when it is missing or wrong."""
    why = (
        "copy the Bot User OAuth Token from your app's Install App page, or set SLACK_CLIENT_ID to "
        "have it installed in many workspaces"
    )
    token = secret(settings.slack_bot_token, "SLACK_BOT_TOKEN", why)
    clients = clients_on(session, fixed(token), base_url=settings.slack_api_url)
    return OneWorkspace(Slack.reached_by(clients, await identify(clients.reads)))


@asynccontextmanager
async def bot(
    settings: Settings, *, intake: bool = True, work: bool = True
) -> AsyncGenerator[None]:
    """The bot for the length of the context: what takes requests in, what works on them, or both.

    Leaving it stops the intake, lets runs come to a save point, and hands them back; by way of a
    cancellation it hands them back as they are.
    """
    _arm_failpoints(settings)
    async with AsyncExitStack() as stack:
        told = await stack.enter_async_context(serving(settings, intake=intake, work=work))
        watch = LoopWatch(told.metrics.loop_lag)
        told.health.needs("event_loop", watch.keeps_up)
        data_dir = settings.bot_data_dir / "redis"
        url, stores = await stack.enter_async_context(redis_and_stores(settings, data_dir=data_dir))
        told.looks_into(stores)
        await stores.wait_reachable(REDIS_SECONDS)
        traced = told.metrics.slack_calls(settings.slack_api_url)
        session = await stack.enter_async_context(slack_session(traced))
        many = many_workspaces(settings, stores, session) if settings.slack_client_id else None
        there = many.workspaces if many else await one_workspace(settings, session)
        engine = await stack.enter_async_context(open_engine(url, stores.mailbox, settings.engine))
        if work:
            await stack.enter_async_context(_working(settings, stores, there, engine, told.watches))
        if intake:
            await stack.enter_async_context(_listening(settings, stores, there, engine, told, many))
        await stack.enter_async_context(alongside(watch.run(), name="loop watch"))
        stack.callback(engine.take_no_more)  # runs look for a save point while the intake closes
        stack.enter_context(told.health.serving())
        yield


def _arm_failpoints(settings: Settings) -> None:
    """For tests only. Raises ConfigurationError where real people would meet the crashes."""
    if settings.bot_failpoints is None:
        return
    if settings.slack_api_url == SLACK:
        raise ConfigurationError("BOT_FAILPOINTS is set: it crashes a bot on purpose. Unset it.")
    failpoints.arm(settings.bot_failpoints)


@asynccontextmanager
async def _working(
    settings: Settings,
    stores: Stores,
    there: Workspaces,
    engine: Engine,
    watches: Sequence[Watch],
) -> AsyncGenerator[None]:
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stores.signals.listening())
        make = await stack.enter_async_context(
            runners(settings, stores, watches=watches, draining=engine.draining)
        )
        artifacts = ThreadArtifacts(stores.artifacts)
        in_workspace = PerWorkspace(there, lambda slack: _runner_in(slack, artifacts, make))

        async def handle(request: Request, attempt: int) -> None:
            works = await in_workspace.of(request.team)
            if works is None:
                log.warning("Dropped: the bot is not in %s any more", request.team)
                return
            await works.answer(request, attempt)

        await stack.enter_async_context(engine.work(handle))
        yield
        await engine.drain(settings.engine.grace)  # not when cancelled: then there is no grace


def _runner_in(
    slack: Slack,
    artifacts: ThreadArtifacts,
    make: MakeRunner,
) -> Runner:
    async def read_artifact(request: Request, handle: str) -> bytes:
        data = await artifacts.of(request, handle)
        if data is None:
            raise ToolError(f"{handle} is not kept any more.")
        return data

    surfaces = slack_surfaces(
        clients=slack.clients,
        identity=slack.identity,
        status=slack.status,
        read_artifact=read_artifact,
    )
    channels = ReachableChannels(slack.clients, slack.people, slack.access)
    return make(
        SlackConversation(slack.clients, slack.identity, slack.people, channels),
        SlackDirectory(slack.clients, slack.identity, slack.people, channels),
        with_steps(surfaces, slack.clients, slack.identity),
        partial(may_decide, slack.people),
    )


@asynccontextmanager
async def _listening(
    settings: Settings,
    stores: Stores,
    there: Workspaces,
    engine: Engine,
    told: Serving,
    many: ManyWorkspaces | None,
) -> AsyncGenerator[None]:
    signing = settings.slack_signing_secret
    signing_secret = signing.get_secret_value() if signing else ""
    async with AsyncExitStack() as stack:
        background = await stack.enter_async_context(Background())
        requests = Requests(stores, engine)
        submit: Submit = requests.submit
        for each in told.watches:
            submit = each.submits(submit)

        def listener(slack: Slack) -> Listener:
            app = slack_app(slack.clients, slack.identity, signing_secret=signing_secret)
            intake, asking = _add_listeners(
                *(app, settings, stores, slack, requests, submit, background)
            )
            return Listener(slack, app, intake, asking)

        listeners = PerWorkspace(there, listener)
        taken_out = many.removals.taken_out if many else None
        app = front_door(listeners, signing_secret=signing_secret, taken_out=taken_out)
        if many:
            stack.enter_context(told.install_pages.served_by(many.flow))
        if settings.slack_app_token:
            token = settings.slack_app_token.get_secret_value()
            client = DeadlineClient(deadline=20, base_url=settings.slack_api_url)
            sockets = await stack.enter_async_context(socket_mode(app, token, web_client=client))
            told.health.needs("slack", sockets.is_connected)
        else:
            why = "without SLACK_APP_TOKEN events come over HTTP and must be signed"
            secret(signing, "SLACK_SIGNING_SECRET", why)
            await stack.enter_async_context(told.slack_requests.taken_by(app))
        if settings.catch_up.every_minutes:

            async def catch_up(team: str) -> None:
                if listener := await listeners.of(team):
                    await _catching_up(settings, stores, listener).run()

            watching = in_each(there.teams, catch_up)
            await stack.enter_async_context(alongside(watching, name="catching up"))

        async def ask_what_is_due(team: str) -> None:
            if listener := await listeners.of(team):
                clients, asking = listener.slack.clients, listener.asking
                await Scheduling(team, stores.schedules, asking, clients).run()

        due = in_each(there.teams, ask_what_is_due)
        await stack.enter_async_context(alongside(due, name="schedules"))
        yield


def _catching_up(settings: Settings, stores: Stores, listener: Listener) -> CatchingUp:
    return CatchingUp(
        settings.catch_up,
        client=listener.slack.clients.reads,
        identity=listener.slack.identity,
        intake=listener.intake,
        turns=stores.catch_ups,
        find=stores.mailbox.find,
    )


def _add_listeners(
    app: AsyncApp,
    settings: Settings,
    stores: Stores,
    slack: Slack,
    requests: Requests,
    submit: Submit,
    background: Background,
) -> tuple[Intake, Asking]:
    channels = Channels(settings.channels, stores.channels)
    stopping = Stopping(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        running=requests,
    )
    intake = Intake(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        access=slack.access,
        threads=stores.threads,
        submit=submit,
        stopping=stopping,
        status=slack.status,
        background=background,
    )
    edits = Edits(
        identity=slack.identity,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        intake=intake,
        asked=requests,
    )
    asking = Asking(
        identity=slack.identity,
        clients=slack.clients,
        people=slack.people,
        policy=settings.access,
        channels=channels,
        access=slack.access,
        intake=intake,
        load=requests.whole,
    )
    budgets = budget_policy(settings, stores)
    admin = Admin(
        one_of_many=settings.slack_client_id is not None,
        identity=slack.identity,
        people=slack.people,
        policy=settings.access,
        budgets=budgets,
        channels=channels,
        servers=McpServers(settings.mcp_servers, stores.mcp),
        is_tool=lambda name: name in settings.mcp_servers or offered(settings).has(name),
        record=stores.audit.append,
    )
    register(
        app,
        identity=slack.identity,
        clients=slack.clients,
        intake=intake,
        edits=edits,
        asking=asking,
        submit=submit,
        access=slack.access,
        stopping=stopping,
        keep_feedback=stores.feedback,
        admin=admin,
        deciding=Deciding(slack.people, requests.asked, requests.decide),
        usage_of=budgets.of_person,
        memories=stores.memories,
        status=slack.status,
        background=background,
    )
    return intake, asking
