"""Checks of this machine: its `.env`, its kernel, and the collector of traces."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from difflib import get_close_matches

import aiohttp
from pydantic_settings import DotEnvSettingsSource

from bot.core.check import SECONDS, Check, ok, problem, warning
from bot.core.errors import ConfigurationError, ToolError
from bot.library.isolated import ProcessLost
from bot.library.isolated.confinement import missing
from bot.library.isolated.proof import open_ways
from bot.settings import Settings
from bot.telemetry.tracing import telemetry

_ALIKE = 0.8
_OTHERS = "otel_"
"""Names that OpenTelemetry reads; many of them resemble each other."""


def examine_env_file(read: Iterable[str] = ()) -> list[Check]:
    """Warn about misspelt settings, except names of other programs and those that tools `read`."""
    known = Settings.model_fields
    others = DotEnvSettingsSource(Settings).env_vars.keys() - known.keys()
    names = sorted(others - {name.lower() for name in read})
    meant = {
        name: near[0].upper()
        for name in names
        if not name.startswith(_OTHERS) and (near := get_close_matches(name, known, 1, _ALIKE))
    }
    return [
        warning(
            f".env {name.upper()}",
            "is not a setting, so it is ignored",
            f"did you mean {near}?",
        )
        for name, near in meant.items()
    ]


_CHILDREN = "isolated processes"


_CHILDREN_FIX = (
    "run the bot on Linux 6.12 or later (x86_64 or aarch64) with Landlock, or trust what it reads"
)


async def examine_isolation() -> list[Check]:
    """Have one try what it must not do, and name what is missing here."""
    try:
        return [open_line(missing(), await open_ways())]
    except (ToolError, ProcessLost, TimeoutError) as error:
        return [
            warning(
                _CHILDREN, f"cannot be tried: {str(error) or 'it does not answer'}", _CHILDREN_FIX
            )
        ]


def open_line(lacking: list[str], ways: list[str]) -> Check:
    """Return the line for what this machine lacks, and what a process can do because of that."""
    if not ways:
        return ok(_CHILDREN, "reach nothing outside their folder")
    why = "; ".join(lacking) or "this kernel refuses less than it should"
    return warning(
        _CHILDREN, f"{why}: one that a file took over can {', '.join(ways)}", _CHILDREN_FIX
    )


_COLLECTOR = "OTEL_EXPORTER_OTLP_ENDPOINT"
_COLLECTOR_FIX = "check the address (OTLP over HTTP, often port 4318) and the network, or unset it"


async def examine_collector(settings: Settings) -> list[Check]:
    """Send the collector an empty list of traces; check nothing when no collector is set."""
    endpoint = settings.otel_exporter_otlp_endpoint
    if endpoint is None:
        return []
    try:
        async with telemetry(endpoint):
            return [await _sent(f"{endpoint.rstrip('/')}/v1/traces")]
    except ConfigurationError as error:
        return [problem(_COLLECTOR, "the libraries for it are not installed", str(error))]


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
        return warning(_COLLECTOR, "the collector cannot be reached", _COLLECTOR_FIX)
    if status in (401, 403):
        fix = "set OTEL_EXPORTER_OTLP_HEADERS to the credentials it asks for"
        return warning(_COLLECTOR, f"the collector asks for credentials ({status})", fix)
    if status >= 300:
        return warning(_COLLECTOR, f"the collector responds with status {status}", _COLLECTOR_FIX)
    return ok(_COLLECTOR, "the collector accepts traces")
