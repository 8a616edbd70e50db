"""Stores on a real server."""

from tests.support.redis import redis, redis_server, redis_url, stores

__all__ = ["redis", "redis_server", "redis_url", "stores"]
