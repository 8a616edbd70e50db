"""What the process counts, for Prometheus; taken at the edges, so that nothing inside knows of it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from types import SimpleNamespace

import aiohttp
from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)

from bot.agent.events import Event, FromSubagent, ToolEnded
from bot.core.approvals import Approval, Asked, Decision
from bot.core.errors import ModelError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.model.types import ModelRequest, ModelResponse, Progress
from bot.runs.surface import OpenSurface, RunPost, Surface
from bot.runs.watching import Submit

_RUN_SECONDS = (1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600)
_CALL_SECONDS = (0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300)
_LAG_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class Metrics:
    """A registry of its own, and the edges that feed it. Labels take few values: none holds a
    person, a channel, or anything that a model or a person wrote."""

    def __init__(self) -> None:
        self._registry = registry = CollectorRegistry()
        ProcessCollector(registry=registry)
        self._requests = Counter("bot_requests", "Requests taken in.", ["entry"], registry=registry)
        self._repeated = Counter(
            "bot_requests_repeated", "Requests that had been taken in before.", registry=registry
        )
        self._active = Gauge("bot_runs_active", "Runs under way here.", registry=registry)
        self._runs = Counter(
            "bot_runs",
            "Runs whose end was put up, by how they ended.",
            ["status", "stop_reason"],
            registry=registry,
        )
        self._run_seconds = Histogram(
            "bot_run_seconds",
            "From a request's arrival to the end of its run.",
            buckets=_RUN_SECONDS,
            registry=registry,
        )
        self._tool_calls = Counter(
            "bot_tool_calls",
            "Tool calls, by whether they went well.",
            ["tool", "ok"],
            registry=registry,
        )
        self._model_calls = Counter(
            "bot_model_calls",
            "Calls of the model service: ok, abandoned, or the kind of failure.",
            ["model", "outcome"],
            registry=registry,
        )
        self._model_seconds = Histogram(
            "bot_model_call_seconds",
            "How long calls of the model service took.",
            ["model"],
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        self._tokens = Counter(
            "bot_model_tokens",
            "Tokens as billed; cached ones are part of input.",
            ["model", "kind"],
            registry=registry,
        )
        self._cost = Counter(
            "bot_model_cost_dollars",
            "US dollars, where the price is known.",
            ["model"],
            registry=registry,
        )
        self._slack_calls = Counter(
            "bot_slack_calls",
            "HTTP calls to Slack, retries included, by status (429: asked to slow down).",
            ["method", "status"],
            registry=registry,
        )
        self._waiting = Gauge(
            "bot_requests_waiting",
            "Requests in all mailboxes, those that run included.",
            registry=registry,
        )
        self._undelivered = Gauge(
            "bot_runs_undelivered", "Runs whose end is decided and not up yet.", registry=registry
        )
        Gauge("bot_asyncio_tasks", "Tasks in the event loop.", registry=registry).set_function(
            lambda: len(asyncio.all_tasks())
        )
        self._lag = Histogram(
            "bot_event_loop_lag_seconds",
            "How late the event loop was.",
            buckets=_LAG_SECONDS,
            registry=registry,
        )

    def text(self) -> bytes:
        """Everything in Prometheus's text format."""
        return generate_latest(self._registry)

    def queues(self, *, waiting: float, undelivered: float) -> None:
        """How much is to do, in all processes together."""
        self._waiting.set(waiting)
        self._undelivered.set(undelivered)

    def loop_lag(self, seconds: float) -> None:
        """How late the event loop was."""
        self._lag.observe(seconds)

    def submits(self, submit: Submit) -> Submit:
        """`submit`, counted."""

        async def counted(request: Request, event_id: str) -> bool:
            new = await submit(request, event_id)
            if new:
                self._requests.labels(request.entry).inc()
            else:
                self._repeated.inc()
            return new

        return counted

    def surfaces(self, open_surface: OpenSurface) -> OpenSurface:
        """`open_surface`, with what passes through it counted."""

        def opened(request: Request, post: RunPost) -> AbstractAsyncContextManager[Surface]:
            return self._counting(open_surface(request, post))

        return opened

    @asynccontextmanager
    async def _counting(
        self, opening: AbstractAsyncContextManager[Surface]
    ) -> AsyncGenerator[Surface]:
        with self._active.track_inprogress():
            async with opening as surface:
                yield _CountedSurface(surface, self)

    def tool_ended(self, event: ToolEnded) -> None:
        """A tool's call has its output."""
        self._tool_calls.labels(event.tool, str(event.ok).lower()).inc()

    def run_ended(self, outcome: Outcome) -> None:
        """A run's end is up."""
        self._runs.labels(outcome.status, outcome.stop_reason).inc()
        self._run_seconds.observe(outcome.totals.seconds)

    def model(self, model: Model, prices: PriceList) -> Model:
        """`model`, counted."""
        return _CountedModel(model, prices, self)

    def model_called(self, name: str, outcome: str, seconds: float) -> None:
        """A call of the model service is over."""
        self._model_calls.labels(name, outcome).inc()
        self._model_seconds.labels(name).observe(seconds)

    def model_used(self, name: str, response: ModelResponse, cost: float | None) -> None:
        """What a response took."""
        usage = response.usage
        for kind, tokens in (
            ("input", usage.input_tokens),
            ("cached", usage.cached_tokens),
            ("output", usage.output_tokens),
        ):
            self._tokens.labels(name, kind).inc(tokens)
        self._cost.labels(name).inc(cost or 0.0)

    def slack_calls(self, base_url: str) -> aiohttp.TraceConfig:
        """For the session of Slack's clients: it sees each try, which the SDK's retries hide."""
        tracing = aiohttp.TraceConfig()

        def count(url: str, status: str) -> None:
            method = url.removeprefix(base_url).partition("?")[0]
            self._slack_calls.labels(method if url.startswith(base_url) else "other", status).inc()

        async def ended(
            _session: aiohttp.ClientSession,
            _context: SimpleNamespace,
            params: aiohttp.TraceRequestEndParams,
        ) -> None:
            count(str(params.url), str(params.response.status))

        async def failed(
            _session: aiohttp.ClientSession,
            _context: SimpleNamespace,
            params: aiohttp.TraceRequestExceptionParams,
        ) -> None:
            count(str(params.url), "unanswered")

        tracing.on_request_end.append(ended)
        tracing.on_request_exception.append(failed)
        return tracing


