"""Fixtures of all chapters: a real Redis, empty at the start of each test."""

from tests.support.redis import redis_server, redis_url, stores

__all__ = ["redis_server", "redis_url", "stores"]
