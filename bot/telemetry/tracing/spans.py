"""Spans of runs, model calls and tool calls, and metrics of model calls.

Names and attributes are those of OpenTelemetry's semantic conventions for generative AI. The span
of a run is current during the run, so that everything in the run becomes its child. The request
carries its trace from the process that receives it to the worker.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import Generator
from contextlib import contextmanager

from opentelemetry.metrics import MeterProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import (
    INVALID_SPAN,
    Span,
    SpanKind,
    Status,
    StatusCode,
    TracerProvider,
    get_current_span,
    set_span_in_context,
)
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from typing_extensions import override

from bot.agent.events import Event, FromSubagent, SkillAcquired, ToolEnded, ToolStarted
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Request
from bot.runs.watching import ModelCalled, ObservedRun, Observer, Submission

_SCOPE = "bot"
_AGENT = "answer bot"
_CARRIER = "traceparent"
_TRACE_CONTEXT = TraceContextTextMapPropagator()
_TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
"""Histogram boundaries that the conventions recommend."""


class Tracing(Observer):
    """An observer that traces requests, runs, and calls."""

    def __init__(self, traces: TracerProvider, metrics: MeterProvider) -> None:
        self._tracer = traces.get_tracer(_SCOPE)
        meter = metrics.get_meter(_SCOPE)
        self._tokens = meter.create_histogram(
            gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE,
            unit="{token}",
            description="Tokens of one call of the model, as billed.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self._duration = meter.create_histogram(
            gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION,
            unit="s",
            description="How long one call of the model took.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    @override
    @contextmanager
    def submitting(self, submission: Submission) -> Generator[None]:
        """Store the request in a span, whose trace the request carries to its worker."""
        request = submission.request
        with self._tracer.start_as_current_span(
            f"receive {request.entry}",
            kind=SpanKind.PRODUCER,
            attributes=_ids(request),
            end_on_exit=False,  # a repeated event leaves no span: Slack sends many events twice
        ) as span:
            carrier: dict[str, str] = {}
            _TRACE_CONTEXT.inject(carrier)
            trace = carrier.get(_CARRIER, "")
            submission.request = request.model_copy(update={"trace": trace})
            yield
        if submission.is_new:
            span.end()

    @override
    def listener(self, request: Request) -> ObservedRun:
        return _TracingListener(self, request)

    @contextmanager
    def run(self, request: Request) -> Generator[Span]:
        """Yield the span of a run, which is the current one inside the context."""
        with self._tracer.start_as_current_span(
            f"invoke_agent {_AGENT}",
            context=_TRACE_CONTEXT.extract({_CARRIER: request.trace}),
            kind=SpanKind.INTERNAL,
            attributes=_ids(request)
            | {
                gen_ai.GEN_AI_OPERATION_NAME: "invoke_agent",
                gen_ai.GEN_AI_AGENT_NAME: _AGENT,
                gen_ai.GEN_AI_CONVERSATION_ID: _conversation(request),
                gen_ai.GEN_AI_PROVIDER_NAME: "openai",
            },
            record_exception=False,  # its words may hold what people wrote
            set_status_on_exception=False,
        ) as span:
            try:
                yield span
            except BaseException as error:
                _failed(span, type(error).__name__)
                raise

    def tool(self, name: str, call_id: str, parent: Span) -> Span:
        """Return a new span for a tool call; the caller ends it."""
        return self._tracer.start_span(
            f"execute_tool {name}",
            context=set_span_in_context(parent),
            attributes={
                gen_ai.GEN_AI_OPERATION_NAME: "execute_tool",
                gen_ai.GEN_AI_TOOL_NAME: name,
                gen_ai.GEN_AI_TOOL_CALL_ID: call_id,
                gen_ai.GEN_AI_TOOL_TYPE: "function",
            },
        )

    def model_called(self, call: ModelCalled) -> None:
        """Record a span and the metrics of a call of the model that ended just now."""
        common = {
            gen_ai.GEN_AI_OPERATION_NAME: "chat",
            gen_ai.GEN_AI_PROVIDER_NAME: "openai",
            gen_ai.GEN_AI_REQUEST_MODEL: call.model,
        }
        error = {} if call.outcome == "ok" else {ERROR_TYPE: call.outcome}
        ended = time.time_ns()
        span = self._tracer.start_span(
            f"chat {call.model}",
            kind=SpanKind.CLIENT,
            attributes=common,
            start_time=ended - int(call.seconds * 1e9),
        )
        if response := call.response:
            usage = response.usage
            span.set_attributes(
                {
                    gen_ai.GEN_AI_RESPONSE_ID: response.id,
                    gen_ai.GEN_AI_USAGE_INPUT_TOKENS: usage.input_tokens,
                    gen_ai.GEN_AI_USAGE_CACHE_READ_INPUT_TOKENS: usage.cached_tokens,
                    gen_ai.GEN_AI_USAGE_OUTPUT_TOKENS: usage.output_tokens,
                }
            )
            for kind, tokens in (("input", usage.input_tokens), ("output", usage.output_tokens)):
                self._tokens.record(tokens, common | {gen_ai.GEN_AI_TOKEN_TYPE: kind})
        if error:
            _failed(span, call.outcome)
        self._duration.record(call.seconds, common | error)
        span.end(ended)


class _TracingListener(ObservedRun):
    """A listener that traces a run and its calls. Tool calls still open at its end were cancelled."""

    def __init__(self, tracing: Tracing, request: Request) -> None:
        self._tracing = tracing
        self._request = request
        self._run: Span = INVALID_SPAN
        self._tools: dict[str, Span] = {}

    @override
    @contextmanager
    def running(self) -> Generator[None]:
        with self._tracing.run(self._request) as self._run:
            try:
                yield
            finally:
                for span in self._tools.values():
                    _failed(span, "cancelled")
                    span.end()

    @override
    def on_event(self, event: Event) -> None:
        self._note(event, self._run)

    def _note(self, event: Event, parent: Span) -> None:
        """Start or end the span of a tool call; a sub-agent's calls are children of its dispatch."""
        match event:
            case FromSubagent(agent=agent, event=inner):
                self._note(inner, self._tools.get(agent, parent))
            case ToolStarted(call_id=call_id, tool=tool, known=known):
                name = tool if known else "unknown"  # the model's words are no name
                self._tools[call_id] = self._tracing.tool(name, call_id, parent)
            case ToolEnded(call_id=call_id, ok=ok) if span := self._tools.pop(call_id, None):
                if not ok:
                    _failed(span, "tool_error")
                span.end()
            case SkillAcquired(name=name, digest=digest, origin=origin, by=by):
                skill = {"name": name, "digest": digest, "origin": origin, "by": by}
                parent.add_event("skill", {f"bot.skill.{key}": fact for key, fact in skill.items()})
            case _:
                pass

    @override
    def on_model_call(self, call: ModelCalled) -> None:
        self._tracing.model_called(call)

    @override
    async def on_end(self, outcome: Outcome) -> None:
        totals = outcome.totals
        self._run.set_attributes(
            {
                "bot.run.id": outcome.run_id,
                "bot.run.status": outcome.status,
                "bot.run.stop_reason": outcome.stop_reason,
                "bot.run.turns": totals.turns,
                gen_ai.GEN_AI_REQUEST_MODEL: totals.model,
                gen_ai.GEN_AI_USAGE_INPUT_TOKENS: totals.input_tokens,
                gen_ai.GEN_AI_USAGE_OUTPUT_TOKENS: totals.output_tokens,
            }
        )
        if outcome.status is RunStatus.FAILED:
            _failed(self._run, outcome.stop_reason)


def _ids(request: Request) -> dict[str, str]:
    return {"bot.request.id": request.id, "bot.request.entry": request.entry}


def _conversation(request: Request) -> str:
    """Return the thread's key, or a hash of it where it would identify the person."""
    if not request.is_for_one:
        return request.thread_key
    return hashlib.sha256(request.thread_key.encode()).hexdigest()[:32]


def _failed(span: Span, kind: str) -> None:
    span.set_attribute(ERROR_TYPE, kind)
    span.set_status(Status(StatusCode.ERROR))


@contextmanager
def trace_ids_in_logs() -> Generator[None]:
    """Add `trace_id` and `span_id` to every log record made in a span, inside the context."""
    plain = logging.getLogRecordFactory()

    def with_ids(*args: object, **kwargs: object) -> logging.LogRecord:
        record = plain(*args, **kwargs)
        context = get_current_span().get_span_context()
        if context.is_valid:
            record.trace_id = f"{context.trace_id:032x}"
            record.span_id = f"{context.span_id:016x}"
        return record

    logging.setLogRecordFactory(with_ids)
    try:
        yield
    finally:
        logging.setLogRecordFactory(plain)
