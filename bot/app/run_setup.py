"""Run dependencies: tools, model, hooks and budgets, built from the settings.

Everything that a run is given is built here, in `make_runner`; the order of its hooks is in `_hooks`.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from bot.agent.calls.call import Toolbox
from bot.agent.hooks.chain import HookChain, Hooks, ToolCheck
from bot.app.channel_policy import channel_policy
from bot.app.features import all_features, allowed_names, check_features, mcp_doors, services_of
from bot.app.tool_loading import tool_catalogue
from bot.app.tool_providers import bound_providers
from bot.core.audit import audit_keys
from bot.core.background import alongside
from bot.core.request import Request
from bot.features import Feature, ServiceDeps
from bot.library.isolated.scratch import remove_abandoned_folders
from bot.mcp import open_mcp_servers
from bot.model import Model, PriceList, ServerTraits
from bot.model.listing import listed_models
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.context.images import Images
from bot.runs.erasure import ResponseDeleter
from bot.runs.policy.approval_hook import MayAdminister, MayDecide
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import ChannelSettings
from bot.runs.policy.estimates import CallEstimates
from bot.runs.run import Run
from bot.runs.run_deps import Frontend, RunDeps, ToolsetCache
from bot.runs.runner import Runner
from bot.runs.surface import OpenSurface
from bot.runs.watching import Observer
from bot.services.artifact_services import artifact_services
from bot.services.sql_databases import SqlDatabases
from bot.settings import NO_MODEL, Settings, secret
from bot.settings.checks import check_prices, check_tools
from bot.slack.edge.workspaces import Slack
from bot.store import Stores, open_stores
from bot.store.embedded import embedded_redis, running_redis
from bot.toolkit import Conversation, Databases, Fetcher, WebSearch
from bot.toolkit.tool import Services
from bot.toolkit.tool_clients import BoundProvider, open_tool_clients
from bot.web.fetching import WebFetcher
from bot.web.web_search import ProviderWebSearch, WebSearchConfig

if TYPE_CHECKING:
    from bot.model.client import ResponsesModel
    from bot.model.sdk import AsyncOpenAI

_UNLISTED_PAUSE = 60.0  # seconds between attempts to read the list of models


@asynccontextmanager
async def redis_and_stores(
    settings: Settings, *, data_dir: Path | None, patience: float = 0.0
) -> AsyncGenerator[tuple[str, Stores]]:
    """Open the configured Redis, or start an embedded one. Yield its URL and the stores on it.

    The embedded Redis keeps its data in `data_dir`; with None it keeps nothing. Waits up to `patience`
    seconds for an answer, and raises as `Stores.wait_reachable` does.
    """
    async with AsyncExitStack() as stack:
        url = settings.redis_url
        if url is None:
            url = await stack.enter_async_context(embedded_redis(data_dir))
        keys = settings.bot_encryption_keys
        opened = open_stores(
            url,
            settings.retention,
            audit_keys=audit_keys(keys.get_secret_value() if keys else ""),
        )
        stores = await stack.enter_async_context(opened)
        await stores.wait_reachable(patience)
        yield url, stores


def with_running_redis(settings: Settings) -> Settings:
    """Return `settings` with the URL of the embedded Redis that `bot serve` runs, if they name none."""
    url = settings.redis_url or running_redis(settings.bot_data_dir / "redis")
    return settings.model_copy(update={"redis_url": url})


MakeRunner = Callable[[Frontend, Slack | None], Runner]
"""Makes the runner of a frontend; of a workspace in Slack, None elsewhere."""


@asynccontextmanager
async def open_runner(
    settings: Settings,
    stores: Stores,
    conversation: Conversation,
    open_surface: OpenSurface,
    *,
    may_decide: MayDecide,
    may_administer: MayAdminister,
    services: Services = MappingProxyType({}),
    reaches_asker: bool = False,
    **options: Any,
) -> AsyncGenerator[Runner]:
    """Open the one runner of a process without Slack; `options` are those of `runner_factory`."""
    async with runner_factory(settings, stores, **options) as make_runner:
        frontend = Frontend(
            conversation,
            open_surface,
            may_decide,
            may_administer,
            _may_ask,
            services,
            reaches_asker,
        )
        yield make_runner(frontend, None)


async def _may_ask(_request: Request, _channel: ChannelSettings) -> bool:
    """Return True: outside Slack nobody can lose access during a run."""
    return True


@asynccontextmanager
async def runner_factory(
    settings: Settings,
    stores: Stores,
    *,
    stream: bool = True,
    dry_run: bool = False,
    observers: Sequence[Observer] = (),
    metered: Callable[[Model], Model] | None = None,
    draining: asyncio.Event | None = None,
    providers: Sequence[BoundProvider] | None = None,
    features: Sequence[Feature] | None = None,
) -> AsyncGenerator[MakeRunner]:
    """Open the model client, the MCP servers and the clients of tools.

    Yield a function that makes a runner per frontend.

    `observers` listen to every run. Runs call what `metered` makes of the model. They are requeued
    once `draining` is set. `providers` open the clients of tools instead of those that are configured,
    and `features` replace all that there are.

    Raises ConfigurationError when a setting that runs need is missing or wrong.
    """
    check_run_settings(settings)
    features = all_features(settings) if features is None else features
    check_features(features)
    doors = mcp_doors(features, stores.mcp, stores)
    prices = settings.prices
    artifacts = ThreadArtifacts(stores.artifacts)
    await asyncio.to_thread(remove_abandoned_folders)
    async with (
        open_tool_clients(bound_providers(settings) if providers is None else providers) as clients,
        open_mcp_servers(settings.mcp_servers, stores.mcp, **doors) as mcp,
        _model_client(settings) as client,
        alongside(_learn_windows(settings, client, prices), name="model windows"),
    ):
        traits = ServerTraits(stateless=settings.model.stateless)
        model = responses_model(settings, client, traits, stream=stream)
        shared = partial(
            RunDeps,
            stores=stores,
            clients=clients,
            model=metered(model) if metered else model,
            models=settings.models,
            prices=prices,
            estimates=CallEstimates(prices, settings.model.max_output_tokens),
            limits=settings.limits,
            budgets=budget_policy(settings, stores),
            hooks_for=partial(_hooks, settings),
            channels=channel_policy(settings, stores),
            server_tools=mcp,
            toolset_cache=ToolsetCache(),
            draining=draining or asyncio.Event(),
            policy=settings.access,
            temperature=settings.model.temperature,
            traits=traits,
            images=settings.model.images,
            direct=settings.direct,
            parts=tuple(feature.run_part for feature in features if feature.run_part),
            observers=tuple(observers),
            dry_run=dry_run,
        )
        common = {**_common_services(settings), **artifact_services(artifacts)}

        def make_runner(frontend: Frontend, slack: Slack | None) -> Runner:
            of_features = services_of(features, ServiceDeps(stores, slack))
            own = {**frontend.services, Conversation: frontend.conversation}
            services = {**common, **of_features, **own}
            toolbox = Toolbox(tool_catalogue(settings), services, artifacts)
            return Runner(shared(frontend=frontend, toolbox=toolbox))

        yield make_runner


async def _learn_windows(settings: Settings, client: AsyncOpenAI, prices: PriceList) -> None:
    """Read context windows from a custom server's model list, unless `window` is set."""
    if not settings.openai_base_url or "window" in settings.model.model_fields_set:
        return
    listed = await listed_models(client)
    while listed is None:  # not reachable yet, or without a list
        await asyncio.sleep(_UNLISTED_PAUSE)
        listed = await listed_models(client)
    prices.listed.update({name: window for name, window in listed.items() if window})


