"""Signatures of requests over HTTP: why one is refused, counted and said once a minute.

A wrong secret and a wrong clock look the same from outside, as Slack shows neither. They are told
apart by checking the signature whatever its age: only who has the secret can sign an old time.
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
"""Told of each refused request; returns at once."""
KeepRefusals = Callable[[Reason, int, int], Awaitable[None]]
"""Keeps for `bot doctor` how many were refused for a reason, and the skew of the last one."""

OLDEST = 300  # seconds; as Slack's guide has it
_SAID_EVERY = 60.0  # seconds
_KEEPING = 2.0  # seconds
_TIMESTAMP, _SIGNATURE = "X-Slack-Request-Timestamp", "X-Slack-Signature"


@dataclass(frozen=True, slots=True)
class RefusedRequest:
    """`skew` is by how many seconds this machine's clock is ahead of the request's time."""

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
    """Return why a request is refused; None when Slack signed it, less than five minutes ago.

    `headers` ignores case.
    """
    said, signature = headers.get(_TIMESTAMP, ""), headers.get(_SIGNATURE, "")
    if not signature or not (said.isascii() and said.isdigit()) or len(said) > 15:
        return RefusedRequest("missing headers")
    signed = hmac.new(secret.encode(), b"v0:%s:%s" % (said.encode(), body), sha256)
    skew = int(time.time()) - int(said)
    expected, given = f"v0={signed.hexdigest()}", signature.encode("utf-8", "replace")
    if not hmac.compare_digest(expected.encode(), given):
        return RefusedRequest("signature", skew)
    return RefusedRequest("age", skew) if abs(skew) > OLDEST else None


class Refusals:
    """Counts refused requests, and says at most once a minute for each reason what to do."""

    def __init__(self, on_refused: OnRefused) -> None:
        self.keep: KeepRefusals | None = None
        self._on_refused = on_refused
        self._unsaid: Counter[Reason] = Counter()
        self._said_at: dict[Reason, float] = {}

    async def add(self, refused: RefusedRequest) -> None:
        """Take note of one."""
        reason = refused.reason
        self._on_refused(reason)
        self._unsaid[reason] += 1
        now = asyncio.get_running_loop().time()
        if now - self._said_at.get(reason, -_SAID_EVERY) < _SAID_EVERY:
            return
        self._said_at[reason], count = now, self._unsaid.pop(reason)
        log.warning("Refused %d requests under Slack's address: %s", count, refused)
        if self.keep is not None:
            with suppress(StoreError, TimeoutError):
                async with asyncio.timeout(_KEEPING):
                    await self.keep(reason, count, refused.skew)
