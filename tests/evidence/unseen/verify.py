"""Check the labels of the unseen answers against the outputs: `python -m tests.evidence.unseen.verify`.

Every marked figure is worked out again, every reference names one shown cell, every quote and address of
a right answer stands in an output, and what a wrong answer invents stands in none. In part 2 a figure of
another row stands in that row only. `--loose` prints the figures of right answers that have no mark and stand in no output: counts, dates, common knowledge, the
question's own. They were judged by eye.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP
from functools import cache
from pathlib import Path
from typing import Any

from tests.evidence.unseen.labelled import Labelled, fields, read, right, wrong
from tests.evidence.unseen.markup import CELL, MARK, REFERENCE, Outputs, tables, written

HERE = Path(__file__).parent
_NUMBER = re.compile(r"\d+(?:[.,\u202f\u00a0 ]\d+)*")


def faults() -> Iterator[str]:
    """Yield what is not as its label says."""
    for part in (1, 2):
        yield from _wrong_marks(part)
        for answer in right(part):
            yield from (f"{answer.id}: {fault}" for fault in _faults_of_right(answer))
        for answer in wrong(part):
            yield from (f"{answer.id}: {fault}" for fault in _faults_of_wrong(answer))
    yield from _wrong_rows()


def _faults_of_right(answer: Labelled) -> Iterator[str]:
    outputs = _read(answer)
    for path, text in fields(answer.answer).items():
        yield from _references(answer, text)
        if path.endswith((".quote", ".url")) and _letters(text) not in _letters(outputs):
            yield f"{path} stands nowhere"
        if "[[" in text or "{{" in REFERENCE.sub("", text):
            yield f"{path} has a mark left"


def _faults_of_wrong(answer: Labelled) -> Iterator[str]:
    outputs = _read(answer)
    texts = fields(answer.answer)
    for text in texts.values():
        yield from _references(answer, text)
    for span in answer.wrong:
        if texts[span.path][span.start : span.start + len(span.text)] != span.text:
            yield "the span is elsewhere"
        if answer.kind.startswith("invented") and _letters(span.text) in _letters(outputs):
            yield f"{span.text} stands in an output"


def _wrong_marks(part: int) -> Iterator[str]:
    for answer in read("answers", part):
        world = _world(answer)
        for path, text in fields(answer["answer"]).items():
            for mark in MARK.finditer(text):
                value = world.value(mark[2])
                if not _is_written(mark[1], value, mark[3], answer["language"]):
                    yield f"{answer['id']}: {path}: {mark[0]} comes to {value}"


def _wrong_rows() -> Iterator[str]:
    """Yield the figures of another row, in part 2, that are not that row's alone."""
    bases = {answer["id"]: answer for answer in read("answers", 2)}
    for raw, answer in zip(read("wrong", 2), wrong(2), strict=True):
        if answer.kind == "other row":
            yield from _typed(raw, bases[raw["base"]])
        elif answer.kind == "other row by reference":
            yield from _referred(answer)


def _typed(raw: dict[str, Any], base: dict[str, Any]) -> Iterator[str]:
    mark = MARK.fullmatch(raw["figure"])
    cell = CELL.fullmatch(mark[2]) if mark else None
    if mark is None or cell is None or mark[1] != raw["wrong"][0]["text"]:
        yield f"{raw['id']}: the mark is not of the span"
        return
    world, column = _world(base), cell[4].strip("'")
    rows = world.table(int(cell[1]), cell[2])
    with_it = [
        next(iter(row.values()))
        for number, row in enumerate(rows)
        if _is_written(
            mark[1],
            world.value(f"q{cell[1]}{cell[2]}[#{number}].'{column}'"),
            mark[3],
            base["language"],
        )
    ]
    if with_it != [raw["about"]["from"]] or not _rows_with(rows, raw["about"]["told of"]):
        yield f"{raw['id']}: {mark[1]} stands in the rows {with_it}"


def _referred(answer: Labelled) -> Iterator[str]:
    reference = REFERENCE.fullmatch(answer.wrong[0].text)
    if reference is None:
        yield f"{answer.id}: the span is no reference"
        return
    rows, column = _shown(answer, reference["handle"]), reference["column"].strip('"')
    told_of = _rows_with(rows, answer.about["told of"])
    source = _rows_with(rows, answer.about["from"])
    if len(told_of) != 1 or len(source) != 1 or told_of[0][column] == source[0][column]:
        yield f"{answer.id}: {reference[0]} is no other row's"


def _rows_with(rows: list[dict[str, Any]], name: str) -> list[dict[str, Any]]:
    return [row for row in rows if name in map(str, row.values())]


def _is_written(text: str, value: Any, form: str, language: str) -> bool:
    """Return whether a text is a value in a form; spaces and the kind of minus do not count."""
    return any(
        _without_spaces(text) == _without_spaces(written(value, form, language, rounding))
        for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
    )


def _without_spaces(text: str) -> str:
    return re.sub(r"\s", "", text).replace("\N{MINUS SIGN}", "-")


def _world(answer: dict[str, Any]) -> Outputs:
    return Outputs([entry["text"] for entry in _outputs()[answer["world"]]])


@cache
def _outputs() -> dict[str, Any]:
    return json.loads((HERE / "outputs.json").read_text("utf-8"))  # type: ignore[no-any-return]


def _references(answer: Labelled, text: str) -> Iterator[str]:
    for reference in REFERENCE.finditer(text):
        rows = _shown(answer, reference["handle"])
        name, _, value = (reference["key"] or "").partition("=")
        if name.isdigit():
            rows = rows[int(name) - 1 : int(name)]
        elif name:
            rows = [row for row in rows if row[name] == value]
        if len(rows) != 1 or reference["column"].strip('"') not in rows[0]:
            yield f"{reference[0]} is not one cell"


def _shown(answer: Labelled, handle: str) -> list[dict[str, str]]:
    for entry in answer.entries:
        if handle in entry.handles:
            return tables(entry.text)["b" if entry.handles.index(handle) else ""]
    raise LookupError(handle)


def _read(answer: Labelled) -> str:
    return " ".join(entry.text for entry in answer.entries)


def _letters(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def loose() -> Iterator[str]:
    """Yield the figures of right answers that have no mark and stand in no output."""
    for answer in (*right(), *right(2)):
        outputs = _read(answer)
        figures = {re.sub(r"\D", "", number) for number in _NUMBER.findall(outputs)}
        figures.update(re.findall(r"\d+", outputs))
        for path, text in fields(answer.answer).items():
            spans = [span for span in (*answer.worked_out, *answer.from_cells) if span.path == path]
            for span in spans:
                end = span.start + len(span.text)
                text = text[: span.start] + "§" * len(span.text) + text[end:]
            numbers = _NUMBER.findall(REFERENCE.sub("", text))
            unknown = [number for number in numbers if re.sub(r"\D", "", number) not in figures]
            if unknown and not path.endswith((".quote", ".url")):
                yield f"{answer.id}: {path}: {', '.join(unknown)}"


if __name__ == "__main__":
    lines = list(loose() if "--loose" in sys.argv else faults())
    print(*lines, sep="\n")
    sys.exit(bool(lines) and "--loose" not in sys.argv)
