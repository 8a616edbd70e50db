"""Labelled answers: answers about outputs of real tools, with what is wrong or worked out in them."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from bot.library.tracing.fields import fields_of
from bot.library.tracing.findings import Finding, Verdict
from bot.library.tracing.outputs import Counts, Output, Source
from bot.library.tracing.trace import Traced, trace
from bot.text.locales import rewritten

HERE = Path(__file__).parent
TODAY = date(2026, 11, 23)
SETS = ("tuning", "heldout_1", "heldout_2")
LOCALES = ("de-DE", "fr-FR", "de-CH", "en-IN", "pt-BR")
_MARKED = re.compile(r"\[\[(?P<head>.+?)\]\]|!!(?P<wrong>.+?)!!")
_HEAD, _WRONG = "head", "wrong"
_CERTIFIED = (Verdict.READ, Verdict.WORKED_OUT)


@dataclass(frozen=True)
class Span:
    """A marked part of a field: worked out in the head, or wrong."""

    path: str
    start: int
    end: int
    label: str


@dataclass(frozen=True, eq=False)
class Labelled:
    """An answer with its labels. `source` is the set that it is from, `locale` how it writes numbers."""

    name: str
    world: str
    source: str
    style: str
    locale: str
    result: dict[str, Any]
    spans: tuple[Span, ...] = ()

    def label_of(self, finding: Finding) -> str:
        """Return the label of a finding's place: "head", "wrong" or ""."""
        end = finding.start + max(1, len(finding.text))
        for span in self.spans:
            if span.path == finding.field and finding.start < span.end and span.start < end:
                return span.label
        return ""


@cache
def world(name: str) -> tuple[Output, ...]:
    """Return the outputs of a world."""
    entries = json.loads((HERE / "outputs" / f"{name}.json").read_text("utf-8"))
    return tuple(map(output_of, entries))


def output_of(entry: dict[str, Any]) -> Output:
    return Output(
        call_id=entry["call_id"],
        text=entry["text"],
        tool=entry.get("tool", ""),
        arguments=entry.get("arguments", ""),
        counts=Counts(entry["kind"]),
        sources=tuple(
            Source(each["title"], each["url"] or "") for each in entry.get("sources", ())
        ),
        made=tuple(entry.get("handles", ())),
        link=entry.get("link", ""),
    )


@cache
def answers(source: str) -> tuple[Labelled, ...]:
    """Return the answers of a set, as their author wrote them."""
    given = yaml.safe_load((HERE / "answers" / f"{source}.yaml").read_text("utf-8"))
    return tuple(_labelled(each, source) for each in given)


def localised(source: str) -> list[Labelled]:
    """Return the English answers of a set with their numbers in the notations of other locales."""
    given = yaml.safe_load((HERE / "answers" / f"{source}.yaml").read_text("utf-8"))
    return [
        _labelled(_rewritten(each, locale), source, locale)
        for each in given
        if each["lang"] == "en" and each["style"] != "invented"
        for locale in LOCALES
    ]


def _rewritten(given: Any, locale: str) -> Any:
    if isinstance(given, dict):
        kept = ("id", "world", "sources", "style", "lang")
        return {k: v if k in kept else _rewritten(v, locale) for k, v in given.items()}
    if isinstance(given, list):
        return [_rewritten(each, locale) for each in given]
    if not isinstance(given, str):
        return given
    # Quotes stay as they are written in their source.
    parts = re.split(r"(“[^”]*”|`[^`]*`|https?://\S+)", given)
    return "".join(p if n % 2 else rewritten(p, locale) for n, p in enumerate(parts))


def _labelled(given: dict[str, Any], source: str, locale: str = "") -> Labelled:
    result: dict[str, Any] = {"summary": given["summary"], "key_points": given.get("points", [])}
    if "rows" in given:
        columns = [str(each) for each in given["columns"]]
        rows = [[str(cell) for cell in row] for row in given["rows"]]
        result["table"] = {"caption": "", "columns": columns, "rows": rows}
    result["sources"] = [
        {"title": title, "supports": supports, "quote": quote, "url": None}
        for title, supports, quote in given.get("sources", ())
    ]
    spans: list[Span] = []
    result = {name: _unmarked(value, name, spans) for name, value in result.items()}
    name = f"{given['id']}{f' {locale}' if locale else ''}"
    return Labelled(
        name, given["world"], source, given["style"], locale or given["lang"], result, tuple(spans)
    )


def _unmarked(value: Any, path: str, spans: list[Span]) -> Any:
    """Return a value without marks; add the spans that they marked."""
    if isinstance(value, dict):
        return {k: _unmarked(v, f"{path}.{k}", spans) for k, v in value.items()}
    if isinstance(value, list):
        return [_unmarked(each, f"{path}.{n}", spans) for n, each in enumerate(value)]
    if not isinstance(value, str):
        return value
    parts, at, out = [], 0, 0
    for found in _MARKED.finditer(value):
        parts.append(value[at : found.start()])
        out += found.start() - at
        words, label = (found["head"], _HEAD) if found["head"] else (found["wrong"], _WRONG)
        spans.append(Span(path, out, out + len(words), label))
        parts.append(words)
        out += len(words)
        at = found.end()
    return "".join([*parts, value[at:]])


def checked(result: dict[str, Any], name: str) -> Traced:
    """Trace an answer about a world."""
    return trace(fields_of(result), world(name))


def warned(traced: Traced) -> list[Finding]:
    """Return what a reader is warned of."""
    return [finding for finding in traced.items if finding.warned]


def warned_texts(result: dict[str, Any], name: str) -> set[tuple[str, str]]:
    """Return field and text of what a reader is warned of in an answer about a world."""
    return {(finding.field, finding.text) for finding in warned(checked(result, name))}


@dataclass
class Score:
    """What tracing answers gave. `claims` and `alarms` are of right claims, `found` those of them that
    were read or worked out; `wrong` are those that their author put in, `passed` those of them that
    were certified."""

    answers: int = 0
    with_alarm: int = 0
    claims: int = 0
    found: int = 0
    alarms: int = 0
    wrong: int = 0
    passed: int = 0


def score(labelled: Sequence[Labelled]) -> tuple[Score, list[tuple[Labelled, Finding]]]:
    """Return the score of answers, and their false alarms."""
    total, alarms = Score(answers=len(labelled)), []
    for answer in labelled:
        items = checked(answer.result, answer.world).items
        right = [item for item in items if answer.label_of(item) != _WRONG]
        wrong = [item for item in items if answer.label_of(item) == _WRONG]
        false = [item for item in right if item.warned]
        alarms += [(answer, item) for item in false]
        total.claims += len(right)
        total.found += sum(item.verdict in _CERTIFIED for item in right)
        total.alarms += len(false)
        total.with_alarm += bool(false)
        total.wrong += len(wrong)
        total.passed += sum(item.verdict in _CERTIFIED and not item.warned for item in wrong)
    return total, alarms
