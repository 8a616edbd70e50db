"""A real Redis server for the bots under attack."""

from tests.support.redis import redis, redis_server, redis_url, stores

__all__ = ["redis", "redis_server", "redis_url", "stores"]
