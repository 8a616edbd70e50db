"""What tracing finds: for each claim of an answer where it comes from.

Field names and values are stored with outcomes: they are an interface.
"""

from __future__ import annotations

from collections import Counter
from enum import StrEnum

from pydantic import BaseModel, ConfigDict
from typing_extensions import override


class Claim(StrEnum):
    """The kind of a piece of an answer that is traced."""

    FIGURE = "figure"
    DATE = "date"
    ID = "id"
    ADDRESS = "address"
    QUOTE = "quote"


class Verdict(StrEnum):
    """What tracing a claim found."""

    READ = "read"  # it occurs in an output or in a message of a person
    WORKED_OUT = "worked_out"  # it follows from what was read by arithmetic that code repeated
    NEAR_QUOTE = "near_quote"  # the quoted text occurs, but not word for word
    UNTRACED = "untraced"
    UNKNOWN = "unknown"  # untraced, but something was read that code cannot read as text


class Reason(StrEnum):
    """Why a claim is untraced."""

    NOT_FOUND = "not_found"
    OTHER_UNIT = "other_unit"  # the number occurs, with another unit or currency
    OTHER_SIGN = "other_sign"
    OTHER_ROW = "other_row"  # the number occurs, but in no line of the row that it is told of
    OTHER_SOURCE = "other_source"  # the quote occurs, but not in the source that it is told of
    NOTHING_READ = "nothing_read"  # no tool returned anything, though there was something to read


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


class Operation(StrEnum):
    """The arithmetic by which a figure follows from others."""

    SUM = "sum"
    MEAN = "mean"
    SHARE = "share"
    DIFFERENCE = "difference"
    RATIO = "ratio"
    GROWTH = "growth"
    PRODUCT = "product"
    PERCENT_OF = "percent_of"
    COUNT = "count"
    CONVERSION = "conversion"  # the same quantity in another unit
    DATE = "date"  # a date that follows from another date, or from the day of the question


class Place(BaseModel):
    """A place in what was read: one line of one output.

    - `call_id`, `tool`: the call whose output it is; `tool` is "" for a message of a person.
    - `source`, `url`: title and address of the source that the line belongs to. `link` is an
      address of the line itself: of the message, or of the page with a text fragment; "" if there
      is none.
    - `handle`: the handle of the artifact that the output is based on, "" if there is none.
    - `line`: the number of the line in the output, from 1.
    - `row`, `column`: name of the row and of the column, in a table.
    - `page`: the page of a document, as its mark says it.
    - `text`: the figure or words as they are written there. `excerpt`: the line, up to 160
      characters.
    """

    model_config = ConfigDict(frozen=True)

    call_id: str
    tool: str = ""
    source: str = ""
    url: str = ""
    link: str = ""
    handle: str = ""
    line: int = 1
    row: str = ""
    column: str = ""
    page: str = ""
    text: str = ""
    excerpt: str = ""


class Operand(BaseModel):
    """An operand of a claim that is worked out.

    - `value`: the exact value, in the unit in which the arithmetic used it.
    - `place`: the number of its place in `places`. `is_column`: it is the sum, mean or count of the
      whole column that the place is in.
    - `item`: the number of the finding that it is, if it was worked out itself.

    A constant has neither `place` nor `item`.
    """

    model_config = ConfigDict(frozen=True)

    value: float
    place: int | None = None
    is_column: bool = False
    item: int | None = None


class Finding(BaseModel):
    """A claim of an answer, and where it comes from.

    - `field`: the path of the answer's field: "summary", "key_points.0", "table.rows.2.1".
    - `text`: the claim as the answer writes it. `start` is its offset in the field.
    - `places`: where it was read, the best first; for a claim that is worked out the places of its
      operands in the order of `formula`, such as "90 + 30 = 120".
    - `operands`, `pattern`: of earlier releases, which repeated the arithmetic.
    - `reason`: set for a claim that is untraced or unknown.
    - `warned`: code is sure that the claim is wrong or comes from nowhere, so readers are warned of
      it. Findings of earlier releases warn of nothing.
    - `reference`: what the model wrote where code filled in the figure, such as
      "tbl_k3x8a2qd.revenue[2]"; "" for what it typed itself.
    """

    model_config = ConfigDict(frozen=True)

    field: str
    text: str
    start: int = 0
    kind: Claim
    verdict: Verdict
    places: tuple[Place, ...] = ()
    operation: Operation | None = None
    formula: str = ""
    operands: tuple[Operand, ...] = ()
    pattern: str = ""
    reason: Reason | None = None
    reference: str = ""
    warned: bool = False


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
        return [finding for finding in self.items if finding.verdict in verdicts]

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


def claim_key(finding: Finding) -> tuple[str, bool, bool]:
    """Return what findings of one claim have in common, which an answer may repeat in other words.

    A cell that is filled in is one claim, though a sentence and a table write it otherwise. A claim of
    which readers are warned is one of its own.
    """
    places = finding.places if finding.reference else ()
    cell = next((place for place in places if place.handle), None)
    text = f"{cell.handle}:{cell.line}:{cell.column}" if cell else finding.text.casefold()
    return " ".join(text.split()), finding.kind is Claim.QUOTE, finding.warned


FILLED_IN = "filled_in"


def counted_as(finding: Finding) -> str:
    """Return what a finding is counted as: "filled_in" for a reference, else its verdict."""
    return FILLED_IN if finding.reference else finding.verdict.value


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
