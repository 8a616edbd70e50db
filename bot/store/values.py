"""Kept values are JSON of pydantic models that say their version."""

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
    """Raises CorruptValue when `raw` is damaged, or from a newer version of this program."""
    try:
        value = model.model_validate_json(raw)
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
    """The value at `key`, kept for another `renew` seconds. One that cannot be read is set aside,
    and CorruptValue raised."""
    raw = await redis.call("GETEX", key, "EX", renew) if renew else await redis.call("GET", key)
    if raw is None:
        return None
    try:
        return read(model, raw)
    except CorruptValue:
        await set_aside(redis, key)
        raise


async def set_aside(redis: Connection, key: str) -> None:
    """Move what is at `key` out of the way, for somebody to look at."""
    aside = QUARANTINE + key.removeprefix(PREFIX)
    await redis.script("set_aside", [key, aside], QUARANTINE_SECONDS)
    log.error("A kept value cannot be read and was moved to %s", aside)
