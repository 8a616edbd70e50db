"""Check of the telemetry collector: its libraries are installed, and it accepts traces."""

from __future__ import annotations

import asyncio

import aiohttp

from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.errors import ConfigurationError
from bot.settings import Settings
from bot.telemetry.tracing import telemetry

_SUBJECT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_FIX = "check the address (OTLP over HTTP, often port 4318) and the network, or unset it"


async def examine_collector(settings: Settings) -> list[Check]:
    """Send the collector an empty list of traces; check nothing when no collector is set."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return []
    try:
        async with telemetry(endpoint):
            return [await _sent(f"{endpoint.rstrip('/')}/v1/traces")]
    except ConfigurationError as error:
        return [problem(_SUBJECT, "the libraries for it are not installed", str(error))]


async def _sent(url: str) -> Check:
    headers = {"Content-Type": "application/x-protobuf"}
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession() as session,
            session.post(url, data=b"", headers=headers) as reply,
        ):
            status = reply.status
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return warning(_SUBJECT, "the collector cannot be reached", _FIX)
    if status in (401, 403):
        fix = "set OTEL_EXPORTER_OTLP_HEADERS to the credentials it asks for"
        return warning(_SUBJECT, f"the collector asks for credentials ({status})", fix)
    if status >= 300:
        return warning(_SUBJECT, f"the collector responds with status {status}", _FIX)
    return ok(_SUBJECT, "the collector accepts traces")
