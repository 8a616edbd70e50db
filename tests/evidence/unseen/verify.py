"""Check the labels of the unseen answers against the outputs: `python -m tests.evidence.unseen.verify`.

Every marked figure is worked out again from the outputs, every reference must name one shown cell, every
quote and address of a right answer must stand in an output. Figures without a mark that stand in no
output are printed: they are counts, ordinals, common knowledge or the question's own, judged by eye.
"""

from __future__ import annotations

import json
import re
import sys
from decimal import ROUND_HALF_EVEN
from pathlib import Path

import yaml

from tests.evidence.unseen.labelled import Labelled, fields, plain, right, wrong
from tests.evidence.unseen.markup import MARK, REFERENCE, World, is_cell, tables, written

HERE = Path(__file__).parent
_NUMBER = re.compile(r"\d+(?:[.,\u202f\u00a0 ]\d+)*")


def _squeezed(text: str) -> str:
    return re.sub(r"[\W_]+", "", text).casefold()


def cells(answer: Labelled) -> dict[str, list[dict[str, str]]]:
    """Return the shown rows of each handle in a world."""
    shown: dict[str, list[dict[str, str]]] = {}
    for entry in answer.entries:
        if entry.handles:
            found = tables({"text": entry.text})
            for handle, which in zip(entry.handles, ("", "b"), strict=False):
                if which in found:
                    shown[handle] = found[which]
    return shown


def referred(answer: Labelled, reference: re.Match[str]) -> str:
    """Return the cell that a reference names. Raise LookupError if it is not exactly one."""
    rows = cells(answer)[reference["handle"]]
    column = reference["column"].strip('"')
    if reference["key"]:
        name, _, value = reference["key"].partition("=")
        rows = [row for row in rows if row[name] == value]
    if len(rows) != 1:
        raise LookupError(f"{answer.id}: {len(rows)} rows: {reference[0]}")
    return rows[0][column]


def main() -> int:
    faults = 0
    outputs = json.loads((HERE / "outputs.json").read_text("utf-8"))
    for raw in yaml.safe_load((HERE / "answers.yaml").read_text("utf-8")):
        world = World(outputs[raw["world"]])
        everything = " ".join(entry["text"] for entry in outputs[raw["world"]]) + raw["question"]
        for path, text in fields(raw["answer"]).items():
            for mark in MARK.finditer(text):
                value = world.value(mark[2])
                texts = {written(value, mark[3], raw["language"]), written(value, mark[3], raw["language"], ROUND_HALF_EVEN)}
                if mark[1] not in texts:
                    print("WRONG", raw["id"], path, mark[0], texts)
                    faults += 1
                if not is_cell(mark[2]):
                    bare = re.sub(r"q\d+[pb]?(\[[^\]]*\])?\.('[^']*'|\w+)", "", mark[2])
                    for constant in re.findall(r"\d+(?:\.\d+)?", bare):
                        if len(constant) > 2 and constant not in {"100", "1000"} and constant not in re.sub(r"(?<=\d)[,. \u202f](?=\d{3})", "", everything) and constant not in everything:
                            print("constant", raw["id"], path, mark[0], constant)
    for answer in right():
        everything = " ".join(entry.text for entry in answer.entries)
        figures = {re.sub(r"[.,\u202f\u00a0 ]", "", number) for number in _NUMBER.findall(everything)}
        figures |= set(re.findall(r"\d+", everything))
        squeezed = _squeezed(everything)
        marked = {(span.path, span.text, span.start) for span in (*answer.worked_out, *answer.from_cells)}
        for path, text in fields(answer.answer).items():
            for reference in REFERENCE.finditer(text):
                referred(answer, reference)
            if "{{" in REFERENCE.sub("", text) or "[[" in text:
                print("BRACES", answer.id, path, text)
                faults += 1
            if path.endswith((".quote", ".url")):
                if _squeezed(text) not in squeezed and text not in everything:
                    print("NOWHERE", answer.id, path, text)
                    faults += 1
                continue
            rest = REFERENCE.sub("", text)
            for _, span_text, _start in (span for span in marked if span[0] == path):
                rest = rest.replace(span_text, "§", 1)
            loose = [n for n in _NUMBER.findall(rest) if re.sub(r"[.,\u202f\u00a0 ]", "", n) not in figures]
            if loose:
                print("loose", answer.id, path, loose, "|", rest[:150])
    return faults


if __name__ == "__main__":
    sys.exit(main())
