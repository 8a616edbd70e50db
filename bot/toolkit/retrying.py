"""Further attempts of calls that only read, with a jittered pause before each."""

from __future__ import annotations

import asyncio
import random
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.core.errors import TemporaryError
from bot.toolkit.running import call_function

MOST_RETRIES = 5

_FIRST_PAUSE, _LONGEST_PAUSE = 0.5, 8.0  # seconds
_NETWORK_ERRORS = frozenset(
    {
        "aiohttp.client_exceptions.ClientConnectionError",
        "httpx.TransportError",
        "httpx2.TransportError",
        "requests.exceptions.ConnectionError",
        "requests.exceptions.Timeout",
    }
)
"""By name, so that no client is imported for a tool that uses another."""


@dataclass(frozen=True, slots=True)
class Retry:
    """Attempt number `attempt` failed with an exception of the class `error`; the next one begins
    in `pause` seconds."""

    attempt: int
    error: str
    pause: float


OnRetry = Callable[[Retry], None]
"""Takes each retry before its pause."""


async def call_with_retries(
    function: Callable[..., Any],
    given: Mapping[str, Any],
    *,
    name: str,
    seconds: float,
    retries: int,
    on_retry: OnRetry,
) -> Any:
    """Call `function` up to `retries` times more while its errors are temporary.

    All attempts and pauses together take up to `seconds`. Raises what `call_function` raises for
    the last attempt.
    """
    loop = asyncio.get_running_loop()
    end = loop.time() + seconds
    attempt = 0
    while True:
        attempt += 1
        try:
            return await call_function(function, given, name=name, seconds=end - loop.time())
        except Exception as error:
            pause = _pause_after(attempt, error)
            in_time = loop.time() + pause < end
            if attempt > retries or not in_time or not is_temporary(error):
                raise
            failed = type(error).__name__
        on_retry(Retry(attempt, failed, pause))
        await asyncio.sleep(pause)


def is_temporary(error: BaseException) -> bool:
    """Return whether another attempt may succeed: the tool says so, or it is an error of the
    network."""
    if isinstance(error, TemporaryError | ConnectionError | TimeoutError | socket.gaierror):
        return True
    if isinstance(reason := getattr(error, "reason", None), OSError):  # urllib's URLError
        return is_temporary(reason)
    kinds = (f"{each.__module__}.{each.__qualname__}" for each in type(error).__mro__)
    return not _NETWORK_ERRORS.isdisjoint(kinds)


def _pause_after(attempt: int, error: Exception) -> float:
    """Return the seconds before the next attempt: what the error asks for, or twice as many each
    time, less up to a half so that many runs do not call at the same moment."""
    if isinstance(error, TemporaryError) and error.after:
        return error.after
    jitter = random.uniform(0.5, 1.0)  # noqa: S311 - no secret
    return jitter * min(_FIRST_PAUSE * 2.0 ** (attempt - 1), _LONGEST_PAUSE)
