"""Markdown of a result, for the terminal."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from bot.core.answers import (
    RESPONSE_TYPES,
    ActionItem,
    ActionItems,
    Answer,
    DraftReply,
    Result,
    Source,
    Statement,
    Table,
    ThreadSummary,
)
from bot.core.outcome import Outcome
from bot.runs.results.source_places import PlacedSource, placed


def result_text(outcome: Outcome) -> str:
    """Return the result of `outcome` as Markdown, or as JSON if its type is not a response type."""
    model = RESPONSE_TYPES.get(outcome.response_type)
    if model is None:
        return json.dumps(outcome.result, indent=2, ensure_ascii=False)
    sections = SECTIONS[model](model.model_validate(outcome.result), outcome)
    return "\n\n".join(section for section in sections if section)


def _answer(answer: Answer, outcome: Outcome) -> list[str]:
    charts = [outcome.charts[each].title for each in answer.charts if each in outcome.charts]
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
        _listed("Decided:\n", [_statement(each) for each in summary.decisions]),
        _listed("Still open:\n", [_statement(each) for each in summary.open_questions]),
        _listed("Timeline:\n", [f"{each.when} — {each.what}" for each in summary.timeline]),
        f"Participants: {', '.join(summary.participants)}" if summary.participants else "",
        _sources(summary.sources, outcome),
        _gaps(summary.gaps),
    ]


def _action_items(found: ActionItems, _outcome: Outcome) -> list[str]:
    items = _listed("", [_action(item) for item in found.items])
    return [found.summary, items, _gaps(found.gaps)]


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
    return _listed("Sources:\n", [_source(each) for each in placed(sources, outcome)])


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


def _table(table: Table) -> str:
    rows = [table.columns, ["---"] * len(table.columns), *table.rows]
    lines = ("| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows)
    return f"{table.caption}\n\n" + "\n".join(lines)
