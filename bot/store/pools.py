"""Pools of connections to Redis, for each form of REDIS_URL.

- `redis://user:password@host:6379/0`, and `rediss://…` with TLS. Options of the client follow `?`:
  `ssl_ca_certs=/etc/ssl/redis.pem`.
- `unix:///run/redis.sock`.
- `redis+sentinel://user:password@host:26379,host2:26379/service/0` (`rediss+sentinel://…` with TLS)
  asks the Sentinels for the primary of `service` and follows a failover. Their own password is
  `?sentinel_password=…`.
"""

from __future__ import annotations

from typing import Any
from urllib.parse import urlsplit

from redis import exceptions
from redis.asyncio import ConnectionPool

from bot.core.errors import ConfigurationError

_SENTINEL = ("redis+sentinel://", "rediss+sentinel://")
SCHEMES = ("redis://", "rediss://", "unix://", *_SENTINEL)
CLUSTER = (
    "a Redis Cluster cannot run the bot's scripts. Use one server, with replicas and Sentinels if it "
    "must survive a machine"
)

_FORM = "redis://<user>:<password>@host:6379/0"


def open_pool(url: str, **options: Any) -> ConnectionPool:
    """Return a pool for `url`, which connects when it is first used.

    `options` are those of `ConnectionPool` and of its connections; the URL's own win.
    Raises ConfigurationError for a URL that cannot be used.
    """
    try:
        pool = _pool(url, options)
        pool.make_connection()  # type: ignore[no-untyped-call]  # raises for unknown options
    except (ValueError, TypeError) as error:
        why = str(error).rpartition("__init__() ")[2].rstrip(".")
        raise ConfigurationError(f"REDIS_URL cannot be used: {why}.") from None
    return pool


def _pool(url: str, options: dict[str, Any]) -> ConnectionPool:
    if url.startswith(_SENTINEL):
        from bot.store.sentinels import sentinel_pool  # imports the queue's library

        return sentinel_pool(url, options)
    return ConnectionPool.from_url(url, **options)


def why_unusable(error: BaseException) -> tuple[str, str]:
    """Return why Redis cannot be used and how to fix that, after a failed connection or command."""
    text = " ".join(str(error).partition(" : <")[0].split()).rstrip(".")  # no Sentinels' objects
    if isinstance(error, exceptions.NoPermissionError):
        return (
            f"gives its user too few rights: {text}",
            "docs/operate.md#redis has the rights it needs",
        )
    if isinstance(error, exceptions.AuthenticationError):
        is_missing = "HELLO" in text or "required" in text
        cause = "wants a password" if is_missing else f"refuses the password: {text}"
        return cause, f"put the right one into REDIS_URL: {_FORM}"
    if isinstance(error, exceptions.InvalidResponse):
        return "answers in another protocol", "correct host and port in REDIS_URL"
    if isinstance(error, ConfigurationError):
        return "cannot be used", text
    if isinstance(error, exceptions.ResponseError):
        return (
            f"refuses commands: {text}",
            "correct that in Redis, or the number at the end of REDIS_URL",
        )
    if isinstance(error, exceptions.TimeoutError | TimeoutError):
        text = f"{text or 'no answer in time'} (a server without TLS needs redis:// and one with it rediss://)"
    return f"cannot be reached: {text}", f"start it, or correct REDIS_URL: {_FORM}"


def host_of(url: str) -> str:
    """Return the host or hosts in a Redis URL, for people: without the password."""
    return urlsplit(url).netloc.rpartition("@")[2] or "the socket"
