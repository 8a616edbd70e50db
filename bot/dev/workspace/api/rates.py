"""Rate limits: the tiers of the Web API, and one message a second per channel; off by default."""

import math
from collections import defaultdict, deque

from bot.dev.workspace.errors import RateLimited
from bot.dev.workspace.store.clock import Clock

# Calls a minute per workspace, https://docs.slack.dev/apis/web-api/rate-limits
TIERS = {1: 1, 2: 20, 3: 50, 4: 100}


class Rates:
    """Rate limits.

    Settable: `enforce_tiers`, `per_minute[method]`, `posts_per_second` (per channel; Slack: 1).
    """

    def __init__(self, clock: Clock) -> None:
        self.enforce_tiers = False
        self.per_minute: dict[str, int] = {}
        self.posts_per_second: float | None = None
        self._clock = clock
        self._calls: defaultdict[str, deque[float]] = defaultdict(deque)

    def count_call(self, method: str, tier: int) -> None:
        """Count a call. Raises RateLimited when the method's minute is used up."""
        limit = self.per_minute.get(method, TIERS[tier] if self.enforce_tiers else None)
        if limit is not None:
            self._count(method, limit, 60.0)

    def count_post(self, channel: str) -> None:
        """Count a message. Raises RateLimited when the channel had one just before."""
        if self.posts_per_second is not None:
            self._count(f"post:{channel}", 1, 1 / self.posts_per_second)

    def _count(self, key: str, limit: int, window: float) -> None:
        now, calls = self._clock.now(), self._calls[key]
        while calls and calls[0] <= now - window:
            calls.popleft()
        if len(calls) >= limit:
            wait = calls[0] + window - now if calls else window
            raise RateLimited(max(1, math.ceil(wait)))
        calls.append(now)
