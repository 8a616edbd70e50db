"""The unseen labelled answers as plain values: `right()` and `wrong()`; `part` 2 is the third author's.

Nothing of the check is imported here. A world is the list of entries that the tools left; the person's
question, which belongs to an answer, is its first entry.
"""

from __future__ import annotations

import copy
import json
import re
from dataclasses import dataclass, field
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal

import yaml

from tests.evidence.unseen.markup import MARK, is_cell

HERE = Path(__file__).parent

Kind = Literal[
    "right",
    "other row",
    "other row by reference",
    "invented quote",
    "invented address",
    "invented id",
    "from memory",
]


@dataclass(frozen=True, slots=True)
class Entry:
    """What one call left, or what the person asked (`call_id` "asked")."""

    call_id: str
    kind: str  # person, read, calculated, none (a change)
    text: str
    tool: str = ""
    arguments: str = ""
    sources: tuple[dict[str, Any], ...] = ()
    handles: tuple[str, ...] = ()
    link: str | None = None


@dataclass(frozen=True, slots=True)
class Span:
    """A piece of an answer: `text` at `start` of the field `path`, such as `key_points[0]` or `table.rows[1][2]`."""

    path: str
    text: str
    start: int


@dataclass(frozen=True, slots=True)
class Labelled:
    """An answer, what it is about, and what is known about it."""

    id: str
    kind: Kind
    language: str
    question: str
    answer: dict[str, Any]  # of the type Answer; references are unfilled
    entries: tuple[Entry, ...]  # the question first
    files: tuple[str, ...] = ()  # that the question brought
    worked_out: tuple[Span, ...] = ()  # right, but computed in the head
    from_cells: tuple[Span, ...] = ()  # right, as some cell holds it, rounded at most
    wrong: tuple[Span, ...] = ()
    pattern: str = ""  # of a wrong one, see README.md
    about: dict[str, str] = field(
        default_factory=dict
    )  # of a wrong figure: the row it is told of, the row it is from


def right(part: int = 1) -> list[Labelled]:
    """Return the right answers."""
    return [_right(answer) for answer in read("answers", part)]


def wrong(part: int = 1) -> list[Labelled]:
    """Return the wrong answers."""
    return [_wrong(answer, part) for answer in read("wrong", part)]


def read(name: str, part: int) -> list[dict[str, Any]]:
    """Return the answers of a part ("answers" or "wrong") as their file holds them, with marks."""
    file = HERE / (f"{name}.yaml" if part == 1 else f"{name}_{part}.yaml")
    return yaml.safe_load(file.read_text("utf-8"))  # type: ignore[no-any-return]


def fields(answer: dict[str, Any]) -> dict[str, str]:
    """Return the texts of an answer by their paths."""
    texts: dict[str, str] = {}

    def walk(value: Any, path: str) -> None:
        if isinstance(value, str):
            texts[path] = value
        elif isinstance(value, list):
            for index, item in enumerate(value):
                walk(item, f"{path}[{index}]")
        elif isinstance(value, dict):
            for name, item in value.items():
                walk(item, f"{path}.{name}" if path else name)

    walk(answer, "")
    return texts


def set_field(answer: dict[str, Any], path: str, text: str) -> None:
    """Set the text at a path; a list grows by one if the path is just behind its end."""
    steps: list[Any] = [int(step) if step.isdigit() else step for step in re.findall(r"\w+", path)]
    value: Any = answer
    for step, following in pairwise(steps):
        if isinstance(value, dict):
            value.setdefault(step, [] if isinstance(following, int) else {})
        elif step == len(value):
            value.append({})
        value = value[step]
    if isinstance(value, list) and steps[-1] == len(value):
        value.append(text)
    else:
        value[steps[-1]] = text


def plain(text: str, path: str = "") -> tuple[str, list[Span], list[Span]]:
    """Return a text without its marks, the spans worked out in the head, and those read from cells."""
    pieces: list[str] = []
    worked_out: list[Span] = []
    read: list[Span] = []
    end = length = 0
    for match in MARK.finditer(text):
        before = text[end : match.start()]
        length += len(before)
        span = Span(path, match[1], length)
        (read if is_cell(match[2]) else worked_out).append(span)
        pieces += [before, match[1]]
        length += len(match[1])
        end = match.end()
    return "".join([*pieces, text[end:]]), worked_out, read


def entries_of(world: str, question: str) -> tuple[Entry, ...]:
    """Return the question and the outputs of a world."""
    link = f"https://example.slack.com/archives/C0{world.upper()}/p1700000000000000"
    asked = Entry("asked", "person", question, link=link)
    return (asked, *(_entry(raw) for raw in _outputs()[world]))


def _entry(raw: dict[str, Any]) -> Entry:
    return Entry(
        raw["call_id"],
        raw["kind"],
        raw["text"],
        raw["tool"],
        raw["arguments"],
        tuple(raw["sources"]),
        tuple(raw["handles"]),
        raw.get("link"),
    )


def _right(raw: dict[str, Any]) -> Labelled:
    answer = copy.deepcopy(raw["answer"])
    worked_out: list[Span] = []
    read: list[Span] = []
    for path, text in fields(answer).items():
        without, own, cells = plain(text, path)
        set_field(answer, path, without)
        worked_out += own
        read += cells
    return Labelled(
        raw["id"],
        "right",
        raw["language"],
        raw["question"],
        answer,
        entries_of(raw["world"], raw["question"]),
        tuple(raw.get("files") or _worlds()[raw["world"]].get("files", ())),
        tuple(worked_out),
        tuple(read),
    )


def _wrong(raw: dict[str, Any], part: int) -> Labelled:
    if "base" not in raw:
        question, answer = raw["question"], raw["answer"]
        entries: tuple[Entry, ...] = entries_of("none", question)
        files = tuple(raw["files"])
        language = raw["language"]
    else:
        base = _rights(part)[raw["base"]]
        question, entries, files, language = base.question, base.entries, base.files, base.language
        answer = copy.deepcopy(base.answer)
        for change in raw["changes"]:
            set_field(answer, change["path"], change["text"])
    texts = fields(answer)
    spans = tuple(
        Span(span["path"], span["text"], span.get("start", texts[span["path"]].find(span["text"])))
        for span in raw["wrong"]
    )
    return Labelled(
        raw["id"],
        raw["kind"],
        language,
        question,
        answer,
        entries,
        files,
        wrong=spans,
        pattern=raw.get("pattern", ""),
        about=raw.get("about", {}),
    )


@cache
def _rights(part: int) -> dict[str, Labelled]:
    return {answer.id: answer for answer in right(part)}


@cache
def _outputs() -> dict[str, Any]:
    return json.loads((HERE / "outputs.json").read_text("utf-8"))  # type: ignore[no-any-return]


@cache
def _worlds() -> dict[str, Any]:
    return yaml.safe_load((HERE / "worlds.yaml").read_text("utf-8"))  # type: ignore[no-any-return]
