"""Metrics of the process for Prometheus."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from types import SimpleNamespace

import aiohttp
from prometheus_client import CollectorRegistry, ProcessCollector, generate_latest
from prometheus_client.registry import Collector
from typing_extensions import override

from bot.agent.events import Event, FromSubagent, ToolEnded
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.runs.watching import ModelCalled, ObservedRun, Observer, Submission
from bot.telemetry.meters import ModelMeters, ProcessMeters, RunMeters

_MOST_REMEMBERED = 10_000  # ended runs, so that none is counted twice


class Metrics(Observer):
    """An observer with its own registry of metrics."""

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

    @override
    @contextmanager
    def submitting(self, submission: Submission) -> Generator[None]:
        """Count a new request, or an event that Slack delivered again although it was received."""
        yield
        if submission.is_new:
            self._run.requests.labels(submission.request.entry).inc()
        if submission.is_repeated:
            self._run.repeated.inc()

    def request_refused(self, reason: str) -> None:
        """Count an HTTP request without a valid signature of Slack."""
        self._process.refused.labels(reason).inc()

    @override
    def listener(self, request: Request) -> ObservedRun:
        return _CountingListener(self)

    def running(self) -> AbstractContextManager[object]:
        """Return the context in which a run counts as active."""
        return self._run.active.track_inprogress()

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

    def model_called(self, call: ModelCalled) -> None:
        """Count an ended call of the model, its duration, its tokens and its cost.

        What a call that broke off is charged counts apart, so that budgets and metrics agree.
        """
        model, tokens = call.model, self._model.tokens
        self._model.calls.labels(model, call.outcome).inc()
        self._model.seconds.labels(model).observe(call.seconds)
        if usage := call.usage:
            tokens.labels(model, "input").inc(usage.input_tokens)
            tokens.labels(model, "cached").inc(usage.cached_tokens)
            tokens.labels(model, "output").inc(usage.output_tokens)
            self._model.cost.labels(model).inc(call.cost or 0.0)
        if spent := call.estimated:
            tokens.labels(model, "estimated").inc(spent.tokens)
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


class _CountingListener(ObservedRun):
    def __init__(self, metrics: Metrics) -> None:
        self._metrics = metrics

    @override
    def running(self) -> AbstractContextManager[object]:
        return self._metrics.running()

    @override
    def on_event(self, event: Event) -> None:
        ended = event.event if isinstance(event, FromSubagent) else event
        if isinstance(ended, ToolEnded):
            self._metrics.tool_ended(ended)

    @override
    def on_model_call(self, call: ModelCalled) -> None:
        self._metrics.model_called(call)

    @override
    async def on_end(self, outcome: Outcome) -> None:
        self._metrics.run_ended(outcome)
