"""What runs are made with: the tools there are, the model service, hooks and budgets, out of
settings."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

from openai import AsyncOpenAI

from bot.agent.builtin.shared_budget import ParentRun
from bot.agent.builtin.subagents import Subagents
from bot.agent.calls.call import Toolbox
from bot.agent.hooks.chain import HookChain, Hooks
from bot.agent.hooks.commands import Commands
from bot.agent.hooks.effort import Effort
from bot.agent.hooks.evaluation import Evaluation
from bot.app.tool_loading import catalogue
from bot.core.audit import audit_keys
from bot.core.request import Again, Request
from bot.model import Model, PriceList, ResponsesModel, sdk_client
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.context.images import Images
from bot.runs.context.memories import ScopedMemories
from bot.runs.context.own_schedules import OwnSchedules
from bot.runs.erasure import ResponseDeleter
from bot.runs.observers import Observer
from bot.runs.policy.approval_hook import MayAdminister, MayAsk, MayDecide
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import Channels, ChannelSettings
from bot.runs.policy.estimates import CallEstimates
from bot.runs.run_deps import RunDeps, ServerTools
from bot.runs.runner import Runner
from bot.runs.surface import OpenSurface
from bot.runs.toolset_cache import ToolsetCache
from bot.services.databases import SqlDatabases
from bot.services.fetching import WebFetcher
from bot.services.mcp import open_mcp_servers
from bot.services.processes.scratch import remove_left_behind
from bot.services.web_search import ProviderWebSearch, WebSearchConfig
from bot.settings import NO_MODEL, Settings, secret
from bot.settings.checks import check_prices, check_tools
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis, running_redis
from bot.toolkit import Artifacts, Conversation, Databases, Fetcher, Memories, Schedules, WebSearch
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import Services


@asynccontextmanager
async def redis_and_stores(
    settings: Settings, *, data_dir: Path | None
) -> AsyncGenerator[tuple[str, Stores]]:
    """The configured Redis, or one of our own that keeps its data in `data_dir` (None: nowhere)."""
    async with AsyncExitStack() as stack:
        url = settings.redis_url
        if url is None:
            url = await stack.enter_async_context(embedded_redis(data_dir))
        given = settings.bot_encryption_keys
        stores = open_stores(
            url,
            settings.retention,
            concurrency=settings.engine.concurrency,
            audit_keys=audit_keys(given.get_secret_value() if given else ""),
        )
        yield url, await stack.enter_async_context(stores)


def beside(settings: Settings) -> Settings:
    """These settings, on the Redis of the `bot serve` that runs here, if they name none."""
    url = settings.redis_url or running_redis(settings.bot_data_dir / "redis")
    return settings.model_copy(update={"redis_url": url})


MakeRunner = Callable[
    [Conversation, Services, OpenSurface, MayDecide, MayAdminister, MayAsk], Runner
]
"""Of a place: its conversation, and what else it has for tools. Those are offered that have all they
ask for."""


@asynccontextmanager
async def runner(
    settings: Settings,
    stores: Stores,
    conversation: Conversation,
    open_surface: OpenSurface,
    *,
    may_decide: MayDecide,
    may_administer: MayAdminister,
    place: Services = MappingProxyType({}),
    **options: Any,
) -> AsyncGenerator[Runner]:
    """The runner of a place that is no workspace; see `runners`."""
    async with runners(settings, stores, **options) as make:
        yield make(conversation, place, open_surface, may_decide, may_administer, _always)


async def _always(_request: Request, _channel: ChannelSettings) -> bool:
    """Whoever sits there may ask as long as they do."""
    return True


@asynccontextmanager
async def runners(
    settings: Settings,
    stores: Stores,
    *,
    stream: bool = True,
    dry_run: bool = False,
    watches: Sequence[Observer] = (),
    draining: asyncio.Event | None = None,
) -> AsyncGenerator[MakeRunner]:
    """Makes a runner for each place where runs are shown, looked on by `watches`. Runs are handed
    back once `draining` is set. `MayDecide` says who may approve anything there,
    `MayAdminister` who is an admin, `MayAsk` whose questions still count.

    Raises ConfigurationError when no model service is named.
    """
    prices = PriceList(settings.model.window, settings.model.price)
    check_work(settings)
    artifacts, memories = ThreadArtifacts(stores.artifacts), ScopedMemories(stores.memories)
    await asyncio.to_thread(remove_left_behind)
    async with (
        open_mcp_servers(settings.mcp_servers, stores.mcp) as mcp,
        sdk_client(_key(settings), settings.openai_base_url) as client,
    ):
        model: Model = _service(settings, client, stream=stream)
        for each in watches:
            model = each.model(model, prices)
        maker = _RunnerMaker(
            *(settings, stores, model, prices, mcp, watches),
            artifacts=artifacts,
            memories=memories,
            shared={**_shared(settings, stores), Artifacts: artifacts, Memories: memories},
            draining=draining or asyncio.Event(),
            toolset_cache=ToolsetCache(),
            estimates=CallEstimates(prices, settings.model.max_output_tokens),
            dry_run=dry_run,
        )
        yield maker.runner


@dataclass(frozen=True, slots=True)
class _RunnerMaker:
    """What runners have in common, whatever their place."""

    settings: Settings
    stores: Stores
    model: Model
    prices: PriceList
    server_tools: ServerTools
    watches: Sequence[Observer]
    artifacts: ThreadArtifacts
    memories: ScopedMemories
    shared: Services
    toolset_cache: ToolsetCache
    estimates: CallEstimates
    draining: asyncio.Event
    dry_run: bool

    def runner(
        self,
        conversation: Conversation,
        place: Services,
        open_surface: OpenSurface,
        may_decide: MayDecide,
        may_administer: MayAdminister,
        may_ask: MayAsk,
    ) -> Runner:
        for each in self.watches:
            open_surface = each.surfaces(open_surface)
        settings, stores = self.settings, self.stores
        services = {**self.shared, **place, Conversation: conversation}
        tools = offered(settings).served_by({*services, ParentRun, Subagents})
        deps = RunDeps(
            stores=stores,
            toolbox=Toolbox(tools, services, self.artifacts),
            model=self.model,
            models=(settings.openai_model, *settings.openai_fallback_models),
            prices=self.prices,
            estimates=self.estimates,
            limits=settings.limits,
            budgets=budget_policy(settings, stores),
            hooks_for=lambda request, asked, model: _hooks(
                settings, model, self.artifacts, conversation, request, asked
            ),
            channels=Channels(settings.channels, stores.channels),
            server_tools=self.server_tools,
            toolset_cache=self.toolset_cache,
            memories_of=self.memories.known_to,
            draining=self.draining,
            policy=settings.access,
            may_decide=may_decide,
            may_administer=may_administer,
            may_ask=may_ask,
            mentioned_in=conversation.mentioned_in,
            temperature=settings.model.temperature,
            stateless=settings.model.stateless,
            conversation=conversation,
            images=settings.model.images,
            dry_run=self.dry_run,
        )
        return Runner(deps, open_surface)


def _shared(settings: Settings, stores: Stores) -> dict[type, object]:
    """What tools have that is the same in every place."""
    shared: dict[type, object] = {
        Databases: SqlDatabases(settings.databases),
        Fetcher: WebFetcher(),
        Schedules: OwnSchedules(stores.schedules),
    }
    if settings.web_search:
        shared[WebSearch] = web_search(settings, settings.web_search)
    return shared


def response_deleter(settings: Settings, stores: Stores) -> ResponseDeleter:
    """Return what deletes, at the configured model service, the responses that erases noted."""
    if not settings.has_model:
        return ResponseDeleter(stores.deletions, None)
    client = partial(sdk_client, _key(settings), settings.openai_base_url)
    return ResponseDeleter(stores.deletions, client)


def check_work(settings: Settings) -> None:
    """Raise ConfigurationError when no run could work with these settings."""
    check_prices(settings)
    check_tools(settings, partial(names_tools, settings))
    _key(settings)
    if settings.web_search:
        web_search(settings, settings.web_search)


def _key(settings: Settings) -> str:
    if settings.openai_base_url and not settings.openai_api_key:
        return "none"  # a server of one's own may ask for none
    return secret(settings.openai_api_key, "OPENAI_API_KEY", NO_MODEL)


def offered(settings: Settings) -> Catalogue:
    """All tools, with those of the model service that are switched on."""
    return catalogue().with_hosted(settings.hosted.definitions())


def names_tools(settings: Settings, allowed: str) -> bool:
    """Whether a name, a group or a pattern fits any tool, or may fit one of an MCP server: what those
    have is not known before they are asked."""
    of_servers = (
        each for name, each in settings.mcp_servers.items() if each.may_have(name, allowed)
    )
    return offered(settings).has(allowed) or any(of_servers)


def web_search(settings: Settings, config: WebSearchConfig) -> WebSearch:
    """Raises ConfigurationError when the provider needs a key and none is set."""
    given = settings.web_search_api_key
    if config.needs_key:
        secret(given, "WEB_SEARCH_API_KEY", f"{config.provider} searches for nobody without it")
    return ProviderWebSearch(config, given.get_secret_value() if given else "")


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
    channels = Channels(settings.channels, stores.channels)
    return BudgetPolicy(settings.budgets, channels, stores.budgets, stores.pause)


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
    around = settings.hooks
    if around.before_tool or around.after_tool:
        hooks.append(Commands(around.before_tool, around.after_tool, artifacts))
    return HookChain(tuple(hooks))
