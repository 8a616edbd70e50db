"""List of the models that a server offers, with their context windows where the server tells them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from bot.model.sdk import AsyncOpenAI

_LEAST_WINDOW = 1_024  # tokens; less is a placeholder


async def listed_models(client: AsyncOpenAI) -> dict[str, int | None] | None:
    """Return the names of the models with their windows in tokens; None without a readable list."""
    body = await _read(client, "/models")
    models = body.get("data") if isinstance(body, Mapping) else None
    if not isinstance(models, list):
        return None
    named = [each for each in models if isinstance(each, dict) and isinstance(each.get("id"), str)]
    return {each["id"]: _window(each) for each in named}


async def describes(client: AsyncOpenAI, name: str) -> bool:
    """Return whether the server describes the model. Some return 200 with an error for any address."""
    body = await _read(client, f"/models/{name}")
    return isinstance(body, Mapping) and body.get("id") == name


async def _read(client: AsyncOpenAI, path: str) -> object:
    """Return the JSON at `path`; None for an error, and for what is no JSON whatever it says it is."""
    from bot.model.sdk import OpenAIError

    try:
        return await client.get(path, cast_to=object)
    except (OpenAIError, ValueError, RecursionError):
        return None


def _window(model: dict[str, Any]) -> int | None:
    """Return the window as llama.cpp, vLLM or OpenRouter tells it."""
    meta = model.get("meta")
    slot_window = meta.get("n_ctx") if isinstance(meta, dict) else None
    windows = (slot_window, model.get("max_model_len"), model.get("context_length"))
    plausible = (each for each in windows if isinstance(each, int) and each >= _LEAST_WINDOW)
    return next(plausible, None)
