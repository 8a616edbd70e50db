"""The collector of telemetry: are the libraries there, does it take traces."""

from __future__ import annotations

import asyncio

import aiohttp

from bot.core.errors import ConfigurationError
from bot.ops.doctor.findings import SECONDS, Finding, ok, problem, warning
from bot.ops.tracing import telemetry
from bot.settings import Settings

_SUBJECT = "OTEL_EXPORTER_OTLP_ENDPOINT"
_MEND = "check the address (OTLP over HTTP, often port 4318) and the network, or unset it"


async def examine_collector(settings: Settings) -> list[Finding]:
    """Sends an empty list of traces; nothing is looked at while none is set."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return []
    try:
        async with telemetry(endpoint):
            return [await _sent(f"{endpoint.rstrip('/')}/v1/traces")]
    except ConfigurationError as error:
        return [problem(_SUBJECT, "the libraries are not there", str(error))]


async def _sent(url: str) -> Finding:
    headers = {"Content-Type": "application/x-protobuf"}
    try:
        async with (
            asyncio.timeout(SECONDS),
            aiohttp.ClientSession() as session,
            session.post(url, data=b"", headers=headers) as reply,
        ):
            status = reply.status
    except (aiohttp.ClientError, TimeoutError, ValueError):
        return warning(_SUBJECT, "the collector cannot be reached", _MEND)
    if status in (401, 403):
        mend = "set OTEL_EXPORTER_OTLP_HEADERS to what it asks for, if you have not"
        return warning(_SUBJECT, f"the collector wants to know who asks ({status})", mend)
    if status >= 300:
        return warning(_SUBJECT, f"the collector answers with {status}", _MEND)
    return ok(_SUBJECT, "the collector takes traces")
