"""Stores on a real server, and a local workspace."""

from tests.support.redis import redis, redis_server, redis_url, stores
from tests.unit.slack.conftest import rig, ws

__all__ = ["redis", "redis_server", "redis_url", "rig", "stores", "ws"]