class _CountedSurface:
    """See `bot.runs.surface.Surface`."""

    def __init__(self, surface: Surface, metrics: Metrics) -> None:
        self._surface = surface
        self._metrics = metrics

    async def show(self, event: Event) -> None:
        ended = event.event if isinstance(event, FromSubagent) else event
        if isinstance(ended, ToolEnded):
            self._metrics.tool_ended(ended)
        await self._surface.show(event)

    async def ask(self, approvals: Sequence[Approval]) -> Sequence[tuple[Approval, Decision]]:
        return await self._surface.ask(approvals)

    async def settle(self, asked: Sequence[Asked]) -> None:
        await self._surface.settle(asked)

    async def finish(self, outcome: Outcome) -> None:
        await self._surface.finish(outcome)
        self._metrics.run_ended(outcome)


class _CountedModel:
    """See `bot.model.Model`."""

    def __init__(self, model: Model, prices: PriceList, metrics: Metrics) -> None:
        self._model = model
        self._prices = prices
        self._metrics = metrics

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        clock = asyncio.get_running_loop().time
        began, outcome = clock(), "abandoned"
        try:
            async with aclosing(self._model.respond(request)) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse):
                        outcome = "ok"
                        cost = self._prices.cost(request.model, part.usage)
                        self._metrics.model_used(request.model, part, cost)
                    yield part
        except ModelError as error:
            outcome = error.kind
            raise
        finally:
            self._metrics.model_called(request.model, outcome, clock() - began)
