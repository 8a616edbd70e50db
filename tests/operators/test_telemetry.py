"""OpenTelemetry: off by default; with an endpoint, traces and figures of what happens, and no words."""

from __future__ import annotations

import asyncio
import gzip
import logging
import sys
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from aiohttp import web
from opentelemetry.metrics import NoOpMeterProvider
from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from bot.agent.events import FromSubagent, ToolEnded, ToolStarted
from bot.app.process import bot
from bot.core.check import Level
from bot.core.errors import ConfigurationError
from bot.dev.model import ResponsesServer, Script, ScriptBook, call, calls, finish
from bot.dev.workspace import ADA, Workspace
from bot.ops.doctor.machine import examine_collector
from bot.settings import Settings
from bot.telemetry.health import http_server
from bot.telemetry.tracing import telemetry
from bot.telemetry.tracing.spans import Tracing
from tests.support.deployment import MODEL, Deployment, configured
from tests.support.redis import asked
from tests.support.runs import answer
from tests.support.slack import GENERAL

SECRET_WORDS = "the merger with Halden"


@dataclass
class Collector:
    """An OTLP/HTTP receiver."""

    url: str = ""
    raw: list[bytes] = field(default_factory=list)
    spans: list[Any] = field(default_factory=list)
    histograms: dict[str, Any] = field(default_factory=dict)
    services: set[str] = field(default_factory=set)

    @classmethod
    @asynccontextmanager
    async def open(cls) -> AsyncGenerator[Collector]:
        own = cls()
        routes = [web.post("/v1/traces", own.take_spans), web.post("/v1/metrics", own.take_figures)]
        async with http_server(routes, port=0, host="127.0.0.1") as port:
            own.url = f"http://127.0.0.1:{port}"
            yield own

    def named(self, name: str) -> list[Any]:
        """In the order in which they ended."""
        return [span for span in self.spans if span.name == name]

    async def take_spans(self, request: web.Request) -> web.Response:
        for resource in ExportTraceServiceRequest.FromString(
            await self._body(request)
        ).resource_spans:
            self.services.add(attributes(resource.resource)["service.name"])
            for scope in resource.scope_spans:
                self.spans += scope.spans
        return web.Response()

    async def take_figures(self, request: web.Request) -> web.Response:
        message = ExportMetricsServiceRequest.FromString(await self._body(request))
        for resource in message.resource_metrics:
            for scope in resource.scope_metrics:
                for each in scope.metrics:
                    self.histograms[each.name] = list(each.histogram.data_points)
        return web.Response()

    async def _body(self, request: web.Request) -> bytes:
        data = await request.read()
        if request.headers.get("Content-Encoding") == "gzip" and data[:2] == b"\x1f\x8b":
            data = gzip.decompress(data)
        self.raw.append(data)
        return data


def attributes(owner: Any) -> dict[str, Any]:
    def value(any_value: Any) -> Any:
        return getattr(any_value, any_value.WhichOneof("value"))

    return {each.key: value(each.value) for each in owner.attributes}


QUESTION = f"What of {SECRET_WORDS}?"
GOAL = "Add it up."


def with_a_helper() -> ScriptBook:
    """A model that dispatches a sub-agent, which calls two tools, one of them in vain."""
    sums = ("calculate", {"expression": "1+1"}), ("calculate", {"expression": "1/0"})
    report = {"summary": "Two.", "findings": [], "gaps": []}
    dispatched = call("dispatch_subagent", {"goal": GOAL, "tools": ["calculate"]})
    acquired = call("acquire_tools", {"names": ["dispatch_subagent"]})
    own = [acquired, dispatched, finish(answer(f"About {SECRET_WORDS}."))]
    return ScriptBook({QUESTION: own, GOAL: [calls(*sums), finish(report)]})


