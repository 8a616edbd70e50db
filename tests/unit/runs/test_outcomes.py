"""No secret that the model does not see reaches people by an outcome or a file."""

from __future__ import annotations

import io
import types
from enum import Enum
from typing import Any, Literal, Union, get_args, get_origin

import openpyxl
import pytest
from pydantic import BaseModel

from bot.core.answers import GIVEN, RESPONSE_TYPES
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Entry, Request
from bot.runs.outcomes import without_secrets
from bot.services.artifact_exports import ArtifactExports
from bot.slack.providers.outbound_text import file_content
from bot.slack.ui.outcome import render, render_shared
from bot.testing.artifacts import MemoryArtifacts
from bot.text.redaction import redacted_cells
from bot.toolkit.provided.exports import WorkbookSheet

SECRET = "AKIAIOSFODNN7EXAMPLE"
IDS = ("run_id", "response_type", "stopped_by")


def filled(kind: Any) -> Any:
    """Return a value of a type with the secret in each of its texts."""
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        fields = kind.model_fields.items()
        return kind.model_construct(**{name: filled(each.annotation) for name, each in fields})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next(iter(kind))
    if origin in (Union, types.UnionType):
        return filled(next(each for each in parts if each is not type(None)))
    if origin is Literal:
        return parts[0]
    if origin is dict:
        return {filled(parts[0]): filled(parts[1])}
    if origin in (list, tuple, frozenset):
        return origin([filled(parts[0])])
    if kind in (str, Any):
        return f"see {SECRET} there"
    return kind(1)


RESULTS = {
    **{name: filled(kind).model_dump() for name, kind in RESPONSE_TYPES.items()},
    GIVEN: {f"key {SECRET}": [{f"inner {SECRET}": f"value {SECRET}"}], "number": 1},
}


@pytest.mark.parametrize("name", RESULTS)
def test_no_text_of_an_outcome_keeps_a_secret(name: str) -> None:
    """Whatever field it is in, those that a later release adds included."""
    outcome = filled(Outcome).model_copy(
        update={
            "response_type": name,
            "result": RESULTS[name],
            "locale": "de",
            **dict.fromkeys(IDS[::2], "U1"),
        }
    )
    assert outcome.model_dump_json().count(SECRET) > 40
    safe = without_secrets(outcome)
    assert SECRET not in safe.model_dump_json()
    assert Outcome.model_validate_json(safe.model_dump_json()).response_type == name
    request = Request(
        entry=Entry.MENTION, team="T1", channel="C1", thread="1.0", ts="1.0", user="U1", text="?"
    )
    for status in RunStatus:
        ended = safe.model_copy(update={"status": status})
        for rendered in (render(ended, request), render_shared(ended, request)):
            assert SECRET not in repr(rendered)


ROWS: list[list[Any]] = [["a", 1], [f"see {SECRET} there", 2.5], ["b", None]]


def test_cells_are_searched_one_by_one_where_a_secret_is_among_them() -> None:
    """Other cells and values stay as they are."""
    rows = ROWS[:1] * 450 + ROWS
    safe = list(redacted_cells(rows))
    assert safe[451] == ["see [redacted AWS key] there", 2.5]
    assert [row for n, row in enumerate(safe) if n != 451] == rows[:451] + rows[452:]


async def test_files_of_tables_hold_no_secrets() -> None:
    """What the model may not see does not go around it into the thread."""
    exports = ArtifactExports(MemoryArtifacts())
    names = ["name", SECRET]
    assert SECRET.encode() not in await exports.csv(names, ROWS)
    book = openpyxl.load_workbook(
        io.BytesIO(await exports.workbook([WorkbookSheet(f"x {SECRET}"[:31], names, ROWS)]))
    )
    cells = [cell.value for row in book.active.iter_rows() for cell in row]  # type: ignore[union-attr]
    assert "see [redacted AWS key] there" in cells
    assert not any(SECRET in str(each) for each in (*cells, *book.sheetnames))


@pytest.mark.parametrize("name", ["a.txt", "a.json", "a.md", "a.csv", "a.log"])
def test_text_is_shared_without_secrets(name: str) -> None:
    """Also a file that is passed on as it is."""
    assert file_content(name, f"see {SECRET}".encode()) == b"see [redacted AWS key]"
    assert file_content(name, b"\xff\xfe\x00") == b"\xff\xfe\x00"
