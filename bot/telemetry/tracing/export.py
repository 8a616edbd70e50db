"""Exporters of spans and metrics over OTLP/HTTP."""

from __future__ import annotations

from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.metrics import MeterProvider
from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor

_NAME = "slack-answer-bot"
_SECONDS = 2.0  # per export: an unreachable collector must not delay the end of the process


def providers(endpoint: str) -> tuple[TracerProvider, MeterProvider]:
    """Return the providers for a collector at `endpoint`; both send from their own threads."""
    base = endpoint.rstrip("/")
    resource = Resource.create()
    if str(resource.attributes[SERVICE_NAME]).startswith("unknown_service"):
        resource = resource.merge(Resource({SERVICE_NAME: _NAME}))
    traces = TracerProvider(resource=resource)
    spans = OTLPSpanExporter(endpoint=f"{base}/v1/traces", timeout=_SECONDS)
    traces.add_span_processor(BatchSpanProcessor(spans))
    points = OTLPMetricExporter(endpoint=f"{base}/v1/metrics", timeout=_SECONDS)
    return traces, MeterProvider([PeriodicExportingMetricReader(points)], resource=resource)
