"""Markdown of a result, for the terminal."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from bot.core.answers import (
    RESPONSE_TYPES,
    ActionItem,
    ActionItems,
    Answer,
    DraftReply,
    Notice,
    Result,
    Source,
    Statement,
    Table,
    ThreadSummary,
)
from bot.core.outcome import Outcome, SourcePlace

_MOST_WORDS = 25


@dataclass(frozen=True, slots=True)
class PlacedSource:
    """A source and a place in it.

    It has the address of the place, its name ("page 3", "row North"; "" if unknown), and up to 25
    words as a quote.
    """

    title: str
    url: str | None
    place: str
    supports: str
    quote: str


def placed(sources: Sequence[Source], outcome: Outcome) -> list[PlacedSource]:
    """Return the sources of a result with the places in them that readers are told."""
    return [
        _placed(source, outcome.trust.places.get(number)) for number, source in enumerate(sources)
    ]


def _placed(source: Source, place: SourcePlace | None) -> PlacedSource:
    url, name = (place.url or source.url, place.name) if place else (source.url, "")
    if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", source.title, re.IGNORECASE):
        # "contract.pdf, page 10"
        name = ""
    return PlacedSource(source.title, url, name, source.supports, _shortened(source.quote or ""))


def _shortened(quote: str) -> str:
    words = quote.split()
    cut = "…" if len(words) > _MOST_WORDS else ""
    return " ".join(words[:_MOST_WORDS]) + cut


def result_text(outcome: Outcome) -> str:
    """Return the result of `outcome` as Markdown, or as JSON if its type is not a response type."""
    model = RESPONSE_TYPES.get(outcome.response_type)
    if model is None:
        return json.dumps(outcome.result, indent=2, ensure_ascii=False)
    sections = SECTIONS[model](model.model_validate(outcome.result), outcome)
    return "\n\n".join(section for section in sections if section)


def _answer(answer: Answer, outcome: Outcome) -> list[str]:
    charts = [outcome.charts[handle].title for handle in answer.charts if handle in outcome.charts]
    return [
        answer.summary,
        _listed("", answer.key_points),
        _table(answer.table) if answer.table else "",
        *(f"Chart: {title}" for title in charts),
        _sources(answer.sources, outcome),
        _gaps(answer.gaps),
        _listed("Ask next:\n", answer.follow_ups),
    ]


def _thread_summary(summary: ThreadSummary, outcome: Outcome) -> list[str]:
    return [
        summary.about,
        _listed("Decided:\n", [_statement(statement) for statement in summary.decisions]),
        _listed("Still open:\n", [_statement(statement) for statement in summary.open_questions]),
        _listed("Timeline:\n", [f"{event.when} — {event.what}" for event in summary.timeline]),
        f"Participants: {', '.join(summary.participants)}" if summary.participants else "",
        _sources(summary.sources, outcome),
        _gaps(summary.gaps),
    ]


def _action_items(result: ActionItems, _outcome: Outcome) -> list[str]:
    items = _listed("", [_action(item) for item in result.items])
    return [result.summary, items, _gaps(result.gaps)]


def _draft_reply(reply: DraftReply, outcome: Outcome) -> list[str]:
    return [
        "\n".join(f"> {line}".rstrip() for line in reply.draft.splitlines()),
        _listed("Check before you post it:\n", reply.assumptions),
        f"Tone: {reply.tone}" if reply.tone else "",
        _sources(reply.sources, outcome),
        _gaps(reply.gaps),
    ]


SECTIONS: dict[type[Result], Callable[[Any, Outcome], list[str]]] = {
    Answer: _answer,
    Notice: _answer,
    ThreadSummary: _thread_summary,
    ActionItems: _action_items,
    DraftReply: _draft_reply,
}
"""The renderer of each response type for the terminal; Slack's are in `slack/ui/outcome.py`."""


def _listed(title: str, lines: list[str]) -> str:
    return title + "\n".join(f"- {line}" for line in lines) if lines else ""


def _gaps(gaps: list[str]) -> str:
    return _listed("Not found or left out:\n", gaps)


def _sources(sources: list[Source], outcome: Outcome) -> str:
    lines = [f"{n}. {_source(source)}" for n, source in enumerate(placed(sources, outcome), 1)]
    return "Sources:\n" + "\n".join(lines) if lines else ""


def _source(source: PlacedSource) -> str:
    place = f", {source.place}" if source.place else ""
    quote = f" “{source.quote}”" if source.quote else ""
    return f"{source.title}{place}{_address(source.url)}: {source.supports}{quote}"


def _statement(statement: Statement) -> str:
    return statement.text + _address(statement.url)


def _action(item: ActionItem) -> str:
    owner = item.owner or "nobody yet"
    return f"{item.task} — {owner}{f', {item.due}' if item.due else ''}{_address(item.url)}"


def _address(url: str | None) -> str:
    return f" <{url}>" if url else ""


def headings(table: Table) -> list[str]:
    """Return the headings of a table as people read them: `unit_price` is that of a column."""
    return [name.replace("_", " ") for name in table.columns]


def _table(table: Table) -> str:
    rows = [headings(table), ["---"] * len(table.columns), *table.rows]
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return f"{table.caption}\n\n" + "\n".join(lines)
