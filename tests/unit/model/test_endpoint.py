"""The way of requests: connections, redirects and proxies, as OpenAI's SDK has them."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web

from bot.core.errors import ModelError
from bot.model import ModelRequest, ModelResponse
from bot.model.client import ResponsesModel, sdk_client

ASKED = ModelRequest(model="m", instructions="", input=(), tools=())
DONE: dict[str, Any] = {"id": "resp_1", "status": "completed", "output": []}


@asynccontextmanager
async def served(*moved: str) -> AsyncGenerator[tuple[int, list[web.BaseRequest]]]:
    """A server that answers, after it has redirected requests; its port, and what it was sent."""
    seen: list[web.BaseRequest] = []

    async def respond(request: web.BaseRequest) -> web.Response:
        seen.append(request)
        assert await request.json() == {"model": "m", "input": [], "tools": []}
        if len(seen) <= len(moved):
            location = moved[len(seen) - 1].format(port=request.url.port)
            return web.Response(status=307, headers={"location": location})
        return web.json_response(DONE)

    server = web.Server(respond)
    runner = web.ServerRunner(server)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield runner.addresses[0][1], seen
    finally:
        await runner.cleanup()


async def ask(url: str, times: int = 1) -> None:
    async with sdk_client("secret", url, max_retries=0) as client:
        model = ResponsesModel(client, stream=False)
        for _ in range(times):
            [last] = [part async for part in model.respond(ASKED)]
            assert isinstance(last, ModelResponse)


async def test_a_connection_is_used_again() -> None:
    """B1: by requests, and by the redirects before them."""
    async with served("/v2/responses") as (port, seen):
        await ask(f"http://127.0.0.1:{port}/v1", times=3)
    assert [each.path for each in seen] == [
        "/v1/responses",
        "/v2/responses",
        *["/v1/responses"] * 2,
    ]
    assert len({each.transport for each in seen}) == 1


async def test_a_redirect_to_another_host_is_not_told_the_key() -> None:
    """B1: one on the same host is."""
    async with served("/v2/responses", "http://localhost:{port}/v1/responses") as (port, seen):
        await ask(f"http://127.0.0.1:{port}/v1")
    assert [each.headers.get("authorization") for each in seen] == ["Bearer secret"] * 2 + [None]


async def test_nor_is_it_told_the_key_in_the_header_of_azure() -> None:
    """B1: which the SDK knows nothing of."""
    async with served("http://localhost:{port}/v1/responses") as (port, seen):
        await ask(f"http://127.0.0.1:{port}/v1?api-version=2026-01-01")
    assert [each.headers.get("api-key") for each in seen] == ["secret", None]


async def test_a_redirect_to_nowhere_is_an_error_of_the_service() -> None:
    """B1: not a bug of ours, which would end the run without a word of the model service."""
    async with served("http://127.0.0.1:99999/v1/responses") as (port, _):
        with pytest.raises(ModelError, match="out of range"):
            await ask(f"http://127.0.0.1:{port}/v1")


async def test_a_key_in_the_address_is_in_no_error() -> None:
    """B1: of what answers in another protocol, the error has the address."""

    async def answer(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"SSH-2.0-OpenSSH\r\n\r\n")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises(ModelError, match="Bad status line") as raised:
            await ask(f"http://127.0.0.1:{port}/v1?key=topsecret")
    assert "topsecret" not in f"{raised.value} {raised.value.detail}"


async def test_the_proxy_of_the_environment_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    """B1: with its password, and not for the hosts of NO_PROXY."""
    async with served() as (port, seen):
        monkeypatch.setenv("HTTP_PROXY", f"http://ada:password@127.0.0.1:{port}")
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        await ask("http://models.example/v1")
        await ask(f"http://127.0.0.1:{port}/v1")
    assert [each.raw_path for each in seen] == [
        "http://models.example/v1/responses",
        "/v1/responses",
    ]
    assert [each.headers.get("proxy-authorization") for each in seen] == [
        "Basic YWRhOnBhc3N3b3Jk",
        None,
    ]
