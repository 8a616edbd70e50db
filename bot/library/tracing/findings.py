"""What tracing finds: for each claim of an answer where it comes from.

Field names and values are stored with outcomes: they are an interface.
"""

from __future__ import annotations

from enum import StrEnum

from pydantic import BaseModel, ConfigDict


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
