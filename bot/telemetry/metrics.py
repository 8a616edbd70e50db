"""Metrics of the process for Prometheus, measured by an observer at the edges of the runs."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, Iterable, Mapping
from contextlib import AbstractAsyncContextManager, aclosing, asynccontextmanager
from types import SimpleNamespace

import aiohttp
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from bot.agent.events import Event, FromSubagent, ToolEnded
from bot.core.budgets import Spent
from bot.core.chain import Usage
from bot.core.errors import ModelError
from bot.core.findings import counted_as
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.model.types import ModelRequest, ModelResponse, Progress
from bot.runs.observers import Submit
from bot.runs.surface import OpenSurface, PostedMessages, Surface, SurfaceWrapper
from bot.telemetry.meters import ModelMeters, ProcessMeters, RunMeters

_MOST_REMEMBERED = 10_000  # ended runs, so that none is counted twice


class Metrics:
    """An observer (`bot.runs.observers.Observer`) with its own registry of metrics."""

    def __init__(self) -> None:
        self._registry = CollectorRegistry()
        ProcessCollector(registry=self._registry)
        self._run = RunMeters(self._registry)
        self._model = ModelMeters(self._registry)
        self._process = ProcessMeters(self._registry)
        self._counted = OrderedDict[str, None]()

    def text(self) -> bytes:
        """Return all metrics in Prometheus's text format."""
        return generate_latest(self._registry)

    def include(self, metrics: Iterable[Collector]) -> None:
        """Export `metrics` of a feature, too."""
        for metric in metrics:
            self._registry.register(metric)

    def deployment(self, *, workers: float, waiting: float, undelivered: float) -> None:
        """Set how many workers there are and the lengths of the queues, over all processes."""
        self._process.workers.set(workers)
        self._process.waiting.set(waiting)
        self._process.undelivered.set(undelivered)

    def ready(self, report: Mapping[str, bool]) -> None:
        """Set what this process needs to be ready, and whether it has it."""
        for check, holds in report.items():
            self._process.ready.labels(check).set(holds)

    def loop_lag(self, seconds: float) -> None:
        """Record how late the event loop was, in seconds."""
        self._process.lag.observe(seconds)

    def submits(self, submit: Submit) -> Submit:
        """Return `submit` with new requests counted."""

        async def counted(request: Request, event_id: str) -> bool:
            new = await submit(request, event_id)
            if new:
                self._run.requests.labels(request.entry).inc()
            return new

        return counted

    def request_repeated(self) -> None:
        """Count an event that Slack delivered again although it was received."""
        self._run.repeated.inc()

    def request_refused(self, reason: str) -> None:
        """Count an HTTP request without a valid signature of Slack."""
        self._process.refused.labels(reason).inc()

    def surfaces(self, open_surface: OpenSurface) -> OpenSurface:
        """Return `open_surface` with its runs and tool calls counted."""

        def opened(request: Request, post: PostedMessages) -> AbstractAsyncContextManager[Surface]:
            return self._counting(open_surface(request, post))

        return opened

    @asynccontextmanager
    async def _counting(
        self, opening: AbstractAsyncContextManager[Surface]
    ) -> AsyncGenerator[Surface]:
        with self._run.active.track_inprogress():
            async with opening as surface:
                yield _CountedSurface(surface, self)

    def tool_ended(self, event: ToolEnded) -> None:
        """Count a tool call that ended."""
        tool = event.tool if event.known else "unknown"  # a label takes few values
        self._run.tool_calls.labels(tool, str(event.ok).lower()).inc()

    def run_ended(self, outcome: Outcome) -> None:
        """Count a run whose outcome was posted, once, even when it is posted again after a crash."""
        if outcome.run_id in self._counted:
            return
        self._counted[outcome.run_id] = None
        if len(self._counted) > _MOST_REMEMBERED:
            self._counted.popitem(last=False)
        self._run.ended.labels(outcome.status, outcome.stop_reason).inc()
        self._run.seconds.observe(outcome.totals.seconds)
        for finding in outcome.traced.items if outcome.traced else ():
            self._run.findings.labels(counted_as(finding)).inc()

    def model(self, model: Model, prices: PriceList) -> Model:
        """Return `model` with its calls counted."""
        return _CountedModel(model, prices, self)

    def model_called(self, name: str, outcome: str, seconds: float) -> None:
        """Count an ended call to the model service and its duration."""
        self._model.calls.labels(name, outcome).inc()
        self._model.seconds.labels(name).observe(seconds)

    def model_used(self, name: str, usage: Usage, cost: float | None) -> None:
        """Count the tokens and the cost of a response, also of one that failed."""
        for kind, tokens in (
            ("input", usage.input_tokens),
            ("cached", usage.cached_tokens),
            ("output", usage.output_tokens),
        ):
            self._model.tokens.labels(name, kind).inc(tokens)
        self._model.cost.labels(name).inc(cost or 0.0)

    def estimated(self, model: str, spent: Spent) -> None:
        """Count what a call that broke off is charged, so that budgets and metrics agree."""
        self._model.tokens.labels(model, "estimated").inc(spent.tokens)
        self._model.estimated_cost.labels(model).inc(spent.cost)

    def slack_calls(self, base_url: str) -> aiohttp.TraceConfig:
        """Return a trace config that counts each HTTP call to Slack, including the SDK's retries."""
        tracing = aiohttp.TraceConfig()

        def count(url: str, status: str) -> None:
            method = url.removeprefix(base_url).partition("?")[0]
            self._process.slack_calls.labels(
                method if url.startswith(base_url) else "other", status
            ).inc()

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


class _CountedSurface(SurfaceWrapper):
    def __init__(self, surface: Surface, metrics: Metrics) -> None:
        super().__init__(surface)
        self._metrics = metrics

    @override
    async def show(self, event: Event) -> None:
        ended = event.event if isinstance(event, FromSubagent) else event
        if isinstance(ended, ToolEnded):
            self._metrics.tool_ended(ended)
        await self._surface.show(event)

    @override
    async def finish(self, outcome: Outcome) -> None:
        await self._surface.finish(outcome)
        self._metrics.run_ended(outcome)


class _CountedModel:
    """A model whose calls are counted; see `bot.model.Model`."""

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
                        cost = self._prices.cost(request.model, part.billed)
                        self._metrics.model_used(request.model, part.billed, cost)
                    yield part
        except ModelError as error:
            outcome = error.kind
            if error.usage:
                cost = self._prices.cost(request.model, error.usage)
                self._metrics.model_used(request.model, error.usage, cost)
            raise
        finally:
            self._metrics.model_called(request.model, outcome, clock() - began)
