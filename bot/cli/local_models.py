"""Model servers on the usual local ports, which `bot dev` offers when no model is set."""

from __future__ import annotations

import asyncio
import json
import re
import shlex
from collections.abc import Mapping
from contextlib import suppress
from types import MappingProxyType
from typing import Any

import aiohttp

USUAL_PORTS: Mapping[int, str] = MappingProxyType(
    {11434: "Ollama", 1234: "LM Studio", 8080: "llama.cpp"}
)
_SECONDS = 0.3  # for all ports together: the start must not wait longer
_MOST_BYTES = 1024 * 1024
_PLAIN_NAME = re.compile(r"[\w.:/@+-]{1,100}")


async def offers(ports: Mapping[int, str] = USUAL_PORTS) -> list[str]:
    """Return a line for each local server that lists a model, which says how to use it."""
    timeout = aiohttp.ClientTimeout(total=_SECONDS)
    async with aiohttp.ClientSession(timeout=timeout) as session:
        models = await asyncio.gather(*(_first_model(session, port) for port in ports))
    return [
        f"{name} is running here. To use it: OPENAI_BASE_URL={_address(port)} "
        f"OPENAI_MODEL={shlex.quote(model)} bot dev (docs/models.md)"
        for (port, name), model in zip(ports.items(), models, strict=True)
        if model
    ]


def _address(port: int) -> str:
    return f"http://127.0.0.1:{port}/v1"


async def _first_model(session: aiohttp.ClientSession, port: int) -> str:
    """Return the first model that is not for embeddings; "" without a server or model."""
    with suppress(aiohttp.ClientError, TimeoutError, ValueError):
        async with session.get(f"{_address(port)}/models", allow_redirects=False) as reply:
            if reply.ok and reply.content_type == "application/json":
                return next(iter(_names(await _json(reply))), "")
    return ""


async def _json(reply: aiohttp.ClientResponse) -> Any:
    """Return the body as JSON. Raises ValueError for invalid JSON or a body that is too large."""
    body = bytearray()
    async for chunk in reply.content.iter_any():
        body += chunk
        if len(body) > _MOST_BYTES:
            raise ValueError("a list of models is not that long")
    return json.loads(body)


def _names(body: object) -> list[str]:
    listed = body.get("data") if isinstance(body, dict) else None
    models = listed if isinstance(listed, list) else []
    ids = [model.get("id") for model in models if isinstance(model, dict)]
    return [
        model_id
        for model_id in ids
        if isinstance(model_id, str) and _PLAIN_NAME.fullmatch(model_id) and "embed" not in model_id
    ]