def _hooks(settings: Settings, run: Run) -> HookChain:
    """List all hooks of a run, in the order in which the loop calls them."""
    hooks: list[Hooks] = [
        # Vetoes calls while the bot is paused; first, so that nothing else acts on them then.
        run.spending,
        # Adds what people write during the run to the next turn.
        run.steering,
        # Records what the run reads, before anything is asked of a tool, and forbids links that could
        # leak it.
        run.egress,
        # Has tools check their calls, so that no other hook decides about one that cannot succeed.
        ToolCheck(run.toolbox.services),
    ]
    # Replaces references to attached images by the images.
    if settings.model.images:
        hooks.append(Images(run.deps.frontend.conversation))
    # Those of features, which may forbid a call, send a result back or change it.
    hooks += [part.hook for part in run.parts if part.hook]
    hooks += [
        # Those of features that ask the asker, such as to connect their account before a call on it.
        *(part.asking for part in run.parts if part.asking),
        # Asks people about calls; last, so that nobody is asked about a call that another hook vetoes.
        run.approval,
    ]
    return HookChain(tuple(hooks))


def _common_services(settings: Settings) -> dict[type, object]:
    """Return the services that tools have in every frontend."""
    services: dict[type, object] = {
        Databases: SqlDatabases(settings.databases),
        Fetcher: WebFetcher(),
    }
    if settings.web_search:
        services[WebSearch] = web_search(settings, settings.web_search)
    return services


def response_deleter(settings: Settings, stores: Stores) -> ResponseDeleter:
    """Return the deleter of stored responses at the model service, for erased conversations."""
    if not settings.has_model:
        return ResponseDeleter(stores.deletions, None)
    return ResponseDeleter(stores.deletions, partial(_model_client, settings))


def check_run_settings(settings: Settings) -> None:
    """Raise ConfigurationError when a setting that runs need is missing or wrong."""
    check_prices(settings)
    check_tools(settings, allowed_names(settings))
    _api_key(settings)
    if settings.web_search:
        web_search(settings, settings.web_search)


def _model_client(settings: Settings) -> AsyncOpenAI:
    from bot.model.client import sdk_client  # loads OpenAI's SDK, which is slow

    return sdk_client(_api_key(settings), settings.openai_base_url)


def _api_key(settings: Settings) -> str:
    if settings.openai_base_url and not settings.openai_api_key:
        return "none"  # the SDK needs one; a self-hosted server may not
    return secret(settings.openai_api_key, "OPENAI_API_KEY", NO_MODEL)


def web_search(settings: Settings, config: WebSearchConfig) -> WebSearch:
    """Return the search provider. Raises ConfigurationError when its key is missing."""
    key = settings.web_search_api_key
    if config.needs_key:
        secret(key, "WEB_SEARCH_API_KEY", f"{config.provider} searches for nobody without it")
    return ProviderWebSearch(config, key.get_secret_value() if key else "")


def responses_model(
    settings: Settings, client: AsyncOpenAI, traits: ServerTraits, *, stream: bool = True
) -> ResponsesModel:
    """Return the configured model server, called as runs call it."""
    from bot.model.client import ResponsesModel

    return ResponsesModel(
        client,
        traits=traits,
        stream=stream,
        reasoning=settings.model.reasoning_parameter,
        temperature=settings.model.temperature,
        max_output_tokens=settings.model.max_output_tokens,
    )


def budget_policy(settings: Settings, stores: Stores) -> BudgetPolicy:
    """Return the policy that says who may spend how much."""
    channels = channel_policy(settings, stores)
    return BudgetPolicy(settings.budgets, channels, stores.budgets, stores.pause)
