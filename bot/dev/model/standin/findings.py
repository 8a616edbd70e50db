"""What a skill has found, and how it fills the `complete_task` of whatever type is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .fill import nullable, options
from .words import number, stems

Schema = dict[str, Any]
NUMBERS = ("number", "integer")
WHOLE = {"total", "sum", "overall", "count", "number", "all"}
"""Stems of what the figure of a whole table is called."""
CONFIDENCE = ("high", "medium", "low")
STAND_IN = "the stand-in model of `bot dev`, which follows fixed rules"
SUM = "What is 18% of 24,350?"
PUZZLED = "I cannot answer this."
EXAMPLES = ("What can you do?", SUM, "Which tables are in the database?")
"""Questions for somebody who has not asked one yet."""


class NoValue(Exception):
    """Nothing was found for this part of a form: better no answer than an invented one."""


@dataclass
class Findings:
    """The parts of an answer; a skill adds to it as it goes, so that it can be cut short."""

    summary: str = ""
    points: list[str] = field(default_factory=list)
    caption: str = ""
    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    charts: list[str] = field(default_factory=list)
    sources: list[dict[str, Any]] = field(default_factory=list)
    gaps: list[str] = field(default_factory=list)
    follow_ups: list[str] = field(default_factory=list)
    confidence: str = "high"
    people: list[str] = field(default_factory=list)
    decisions: list[str] = field(default_factory=list)
    actions: list[dict[str, Any]] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    title: str = ""
    fields: dict[str, Any] = field(default_factory=dict)
    figure: float | None = None
    """The one number that was asked for, for whichever number a schema wants."""

    def add(self, other: Findings) -> None:
        """What was found for another question that the same answer is for."""
        self.summary = "\n\n".join(filter(None, (self.summary, other.summary)))
        if not self.columns:
            self.caption, self.columns, self.rows = other.caption, other.columns, other.rows
        for name in ("points", "charts", "sources", "gaps", "follow_ups"):
            mine, more = getattr(self, name), getattr(other, name)
            mine += [each for each in more if each not in mine]
        self.figure = other.figure if self.figure is None else self.figure
        self.confidence = max(self.confidence, other.confidence, key=CONFIDENCE.index)

    def lower(self, gap: str, confidence: str = "medium") -> None:
        """Admit a gap; confidence never rises again."""
        self.gaps.append(gap)
        self.confidence = max(self.confidence, confidence, key=CONFIDENCE.index)

    @property
    def certainty(self) -> str:
        """How sure the answer is; that nothing was found is certain."""
        found = self.points or self.rows or self.charts or self.sources
        return self.confidence if found else "high"

    def puzzled(self, knows: Callable[[str], bool]) -> None:
        """No rule fits: say what this is, and what there are tools for."""
        what = {
            "read_file": "files and tables",
            "read_thread": "this conversation",
            "list_databases": "the database",
            "recall": "what I am to remember",
            "calculate": "sums and times",
        }
        known = ", ".join(told for tool, told in what.items() if knows(tool))
        self.summary = (
            f"{PUZZLED} I am {STAND_IN}: all I know is what its tools read"
            f"{f', as {known}' if known else ''}."
        )
        self.follow_ups = list(EXAMPLES)

    def source(self, title: str, url: str | None, supports: str) -> None:
        """Name a source once."""
        known = {(source["title"], source["url"]) for source in self.sources}
        if (title, url) not in known:
            self.sources.append({"title": title, "url": url, "supports": supports})

    @property
    def table(self) -> dict[str, Any] | None:
        """The table, if there is one."""
        if not self.columns:
            return None
        return {"caption": self.caption, "columns": self.columns, "rows": self.rows}

    def arguments(self, schema: Schema) -> dict[str, Any]:
        """Everything the schema asks for: by the names of its properties, else by their types. Raises
        NoValue."""
        definitions, properties = schema.get("$defs", {}), schema.get("properties", {})
        shapes = {name: options(part, definitions) for name, part in properties.items()}
        numbers = [name for name, found in shapes.items() if found and _is_number(found[0])]
        filled: dict[str, Any] = {}
        for name, part in properties.items():
            shape = next(iter(shapes[name]), None)
            value = self._value(name, shape or {}, alone=numbers == [name])
            if shape is None or (value is None and nullable(part)):
                filled[name] = None
            elif value is None and shape.get("type") == "object":
                filled[name] = self.arguments({**shape, "$defs": definitions})
            else:
                filled[name] = _shaped(name, value, shape, definitions)
        return filled

    def _value(self, name: str, shape: Schema, *, alone: bool) -> Any:
        """What was found for this part; of numbers what stands beside the name in the table, or the one
        that was asked for, if it is clear that it is meant."""
        value = self._named(name)
        if not _is_number(shape) or isinstance(value, int | float):
            return value
        beside = [
            number(row[1])
            for row in self.rows
            if len(self.columns) == 2 and stems(row[0]) == stems(name)
        ]
        if len(beside) == 1:
            return beside[0]
        is_whole = (
            {*stems(name)} <= WHOLE | {*stems(self.caption)} - {*stems(self.columns[0])}
            if self.rows
            else alone
        )
        return self.figure if is_whole else None

    def _named(self, name: str) -> Any:
        """What was found under this name, or one like it."""
        if name in self.fields:
            return self.fields[name]
        known: tuple[tuple[tuple[str, ...], Any], ...] = (
            (("summary", "answer", "reply", "text", "body", "overview", "message", "draft", "about"),
             self.summary),
            (("title", "subject", "headline", "topic"), self.title or self.summary[:80]),
            (("table",), self.table),
            (("chart",), self.charts),
            (("source", "citation", "reference"), self.sources),
            (("gap", "limitation", "caveat", "unknown"), self.gaps),
            (("follow", "next"), self.follow_ups),
            (("confidence", "certainty"), self.certainty),
            (("participant", "people", "author", "who"), self.people),
            (("decision", "agreed"), self.decisions),
            (("action", "task", "todo"), self.actions),
            (("question", "open"), self.questions),
            (("point", "highlight", "detail", "finding", "key"), self.points),
        )  # fmt: skip
        pieces = set(stems(name))
        for names, value in known:
            if pieces & set(names):
                return value
        return None


def _is_number(shape: Schema) -> bool:
    return shape.get("type") in NUMBERS


def _shaped(name: str, value: Any, schema: Schema, definitions: dict[str, Any]) -> Any:
    """A value in the shape of a schema. Raises NoValue where it does not fit."""
    kind = schema.get("type")
    if kind == "object":
        given = value if isinstance(value, dict) else {"text": value}
        properties = schema.get("properties", {})
        return {key: _part(key, part, given, definitions) for key, part in properties.items()}
    if value is None or (value == [] and kind != "array"):
        raise NoValue(name)
    if kind == "array":
        each = options(schema.get("items", {}), definitions)[0]
        listed = value if isinstance(value, list) else [value]
        return [_shaped(name, part, each, definitions) for part in listed]
    if kind == "string":
        words = _words(value)
        if words not in schema.get("enum", [words]):
            raise NoValue(name)
        return words
    if not isinstance(value, int | float):
        raise NoValue(name)
    return round(value) if kind == "integer" else value


def _part(name: str, schema: Schema, given: dict[str, Any], definitions: dict[str, Any]) -> Any:
    value = given.get(name)
    shape = options(schema, definitions)[0]
    if value is None and nullable(schema):
        return None
    if value is None and shape.get("type") == "string" and not shape.get("enum"):
        value = given.get("text", "")
    return _shaped(name, value, shape, definitions)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(f"- {_words(part)}" for part in value)
    if isinstance(value, dict):
        return str(value.get("text") or next(iter(value.values()), ""))
    return str(value)
