"""A model service inside the process, instead of the configured one."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

from pydantic import SecretStr

from bot.dev.model import ResponsesServer
from bot.dev.model.server import Brain
from bot.model import Price
from bot.settings import Settings


@asynccontextmanager
async def local_model(
    settings: Settings, brain: Brain, *, name: str, chunk_delay: float = 0.0
) -> AsyncGenerator[Settings]:
    """Yield `settings` with a model `name` that costs nothing and whose replies come from `brain`.

    `chunk_delay` is the time between the events of a stream, in seconds.
    """
    async with ResponsesServer.open(brain, chunk_delay=chunk_delay) as api:
        model = {"price": settings.model.price or Price(input=0, output=0)}
        yield settings.model_copy(
            update={
                "openai_base_url": api.url,
                "openai_api_key": SecretStr(api.api_key),
                "openai_model": name,
                "openai_fallback_models": (),
                "model": settings.model.model_copy(update=model),
            }
        )
