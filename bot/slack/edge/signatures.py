"""Signature checks of HTTP requests: refusals are counted, and logged once a minute by reason.

Slack shows neither a wrong secret nor a wrong clock to the operator. The check tells them apart: it
verifies the signature of an old request too, which only the owner of the secret can make.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

from typing_extensions import override

from bot.core.errors import StoreError

log = logging.getLogger(__name__)

Reason = Literal["signature", "age", "missing headers"]
OnRefused = Callable[[Reason], None]
"""Called for each refused request; must return at once."""
KeepRefusals = Callable[[Reason, int, int], Awaitable[None]]
"""Stores for `bot doctor` the reason, the number of refused requests, and the last clock skew."""

OLDEST = 300  # seconds, as Slack's guide recommends
_LOG_EVERY = 60.0  # seconds
_STORE_TIMEOUT = 2.0  # seconds
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """A refused request: the reason, and its clock skew.

    `skew` is the number of seconds by which this machine's clock is ahead of the request's time.
    """

    reason: Reason
    skew: int = 0

    @override
    def __str__(self) -> str:
        if self.reason == "age":
            side = "ahead of" if self.skew > 0 else "behind"
            return (
                f"the secret is right, but this machine's clock is {abs(self.skew)} s {side} "
                "Slack's, or an old request was played back; set the machine's clock (NTP)"
            )
        if self.reason == "missing headers":
            return "they carry no signature: they do not come from Slack"
        off = f"; their time is {abs(self.skew)} s off, too" if abs(self.skew) > OLDEST else ""
        return (
            "they are not signed with SLACK_SIGNING_SECRET: copy it again from the app's Basic "
            f"Information, or they do not come from Slack{off}"
        )


def refusal_of(body: bytes, headers: Mapping[str, str], secret: str) -> RefusedRequest | None:
    """Return why a request is refused; None when Slack signed it less than five minutes ago.

    `headers` must be a case-insensitive mapping.
    """
    stamp, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
    if not signature or not (stamp.isascii() and stamp.isdigit()) or len(stamp) > 15:
        return RefusedRequest("missing headers")
    signed = hmac.new(secret.encode(), b"v0:%s:%s" % (stamp.encode(), body), sha256)
    skew = int(time.time()) - int(stamp)
    expected, given = f"v0={signed.hexdigest()}", signature.encode("utf-8", "replace")
    if not hmac.compare_digest(expected.encode(), given):
        return RefusedRequest("signature", skew)
    return RefusedRequest("age", skew) if abs(skew) > OLDEST else None


class Refusals:
    """A counter of refused requests, which logs each reason at most once a minute.

    `keep`, if set, stores the counts for `bot doctor`.
    """

    def __init__(self, on_refused: OnRefused) -> None:
        self.keep: KeepRefusals | None = None
        self._on_refused = on_refused
        self._unlogged: Counter[Reason] = Counter()
        self._logged_at: dict[Reason, float] = {}

    async def add(self, refused: RefusedRequest) -> None:
        """Count a refused request, and log it with what to do when a minute has passed."""
        reason = refused.reason
        self._on_refused(reason)
        self._unlogged[reason] += 1
        now = asyncio.get_running_loop().time()
        if now - self._logged_at.get(reason, -_LOG_EVERY) < _LOG_EVERY:
            return
        self._logged_at[reason], count = now, self._unlogged.pop(reason)
        log.warning("Refused %d requests under Slack's address: %s", count, str(refused))
        if self.keep is not None:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(_STORE_TIMEOUT):
                    await self.keep(reason, count, refused.skew)
