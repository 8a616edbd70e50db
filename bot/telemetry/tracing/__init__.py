"""OpenTelemetry: traces and metrics in the names of the GenAI conventions, sent over OTLP/HTTP.

Off unless an endpoint is set. Nothing that people or models write is exported.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from bot.core.errors import ConfigurationError
from bot.runs.watching import Observer


@asynccontextmanager
async def telemetry(endpoint: str | None) -> AsyncGenerator[tuple[Observer, ...]]:
    """Yield the observer that exports to an OTLP collector; none without an `endpoint`.

    `endpoint` is the collector's base address. Leaving the context sends what is still unsent. The
    other standard OTEL_… variables apply, too.

    Raises ConfigurationError when the libraries are not installed.
    """
    if endpoint is None:
        yield ()
        return
    try:
        from bot.telemetry.tracing.export import providers
        from bot.telemetry.tracing.spans import Tracing, trace_ids_in_logs
    except ImportError:
        raise ConfigurationError(
            "OTEL_EXPORTER_OTLP_ENDPOINT is set, which needs more libraries: "
            "pip install opentelemetry-sdk opentelemetry-exporter-otlp-proto-http"
        ) from None
    traces, metrics = providers(endpoint)
    try:
        with trace_ids_in_logs():
            yield (Tracing(traces, metrics),)
    finally:
        await asyncio.gather(
            asyncio.to_thread(traces.shutdown), asyncio.to_thread(metrics.shutdown)
        )
