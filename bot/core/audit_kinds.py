"""The kinds of entries of the audit log, which `bot audit` takes as an option."""

from __future__ import annotations

from enum import StrEnum


class AuditKind(StrEnum):
    """The kind of event that an audit entry records."""

    REFUSED = "refused"  # a person was denied access, or lacked the permission
    ASKED = "asked"  # a run of a request began
    BEGUN = "begun"  # a tool that changes something is about to run
    CALLED = "called"  # a tool was called, or the call was refused
    ACQUIRED = "acquired"  # a skill was acquired; `arguments` is its digest
    DECIDED = "decided"  # an approval was decided
    ENDED = "ended"  # a run ended; the entry has its cost
    ACCOUNT = "account"  # a personal account was connected, refused, ended or disconnected
    ADMINISTERED = "administered"  # an admin or the operator changed a setting
