"""The one place where everything is built: settings in, a running bot out.

Contexts nest: what is entered first is left last, so that leaving drains before it closes.
"""

from __future__ import annotations

import asyncio
import importlib
import pkgutil
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path

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
from bot.metrics import Metrics
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
from bot.runs.surface import OpenSurface
from bot.runs.watching import Submit, Watch
from bot.serving import Serving, serving
from bot.settings import NO_MODEL, SLACK, Settings, secret
from bot.slack.access import Access
from bot.slack.admin import Admin
from bot.slack.app import slack_app
from bot.slack.asking import Asking
from bot.slack.background import Background
from bot.slack.catching_up import CatchingUp
from bot.slack.client import Clients, Identity, identify, slack_clients
from bot.slack.conversation import SlackConversation
from bot.slack.deciding import Deciding, may_decide
from bot.slack.edits import Edits
from bot.slack.intake import Intake
from bot.slack.listeners import register
from bot.slack.people import People
from bot.slack.socket_mode import socket_mode
from bot.slack.status import ThreadStatus
from bot.slack.stopping import Stopping
from bot.slack.surface import slack_surfaces
from bot.slack.workflow import with_steps
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis
from bot.toolkit import Artifacts, Conversation, Databases, Fetcher, Memories, Tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.mcp import McpServers, open_mcp_servers

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


@asynccontextmanager
async def runner(
    settings: Settings,
    stores: Stores,
    conversation: Conversation,
    open_surface: OpenSurface,
    *,
    stream: bool = True,
    dry_run: bool = False,
    watches: Sequence[Watch] = (),
    draining: asyncio.Event | None = None,
    may_decide: MayDecide,
) -> AsyncGenerator[Runner]:
    """All that a run needs, looked on by `watches`. Runs are handed back once `draining` is set.
    `may_decide` says who may approve anything.

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
    services = {
        Artifacts: artifacts,
        Conversation: conversation,
        Databases: databases,
        Fetcher: Fetcher(),
        Memories: memories,
    }
    async with (
        open_mcp_servers(settings.mcp_servers, stores.mcp) as mcp,
        sdk_client(key, settings.openai_base_url) as client,
    ):
        model: Model = ResponsesModel(
            client,
            stream=stream,
            reasoning=settings.model.reasoning_parameter,
            temperature=settings.model.temperature,
            max_output_tokens=settings.model.max_output_tokens,
        )
        for each in watches:
            model, open_surface = each.model(model, prices), each.surfaces(open_surface)
        yield Runner(
            stores=stores,
            toolbox=Toolbox(catalogue(), services, artifacts),
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


@dataclass(frozen=True, slots=True)
class Slack:
    """The workspace as the bot reaches it, shared by intake and runs."""

    clients: Clients
    identity: Identity
    people: People
    access: Access
    status: ThreadStatus


@asynccontextmanager
async def slack_workspace(settings: Settings, metrics: Metrics) -> AsyncGenerator[Slack]:
    """Raises ConfigurationError when the token is missing or wrong."""
    why = "copy the Bot User OAuth Token from your app's Install App page"
    token = secret(settings.slack_bot_token, "SLACK_BOT_TOKEN", why)
    tracing = metrics.slack_calls(settings.slack_api_url)
    async with slack_clients(token, base_url=settings.slack_api_url, tracing=tracing) as clients:
        identity = await identify(clients.reads)
        yield Slack(
            clients=clients,
            identity=identity,
            people=People(clients.reads, identity),
            access=Access(clients.reads),
            status=ThreadStatus(clients.live),
        )


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
        slack = await stack.enter_async_context(slack_workspace(settings, told.metrics))
        engine = await stack.enter_async_context(open_engine(url, stores.mailbox, settings.engine))
        if work:
            await stack.enter_async_context(_working(settings, stores, slack, engine, told.watches))
        if intake:
            await stack.enter_async_context(_listening(settings, stores, slack, engine, told))
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
    settings: Settings, stores: Stores, slack: Slack, engine: Engine, watches: Sequence[Watch]
) -> AsyncGenerator[None]:
    artifacts = ThreadArtifacts(stores.artifacts)

    async def read_artifact(request: Request, handle: str) -> bytes:
        data = await artifacts.of(request, handle)
        if data is None:
            raise ToolError(f"{handle} is not kept any more.")
        return data

    conversation = SlackConversation(slack.clients, slack.identity, slack.people, slack.access)
    surfaces = slack_surfaces(
        clients=slack.clients,
        identity=slack.identity,
        status=slack.status,
        read_artifact=read_artifact,
    )
    surfaces = with_steps(surfaces, slack.clients, slack.identity)
    async with AsyncExitStack() as stack:
        await stack.enter_async_context(stores.signals.listening())
        works = await stack.enter_async_context(
            runner(
                settings,
                stores,
                conversation,
                surfaces,
                watches=watches,
                draining=engine.draining,
                may_decide=partial(may_decide, slack.people),
            )
        )

        async def handle(request: Request, attempt: int) -> None:
            await works.answer(request, attempt)

        await stack.enter_async_context(engine.work(handle))
        yield
        await engine.drain(settings.engine.grace)  # not when cancelled: then there is no grace


@asynccontextmanager
async def _listening(
    settings: Settings, stores: Stores, slack: Slack, engine: Engine, told: Serving
) -> AsyncGenerator[None]:
    signing = settings.slack_signing_secret
    app = slack_app(
        slack.clients, slack.identity, signing_secret=signing.get_secret_value() if signing else ""
    )
    async with AsyncExitStack() as stack:
        background = await stack.enter_async_context(Background())
        requests = Requests(stores, engine)
        submit: Submit = requests.submit
        for each in told.watches:
            submit = each.submits(submit)
        intake = _add_listeners(app, settings, stores, slack, requests, submit, background)
        if settings.slack_app_token:
            token = settings.slack_app_token.get_secret_value()
            sockets = await stack.enter_async_context(
                socket_mode(app, token, web_client=slack.clients.reads)
            )
            told.health.needs("slack", sockets.is_connected)
        else:
            why = "without SLACK_APP_TOKEN events come over HTTP and must be signed"
            secret(signing, "SLACK_SIGNING_SECRET", why)
            await stack.enter_async_context(told.slack_requests.taken_by(app))
        if settings.catch_up.every_minutes:
            catching_up = CatchingUp(
                settings.catch_up,
                client=slack.clients.reads,
                identity=slack.identity,
                intake=intake,
                turns=stores.catch_ups,
                find=stores.mailbox.find,
            )
            await stack.enter_async_context(alongside(catching_up.run(), name="catching up"))
        yield


def _add_listeners(
    app: AsyncApp,
    settings: Settings,
    stores: Stores,
    slack: Slack,
    requests: Requests,
    submit: Submit,
    background: Background,
) -> Intake:
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
        identity=slack.identity,
        people=slack.people,
        policy=settings.access,
        budgets=budgets,
        channels=channels,
        servers=McpServers(settings.mcp_servers, stores.mcp),
        is_tool=lambda name: name in settings.mcp_servers or bool(catalogue().only([name]).tools),
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
    return intake
