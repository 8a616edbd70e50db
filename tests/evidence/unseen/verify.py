"""Check the labels of the unseen answers against the outputs: `python -m tests.evidence.unseen.verify`.

Every marked figure is worked out again, every reference names one shown cell, every quote and address of
a right answer stands in an output, and what a wrong answer invents stands in none. `--loose` prints the
figures of right answers that have no mark and stand in no output: counts, dates, common knowledge, the
question's own. They were judged by eye.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from decimal import ROUND_HALF_EVEN, ROUND_HALF_UP
from pathlib import Path

import yaml

from tests.evidence.unseen.labelled import Labelled, fields, right, wrong
from tests.evidence.unseen.markup import MARK, REFERENCE, Outputs, tables, written

HERE = Path(__file__).parent
_NUMBER = re.compile(r"\d+(?:[.,\u202f\u00a0 ]\d+)*")


def faults() -> Iterator[str]:
    """Yield what is not as its label says."""
    yield from _wrong_marks()
    for answer in right():
        read = _read(answer)
        for path, text in fields(answer.answer).items():
            yield from (f"{answer.id}: {fault}" for fault in _references(answer, text))
            if path.endswith((".quote", ".url")) and _letters(text) not in _letters(read):
                yield f"{answer.id}: {path} stands nowhere"
            if "[[" in text or "{{" in REFERENCE.sub("", text):
                yield f"{answer.id}: {path} has a mark left"
    for answer in wrong():
        read = _read(answer)
        texts = fields(answer.answer)
        for text in texts.values():
            yield from (f"{answer.id}: {fault}" for fault in _references(answer, text))
        for span in answer.wrong:
            if texts[span.path][span.start : span.start + len(span.text)] != span.text:
                yield f"{answer.id}: the span is elsewhere"
            if answer.kind.startswith("invented") and _letters(span.text) in _letters(read):
                yield f"{answer.id}: {span.text} stands in an output"


def _wrong_marks() -> Iterator[str]:
    outputs = json.loads((HERE / "outputs.json").read_text("utf-8"))
    for answer in yaml.safe_load((HERE / "answers.yaml").read_text("utf-8")):
        world = Outputs([entry["text"] for entry in outputs[answer["world"]]])
        for path, text in fields(answer["answer"]).items():
            for mark in MARK.finditer(text):
                value = world.value(mark[2])
                if mark[1] not in {
                    written(value, mark[3], answer["language"], rounding)
                    for rounding in (ROUND_HALF_UP, ROUND_HALF_EVEN)
                }:
                    yield f"{answer['id']}: {path}: {mark[0]} comes to {value}"


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
    for answer in right():
        read = _read(answer)
        figures = {re.sub(r"\D", "", number) for number in _NUMBER.findall(read)}
        figures.update(re.findall(r"\d+", read))
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
