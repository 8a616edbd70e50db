"""Findings: where each figure, date, id, address and quote of an answer comes from.

Tracing makes them, an outcome stores them. Field names and values are an interface.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict
from typing_extensions import override

from bot.library.tracing.findings import (
    Claim,
    Finding,
    Operand,
    Operation,
    Place,
    Reason,
    Verdict,
)

__all__ = [
    "Claim",
    "Finding",
    "Findings",
    "Operand",
    "Operation",
    "Place",
    "Reason",
    "Unreadable",
    "Verdict",
]


class Unreadable(StrEnum):
    """Why a claim may have been read where code cannot see it."""

    NOTHING = ""
    IMAGES = "images"
    HOSTED = "hosted"  # the model service searched or computed itself
    HELPERS = "helpers"  # the report of a sub-agent that was not traced
    ACCOUNTS = "accounts"  # an earlier answer read somebody's own account
    CUT = "cut"  # the thread is too long to be kept or indexed whole
    LONG = "very long outputs"  # an output is too long to be indexed whole
    SLOW = "slow"  # indexing took too long
    FAILED = "failed"  # indexing failed

    @classmethod
    @override
    def _missing_(cls, value: object) -> Unreadable:
        return cls.FAILED  # a reason of a newer release


class Findings(BaseModel):
    """All that tracing an answer found, in the answer's order.

    - `nothing_read`: no tool returned anything, so nothing was traced.
    - `unreadable`: why a claim that was not found may still have been read. Then no claim is untraced:
      those that were not found are `UNKNOWN`.
    - `sent_back`: how many faults that code was sure of the model was told, once.
    """

    model_config = ConfigDict(frozen=True)

    items: tuple[Finding, ...] = ()
    nothing_read: bool = False
    unreadable: Unreadable = Unreadable.NOTHING
    sent_back: int = 0

    def of(self, *verdicts: Verdict) -> list[Finding]:
        """Return the claims with one of these verdicts."""
        return [each for each in self.items if each.verdict in verdicts]

    @property
    def read(self) -> int:
        """The number of claims that were read, near quotes included."""
        return len(self.of(Verdict.READ, Verdict.NEAR_QUOTE))

    @property
    def worked_out(self) -> int:
        return len(self.of(Verdict.WORKED_OUT))

    @property
    def untraced(self) -> int:
        return len(self.of(Verdict.UNTRACED))
