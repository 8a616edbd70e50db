"""Prometheus metrics. Labels take few values: none names a person or a channel, or quotes anybody."""

from __future__ import annotations

import asyncio

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

from bot.core.outcome import RunStatus, StopReason

_RUN_SECONDS = (1, 2.5, 5, 10, 20, 40, 60, 120, 300, 600)
_CALL_SECONDS = (0.5, 1, 2.5, 5, 10, 20, 40, 60, 120, 300)
_LAG_SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10)


class RunMeters:
    """Metrics of requests and their runs."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.requests = Counter("bot_requests", "Requests accepted.", ["entry"], registry=registry)
        self.repeated = Counter(
            "bot_requests_repeated",
            "Duplicate event deliveries.",
            registry=registry,
        )
        self.active = Gauge(
            "bot_runs_active", "Runs in progress in this process.", registry=registry
        )
        self.ended = Counter(
            "bot_runs",
            "Runs with a posted final message, by status and stop reason.",
            ["status", "stop_reason"],
            registry=registry,
        )
        self.ended.labels(RunStatus.FAILED, StopReason.INTERNAL_ERROR)  # the first one must show
        self.seconds = Histogram(
            "bot_run_seconds",
            "Seconds from a request's arrival to the end of its run.",
            buckets=_RUN_SECONDS,
            registry=registry,
        )
        self.tool_calls = Counter(
            "bot_tool_calls",
            "Tool calls, by tool and success.",
            ["tool", "ok"],
            registry=registry,
        )


class ModelMeters:
    """Metrics of calls to the model service."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.calls = Counter(
            "bot_model_calls",
            "Calls to the model service, by outcome: ok, abandoned or the kind of failure.",
            ["model", "outcome"],
            registry=registry,
        )
        self.seconds = Histogram(
            "bot_model_call_seconds",
            "Duration of calls to the model service, in seconds.",
            ["model"],
            buckets=_CALL_SECONDS,
            registry=registry,
        )
        self.tokens = Counter(
            "bot_model_tokens",
            "Billed tokens; cached tokens count as input too. Of calls that broke off: estimated.",
            ["model", "kind"],
            registry=registry,
        )
        self.cost = Counter(
            "bot_model_cost_dollars",
            "Cost in US dollars where the price is known, including fees of hosted tools.",
            ["model"],
            registry=registry,
        )
        self.estimated_cost = Counter(
            "bot_model_estimated_cost_dollars",
            "Estimated cost of calls that broke off, which budgets are charged beside the cost.",
            ["model"],
            registry=registry,
        )


class ProcessMeters:
    """Metrics of this process and its queues."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self.slack_calls = Counter(
            "bot_slack_calls",
            "HTTP calls to Slack, including retries, by status (429: rate limited).",
            ["method", "status"],
            registry=registry,
        )
        self.refused = Counter(
            "bot_slack_requests_refused",
            "HTTP requests without a valid Slack signature, by reason.",
            ["reason"],
            registry=registry,
        )
        self.waiting = Gauge(
            "bot_requests_waiting",
            "Requests in all mailboxes, including running ones.",
            registry=registry,
        )
        self.workers = Gauge(
            "bot_workers",
            "Workers of all processes that were heard of in the last minute.",
            registry=registry,
        )
        self.ready = Gauge(
            "bot_ready",
            "What this process needs to be ready (see /readyz): 1 if it holds, else 0.",
            ["check"],
            registry=registry,
        )
        self.undelivered = Gauge(
            "bot_runs_undelivered",
            "Finished runs whose final message is not posted.",
            registry=registry,
        )
        Gauge("bot_asyncio_tasks", "Tasks in the event loop.", registry=registry).set_function(
            lambda: len(asyncio.all_tasks())
        )
        self.lag = Histogram(
            "bot_event_loop_lag_seconds",
            "Delay of the event loop, in seconds.",
            buckets=_LAG_SECONDS,
            registry=registry,
        )
