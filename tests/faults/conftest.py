"""A real Redis server for the bots under fault."""

from tests.support.redis import redis_server, redis_url

__all__ = ["redis_server", "redis_url"]
