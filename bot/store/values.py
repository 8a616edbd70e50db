"""Stored values: versioned pydantic models as JSON."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from bot.core.errors import CorruptValue
from bot.store.connection import PREFIX, QUARANTINE, Connection

log = logging.getLogger(__name__)

M = TypeVar("M", bound=BaseModel)

QUARANTINE_SECONDS = 30 * 86_400


def decode(model: type[M], raw: bytes) -> M:
    """Decode `raw`. Raises CorruptValue when it is damaged or from a newer version of the bot.

    Fields that only a newer version knows are ignored, also where bot.toml may have no others: an
    operator can go back to this version (`bot.store.data_format`).
    """
    try:
        value = model.model_validate_json(raw, extra="ignore")
    except ValidationError as error:
        raise CorruptValue(f"A kept {model.__name__} cannot be read.") from error
    if getattr(value, "version", 1) > model.model_fields["version"].default:
        raise CorruptValue(f"A kept {model.__name__} is from a newer version.")
    return value


async def load(
    redis: Connection,
    key: str,
    model: type[M],
    *,
    renew: int | None = None,
    read: Callable[[type[M], bytes], M] = decode,
) -> M | None:
    """Return the value at `key`, None without one. With `renew`, keep it for so many more seconds.

    A value that cannot be read is set aside, and CorruptValue raised.
    """
    raw = await redis.call("GETEX", key, "EX", renew) if renew else await redis.call("GET", key)
    if raw is None:
        return None
    try:
        return read(model, raw)
    except CorruptValue:
        await set_aside(redis, key)
        raise


async def set_aside(redis: Connection, key: str) -> None:
    """Move the value at `key` to the quarantine, where an operator can look at it."""
    aside = QUARANTINE + key.removeprefix(PREFIX)
    await redis.script("set_aside", [key, aside], QUARANTINE_SECONDS)
    log.error("A kept value cannot be read and was moved to %s", aside)
