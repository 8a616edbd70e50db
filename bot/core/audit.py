"""Audit log entries: who did what and when, for the people responsible for the bot."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from datetime import UTC, datetime

from pydantic import BaseModel, ConfigDict, Field

from bot.core.audit_kinds import AuditKind

OF_FEATURES = ("claims", "untraced")
"""Fields of an entry about the end of a run that features fill in."""


class AuditEntry(BaseModel):
    """One entry of the audit log. It quotes nobody.

    - `who`: a user id; the stored entry has a pseudonym instead.
    - `channel`: "" for a direct message, because that channel's id would identify the person.
    - `what`: the tool, verdict, reason or change.
    - `unknown`: the call was cut off, so nobody knows whether it changed something.
    - `arguments`: SHA-256 of the tool and its canonical arguments.
    - `cost`: US dollars.
    - `claims`, `untraced`: how many figures and quotes of an answer were traced, and how many of
      them were not found in what was read.
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
    claims: int = 0
    untraced: int = 0


def chained(previous: str, entry: str) -> str:
    """Return the hash of `entry`, as JSON, that follows the entry with the hash `previous`."""
    return hashlib.sha256(f"{previous}\n{entry}".encode()).hexdigest()


class AuditHead(BaseModel):
    """The head of a workspace's log, stored apart from the entries so that a missing entry shows.

    - `count`, `hash`: how many entries were ever written, and the hash of the last.
    - `trimmed`, `anchor`: how many of the oldest entries have expired, and the hash of the last of
      these.
    - `unsealed`: how many of the first entries were written while the head had no seal.
    - `broken_at`: when a process found that somebody else had changed the log, "" if never.
    - `seal`: the HMAC over all other fields.
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
        """Return this head sealed with the first of `keys`, or unsealed without keys."""
        return self.model_copy(update={"seal": self._seal(team, keys[0]) if keys else ""})

    def sealed_by(self, team: str, keys: Sequence[bytes]) -> int | None:
        """Return the index of the key that made the seal, None when none of `keys` did."""
        matches = (hmac.compare_digest(self._seal(team, key), self.seal) for key in keys)
        return next((index for index, is_match in enumerate(matches) if is_match), None)

    def _seal(self, team: str, key: bytes) -> str:
        message = f"{team}\n{self.model_dump_json(exclude={'seal'})}"
        return hmac.new(key, message.encode(), hashlib.sha256).hexdigest()


def audit_keys(encryption_keys: str) -> tuple[bytes, ...]:
    """Derive the keys that seal the audit log from BOT_ENCRYPTION_KEYS, in the same order."""
    keys = filter(None, (each.strip() for each in encryption_keys.split(",")))
    return tuple(hashlib.sha256(f"audit log\n{each}".encode()).digest() for each in keys)
