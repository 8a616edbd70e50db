"""Findings: where each figure, date, id, address and quote of an answer comes from.

Tracing makes them, an outcome stores them. Field names and values are an interface.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict
from typing_extensions import override

from bot.library.tracing.findings import Claim, Finding, Operand, Operation, Place, Reason, Verdict

__all__ = [
    "Claim",
    "ConfiguredMode",
    "EvidenceMode",
    "FigureCounts",
    "Finding",
    "Findings",
    "Operand",
    "Operation",
    "Place",
    "Reason",
    "Unreadable",
    "Verdict",
    "counted_as",
]

FILLED_IN = "filled_in"


def _as_mark(mode: Any) -> Any:
    """Read "send_back", a mode of earlier releases, as "mark", which does the same now."""
    return "mark" if mode == "send_back" else mode


EvidenceMode = Literal["off", "measure", "mark"]
"""What happens with the claims of an answer: nothing; they are traced and counted; or readers are told
where they come from too, and what code is sure is wrong goes back to the model once."""

ConfiguredMode = Annotated[EvidenceMode, BeforeValidator(_as_mark)]
"""A mode as bot.toml or a channel's settings have it."""


def counted_as(finding: Finding) -> str:
    """Return what a finding is counted as: "filled_in" for a reference, else its verdict."""
    return FILLED_IN if finding.reference else finding.verdict.value


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


class FigureCounts(BaseModel):
    """How many figures, dates, ids and quotes of answers have which origin.

    - `filled_in`: from references. `found`: typed, and found in what was read.
    - `sent_back`: how many faults the model was told.

    Addresses are the sources of an answer and count nowhere, nor does what may be where code cannot
    search.
    """

    model_config = ConfigDict(frozen=True)

    filled_in: int = 0
    found: int = 0
    worked_out: int = 0
    not_found: int = 0
    sent_back: int = 0

    @classmethod
    def of(cls, findings: Findings) -> FigureCounts:
        """Return the counts of one answer."""
        items = [item for item in findings.items if item.kind is not Claim.ADDRESS]
        names = [_COUNTS[counted_as(item)] for item in items if counted_as(item) in _COUNTS]
        return cls(**Counter(names), sent_back=findings.sent_back)

    def __add__(self, other: FigureCounts) -> FigureCounts:
        return FigureCounts(**{name: value + getattr(other, name) for name, value in self})

    @property
    def total(self) -> int:
        """The number of figures, without what was sent back."""
        return self.filled_in + self.found + self.worked_out + self.not_found


_COUNTS = {
    FILLED_IN: "filled_in",
    Verdict.READ: "found",
    Verdict.NEAR_QUOTE: "found",
    Verdict.WORKED_OUT: "worked_out",
    Verdict.UNTRACED: "not_found",
}
