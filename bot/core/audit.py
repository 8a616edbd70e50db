"""What is kept of who did what, for whoever has to answer for the bot (reliability 15)."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime
from enum import StrEnum

from pydantic import BaseModel, ConfigDict, Field


class AuditKind(StrEnum):
    """What happened."""

    REFUSED = "refused"  # somebody was not let in, or tried what only others may
    ASKED = "asked"  # a request was begun to be worked on
    BEGUN = "begun"  # a tool that changes something is about to run
    CALLED = "called"  # a tool was called, or refused
    DECIDED = "decided"  # somebody approved a call, or did not
    ENDED = "ended"  # a request had its end, and what it took
    ADMINISTERED = "administered"  # an admin or the operator changed something


class AuditEntry(BaseModel):
    """No words of anybody: `arguments` is the SHA-256 of a call's tool and canonical arguments.

    `who` is a user's id where an entry is written and read, and a pseudonym where it is kept.
    `channel` is "" for a direct message, which would name its person. `what` is the tool, verdict,
    reason or change; `cost` in US dollars. `unknown` says of a call that it was cut off: whether it
    changed something is not known.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 1
    at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    kind: AuditKind
    team: str
    who: str
    channel: str = ""
    request_id: str = ""
    run_id: str = ""
    what: str
    ok: bool = True
    unknown: bool = False
    arguments: str = ""
    cost: float | None = None


def chained(previous: str, entry: str) -> str:
    """The hash of an entry, as JSON, that comes after the one with the hash `previous`."""
    return hashlib.sha256(f"{previous}\n{entry}".encode()).hexdigest()


class AuditHead(BaseModel):
    """How far a workspace's log goes, kept apart from its entries, so that a missing one shows.

    `count` entries were written so far, the last with the hash `hash`; the oldest `trimmed` of them
    were removed when their time was over, the last of these with the hash `anchor`. The first
    `unsealed` entries were written while the head bore no seal. `broken_at` is when a process found
    the log changed by somebody else, "" if none did. `seal` is the HMAC over all else.
    """

    model_config = ConfigDict(frozen=True)

    version: int = 2
    count: int = 0
    hash: str = ""
    trimmed: int = 0
    anchor: str = ""
    unsealed: int = 0
    broken_at: str = ""
    seal: str = ""

    def sealed(self, team: str, keys: Sequence[bytes]) -> AuditHead:
        """Return this head with a seal made with the first of `keys`, or none without keys."""
        return self.model_copy(update={"seal": self._seal(team, keys[0]) if keys else ""})

    def sealed_by(self, team: str, keys: Sequence[bytes]) -> int | None:
        """Return which of `keys` made the seal, None when none of them did."""
        made = (hmac.compare_digest(self._seal(team, key), self.seal) for key in keys)
        return next((number for number, fits in enumerate(made) if fits), None)

    def _seal(self, team: str, key: bytes) -> str:
        sealed = f"{team}\n{self.model_dump_json(exclude={'seal'})}"
        return hmac.new(key, sealed.encode(), hashlib.sha256).hexdigest()


def audit_keys(encryption_keys: str) -> tuple[bytes, ...]:
    """Derive the keys that seal the log from BOT_ENCRYPTION_KEYS, in their order."""
    keys = filter(None, (each.strip() for each in encryption_keys.split(",")))
    return tuple(hashlib.sha256(f"audit log\n{each}".encode()).digest() for each in keys)
