"""What a skill has found, and how it fills the `complete_task` of whatever type is wanted."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .fill import fit, nullable, options
from .words import stems

Schema = dict[str, Any]
NOTHING: dict[str, Any] = {"string": "", "integer": 0, "number": 0, "boolean": False}
NUMBERS = ("number", "integer")
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
        more = {
            "list_databases": "the database",
            "recall": "what I am to remember",
            "calculate": "sums and times",
        }
        known = ", ".join(told for tool, told in more.items() if knows(tool))
        self.summary = (
            f"{PUZZLED} I am {STAND_IN}: all I know is what its tools read, as files and "
            f"tables, this conversation{f', {known}' if known else ''}."
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
        return {name: self._property(name, part, definitions) for name, part in properties.items()}

    def _property(self, name: str, schema: Schema, definitions: dict[str, Any]) -> Any:
        shapes = options(schema, definitions)
        if not shapes:
            return None
        value = self._named(name)
        if shapes[0].get("type") in NUMBERS and not isinstance(value, int | float):
            value = self.figure
        if value is None and nullable(schema):
            return None
        if value in (None, []) and shapes[0].get("type") not in ("object", "array"):
            raise NoValue(name)
        return _shaped(value, shapes[0], definitions)

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


def _shaped(value: Any, schema: Schema, definitions: dict[str, Any]) -> Any:
    """A value in the shape of a schema; what does not fit becomes the emptiest that does."""
    kind = schema.get("type")
    if kind == "object":
        given = value if isinstance(value, dict) else {"text": value}
        properties = schema.get("properties", {})
        return {name: _part(name, part, given, definitions) for name, part in properties.items()}
    if kind == "array":
        each = options(schema.get("items", {}), definitions)[0]
        listed = value if isinstance(value, list) else [value] if value else []
        return [_shaped(part, each, definitions) for part in listed]
    if value is None:
        return schema["enum"][-1] if schema.get("enum") else NOTHING.get(str(kind), "")
    if kind == "string":
        return fit(_words(value), schema)
    if not isinstance(value, int | float):
        return NOTHING.get(str(kind), "")
    return round(value) if kind == "integer" else value


def _part(name: str, schema: Schema, given: dict[str, Any], definitions: dict[str, Any]) -> Any:
    value = given.get(name)
    shape = options(schema, definitions)[0]
    if value is None and nullable(schema):
        return None
    if value is None and shape.get("type") == "string" and not shape.get("enum"):
        value = given.get("text", "")
    return _shaped(value, shape, definitions)


def _words(value: Any) -> str:
    if isinstance(value, list):
        return "\n".join(f"- {_words(part)}" for part in value)
    if isinstance(value, dict):
        return str(value.get("text") or next(iter(value.values()), ""))
    return str(value)
