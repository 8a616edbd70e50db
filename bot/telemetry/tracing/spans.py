"""Spans of runs, model calls and tool calls, and metrics of model calls.

Names and attributes are those of OpenTelemetry's semantic conventions for generative AI. The span
of a run is current during the run, so that everything in the run becomes its child. The request
carries its trace from the process that receives it to the worker.
"""

from __future__ import annotations

import hashlib
import logging
import time
from collections.abc import AsyncGenerator, Generator
from contextlib import (
    AbstractAsyncContextManager,
    aclosing,
    asynccontextmanager,
    closing,
    contextmanager,
)

from opentelemetry.metrics import MeterProvider
from opentelemetry.semconv._incubating.attributes import gen_ai_attributes as gen_ai
from opentelemetry.semconv._incubating.metrics import gen_ai_metrics
from opentelemetry.semconv.attributes.error_attributes import ERROR_TYPE
from opentelemetry.trace import (
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

from bot.agent.events import Event, FromSubagent, ToolEnded, ToolStarted
from bot.core.budgets import Spent
from bot.core.errors import ModelError
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Request
from bot.model import Model, PriceList
from bot.model.types import ModelRequest, ModelResponse, Progress
from bot.runs.observers import Submit
from bot.runs.surface import OpenSurface, PostedMessages, Surface, SurfaceWrapper

_SCOPE = "bot"
_AGENT = "answer bot"
_CARRIER = "traceparent"
_TRACE_CONTEXT = TraceContextTextMapPropagator()
_TOKENS = [1, 4, 16, 64, 256, 1024, 4096, 16384, 65536, 262144, 1048576, 4194304]
_SECONDS = [0.01, 0.02, 0.04, 0.08, 0.16, 0.32, 0.64, 1.28, 2.56, 5.12, 10.24, 20.48, 40.96, 81.92]
"""Histogram boundaries that the conventions recommend."""


class Tracing:
    """An observer (`bot.runs.observers.Observer`) that traces requests, runs, and calls."""

    def __init__(self, traces: TracerProvider, metrics: MeterProvider) -> None:
        self.tracer = traces.get_tracer(_SCOPE)
        meter = metrics.get_meter(_SCOPE)
        self.token_usage = meter.create_histogram(
            gen_ai_metrics.GEN_AI_CLIENT_TOKEN_USAGE,
            unit="{token}",
            description="Tokens of one call of the model, as billed.",
            explicit_bucket_boundaries_advisory=_TOKENS,
        )
        self.duration = meter.create_histogram(
            gen_ai_metrics.GEN_AI_CLIENT_OPERATION_DURATION,
            unit="s",
            description="How long one call of the model took.",
            explicit_bucket_boundaries_advisory=_SECONDS,
        )

    def submits(self, submit: Submit) -> Submit:
        """Return `submit` in a span, whose trace the request carries to its worker."""

        async def traced(request: Request, event_id: str) -> bool:
            with self.tracer.start_as_current_span(
                f"receive {request.entry}",
                kind=SpanKind.PRODUCER,
                attributes=_ids(request),
                end_on_exit=False,  # a repeated event leaves no span: Slack sends many events twice
            ) as span:
                carrier: dict[str, str] = {}
                _TRACE_CONTEXT.inject(carrier)
                trace = carrier.get(_CARRIER, "")
                new = await submit(request.model_copy(update={"trace": trace}), event_id)
            if new:
                span.end()
            return new

        return traced

    def surfaces(self, open_surface: OpenSurface) -> OpenSurface:
        """Return `open_surface` in the span of its run."""

        def opened(request: Request, post: PostedMessages) -> AbstractAsyncContextManager[Surface]:
            return self._run(request, open_surface(request, post))

        return opened

    @asynccontextmanager
    async def _run(
        self, request: Request, opening: AbstractAsyncContextManager[Surface]
    ) -> AsyncGenerator[Surface]:
        with self.tracer.start_as_current_span(
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
                async with opening as surface:
                    with closing(_TracedSurface(surface, self, span)) as traced:
                        yield traced
            except BaseException as error:
                _failed(span, type(error).__name__)
                raise

    def tool(self, name: str, call_id: str, parent: Span) -> Span:
        """Return a new span for a tool call; the caller ends it."""
        return self.tracer.start_span(
            f"execute_tool {name}",
            context=set_span_in_context(parent),
            attributes={
                gen_ai.GEN_AI_OPERATION_NAME: "execute_tool",
                gen_ai.GEN_AI_TOOL_NAME: name,
                gen_ai.GEN_AI_TOOL_CALL_ID: call_id,
                gen_ai.GEN_AI_TOOL_TYPE: "function",
            },
        )

    def model(self, model: Model, _prices: PriceList) -> Model:
        """Return `model` with each call in a span."""
        return _TracedModel(model, self)

    def estimated(self, model: str, spent: Spent) -> None:
        """Do nothing: spans have what services said."""


class _TracedSurface(SurfaceWrapper):
    """A surface that traces the tool calls of its run; calls still open at its end were cancelled."""

    def __init__(self, surface: Surface, tracing: Tracing, run: Span) -> None:
        super().__init__(surface)
        self._tracing = tracing
        self._run = run
        self._tools: dict[str, Span] = {}

    @override
    async def show(self, event: Event) -> None:
        self._note(event, self._run)
        await self._surface.show(event)

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
            case _:
                pass

    @override
    async def finish(self, outcome: Outcome) -> None:
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
        await self._surface.finish(outcome)

    def close(self) -> None:
        for span in self._tools.values():
            _failed(span, "cancelled")
            span.end()


class _TracedModel:
    """A model whose calls are spans; see `bot.model.Model`."""

    def __init__(self, model: Model, tracing: Tracing) -> None:
        self._model = model
        self._tracing = tracing

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        common = {
            gen_ai.GEN_AI_OPERATION_NAME: "chat",
            gen_ai.GEN_AI_PROVIDER_NAME: "openai",
            gen_ai.GEN_AI_REQUEST_MODEL: request.model,
        }
        span = self._tracing.tracer.start_span(
            f"chat {request.model}", kind=SpanKind.CLIENT, attributes=common
        )
        began, outcome = time.monotonic(), "abandoned"
        try:
            async with aclosing(self._model.respond(request)) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse):
                        outcome = ""
                        self._responded(span, part, common)
                    yield part
        except ModelError as error:
            outcome = error.kind
            raise
        finally:
            if outcome:
                _failed(span, outcome)
            attributes = common | ({ERROR_TYPE: outcome} if outcome else {})
            self._tracing.duration.record(time.monotonic() - began, attributes)
            span.end()

    def _responded(self, span: Span, response: ModelResponse, common: dict[str, str]) -> None:
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
            self._tracing.token_usage.record(tokens, common | {gen_ai.GEN_AI_TOKEN_TYPE: kind})


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
