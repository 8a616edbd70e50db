"""What is kept of who did what, for whoever has to answer for the bot (reliability 15)."""

from __future__ import annotations

import hashlib
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
    reason or change; `cost` in US dollars.
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
    arguments: str = ""
    cost: float | None = None


def chained(previous: str, entry: str) -> str:
    """The hash of an entry, as JSON, that comes after the one with the hash `previous`."""
    return hashlib.sha256(f"{previous}\n{entry}".encode()).hexdigest()