async def test_a_run_is_one_trace_from_the_web_process_to_the_worker(
    redis_url: str, caplog: pytest.LogCaptureFixture
) -> None:
    """Names of the GenAI conventions; the trace goes through the queue, and into the logs; nothing
    that people, tools or models said is sent."""
    caplog.set_level(logging.INFO, "bot.run")
    async with (
        Collector.open() as collector,
        Workspace.open() as ws,
        ResponsesServer.open(brain=with_a_helper()) as api,
    ):
        url = f"{collector.url}/"
        settings = configured(ws, api, redis_url, port=0, otel_exporter_otlp_endpoint=url)
        async with bot(settings, intake=False), bot(settings, work=False):
            place = Deployment(ws, api)
            thread = await place.ask(ADA, GENERAL, QUESTION)
            await place.answered(GENERAL, thread)
    [run] = collector.named("invoke_agent answer bot")
    [taken_in] = collector.named("receive mention")
    [chat, *_] = chats = collector.named(f"chat {MODEL}")
    [helper] = collector.named("execute_tool dispatch_subagent")
    executed = collector.named("execute_tool calculate")
    assert run.parent_span_id == taken_in.span_id
    assert {span.parent_span_id for span in (*chats, helper)} == {run.span_id}
    assert {span.parent_span_id for span in executed} == {helper.span_id}
    assert {span.trace_id for span in (taken_in, *chats, *executed)} == {run.trace_id}
    assert attributes(chat)["gen_ai.operation.name"] == "chat"
    assert attributes(chat)["gen_ai.usage.input_tokens"] > 0
    assert attributes(helper)["gen_ai.tool.name"] == "dispatch_subagent"
    assert [attributes(span).get("error.type") for span in executed].count("tool_error") == 1
    assert attributes(run)["bot.run.status"] == "success"
    assert collector.services == {"slack-answer-bot"}
    kinds = {
        attributes(p)["gen_ai.token.type"]
        for p in collector.histograms["gen_ai.client.token.usage"]
    }
    assert kinds == {"input", "output"}
    [duration] = collector.histograms["gen_ai.client.operation.duration"]
    assert duration.count == len(chats) == 5
    assert not any(SECRET_WORDS.encode() in each for each in collector.raw)
    told = [record for record in caplog.records if record.name == "bot.run"]
    assert {getattr(record, "trace_id", "") for record in told} == {run.trace_id.hex()}


async def test_spans_hold_no_words_of_the_model_and_no_direct_channel() -> None:
    """O14: a tool that does not exist has the name that the model made up; a direct message's channel
    names its person. A channel's thread keeps its key."""
    exporter, traces = InMemorySpanExporter(), TracerProvider()
    traces.add_span_processor(SimpleSpanProcessor(exporter))
    tracing = Tracing(traces, NoOpMeterProvider())

    for channel in ("D0ADA00001", GENERAL):
        request = asked().model_copy(update={"channel": channel})
        listener = tracing.listener(request)
        with listener.running():
            made_up = ToolStarted("call_1", SECRET_WORDS, SECRET_WORDS, known=False)
            listener.on_event(FromSubagent("call_0", made_up))
            listener.on_event(made_up)
            ended = ToolEnded("call_1", SECRET_WORDS, ok=False, detail="", seconds=0.1, known=False)
            listener.on_event(ended)
    spans = exporter.get_finished_spans()
    said = [f"{span.name} {span.attributes}" for span in spans]
    assert "execute_tool unknown" in {span.name for span in spans}
    assert not [each for each in said if SECRET_WORDS in each or "D0ADA00001" in each]
    assert any(request.thread_key in each for each in said)


async def test_a_collector_that_is_not_there_holds_nobody_up(redis_url: str) -> None:
    """People get their answers, and the process ends in time."""
    async with Workspace.open() as ws, ResponsesServer.open(Script([finish(answer())])) as api:
        settings = configured(ws, api, redis_url, otel_exporter_otlp_endpoint="http://127.0.0.1:9")
        async with asyncio.timeout(20), bot(settings):
            place = Deployment(ws, api)
            thread = await place.ask(ADA, GENERAL, "?")
            await place.answered(GENERAL, thread)


async def test_what_it_needs_is_said_in_one_line(monkeypatch: pytest.MonkeyPatch) -> None:
    """The libraries are an extra; nothing else needs them."""
    monkeypatch.setitem(sys.modules, "bot.telemetry.tracing.export", None)
    async with telemetry(None) as watches:
        assert watches == ()
    with pytest.raises(ConfigurationError, match="pip install opentelemetry-sdk"):
        async with telemetry("http://127.0.0.1:4318"):
            pass


async def test_the_doctor_asks_the_collector() -> None:
    """Telemetry that goes nowhere is said before somebody misses it."""
    assert await examine_collector(Settings()) == []
    async with Collector.open() as collector:
        [fine] = await examine_collector(Settings(otel_exporter_otlp_endpoint=collector.url))
        wrong = Settings(otel_exporter_otlp_endpoint=f"{collector.url}/elsewhere")
        [lost] = await examine_collector(wrong)
    [gone] = await examine_collector(Settings(otel_exporter_otlp_endpoint=collector.url))
    assert fine.level is Level.OK
    assert (lost.level, lost.text) == (Level.WARNING, "the collector responds with status 404")
    assert (gone.level, gone.text) == (Level.WARNING, "the collector cannot be reached")
