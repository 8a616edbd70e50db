"""Kinds of results as Slack messages: one function for each, and the sections that they share."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from bot.core.answers import (
    ActionItem,
    ActionItems,
    Answer,
    DraftReply,
    Moment,
    Source,
    Statement,
    Table,
    ThreadSummary,
)
from bot.core.outcome import Outcome
from bot.runs.results.result_markdown import PlacedSource, placed
from bot.slack.ui import words
from bot.slack.ui.charts import chart_pieces
from bot.slack.ui.drafts import draft_block
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import code_fence, code_span, safe_markdown, safe_text
from bot.slack.ui.parts import (
    Piece,
    RenderedResult,
    Upload,
    joined,
    markdown_pieces,
    written,
)
from bot.slack.ui.tables import table_pieces
from bot.text.locales import day, day_and_time, number
from bot.text.source_marks import marks_rewritten
from bot.text.translation import reader_locale


def opening(markdown: str, gate: LinkGate, *, otherwise: str) -> list[Piece]:
    """Return the first text of a result, or `otherwise` if it is empty."""
    return markdown_pieces(markdown, gate) or markdown_pieces(otherwise, gate)


def points(texts: list[str], gate: LinkGate) -> list[Piece]:
    """Return a list of Markdown texts without the empty ones."""
    return listed([safe_markdown(text, gate) for text in texts])


def statements(texts: list[Statement], gate: LinkGate, *, label: str) -> list[Piece]:
    """Return a list of statements, each with a link named `label` to its message."""
    lines = []
    for statement in texts:
        text = safe_markdown(statement.text, gate)
        link = f" ({linked(label, statement.url, gate)})" if statement.url and text.strip() else ""
        lines.append(text + link)
    return listed(lines)


def sources(named: list[Source], outcome: Outcome, gate: LinkGate) -> list[Piece]:
    """Return a numbered list of sources with the place in each, what it supports, and its quote."""
    numbered = enumerate(placed(named, outcome), 1)
    lines = [_source(number, source, gate) for number, source in numbered]
    return joined(lines, between="\n")


def listed(safe: list[str]) -> list[Piece]:
    """Return a list of safe Markdown texts without the empty ones."""
    items = [_item("- ", text) for text in safe if text.strip()]
    return joined([item for item in items if item.strip("- \n")], between="\n")


def linked(title: str, url: str, gate: LinkGate) -> str:
    """Return the title as a link, or with its address as code if the gate refuses it."""
    label = title.replace("\\", "\\\\").replace("[", "\\[").replace("]", "\\]")
    return safe_markdown(f"[{label}](<{_angle_safe(url)}>)", gate).replace("\n", " ")


def titled(title: str, pieces: list[Piece]) -> list[Piece]:
    """Return the pieces under a title; nothing if there are none."""
    if not pieces:
        return []
    first = pieces[0]
    return [written(f"**{title}**\n\n{first.plain}"), *pieces[1:]]


def _source(number: int, source: PlacedSource, gate: LinkGate) -> str:
    title = " ".join(source.title.split()) or source.url or "?"
    name = linked(title, source.url, gate) if source.url else safe_text(title, gate)
    place = f", {safe_text(source.place, gate)}" if source.place else ""
    supports = safe_text(source.supports, gate)
    quote = f": “{safe_text(source.quote, gate)}”" if source.quote else ""
    return f"{number}. {name}{place}{f' — {supports}' if supports else ''}{quote}"


def _mark(number: int, named: list[PlacedSource], gate: LinkGate) -> str:
    """Return the mark of a source as Markdown, a link where one may be posted."""
    url = named[number - 1].url
    label = f"\\[{number}\\]"
    return f"[{label}](<{_angle_safe(url)}>)" if url and gate.permits(url) else label


def _item(mark: str, text: str) -> str:
    return mark + text.replace("\n", "\n" + " " * len(mark))


def _angle_safe(url: str) -> str:
    return "".join(url.split()).replace("<", "%3C").replace(">", "%3E").replace("\\", "%5C")


def answer_pieces(answer: Answer, outcome: Outcome, gate: LinkGate, locale: str) -> RenderedResult:
    """Return the whole answer in reading order, and its files."""
    named = placed(answer.sources, outcome)
    summary, *key_points = (
        marks_rewritten(text, len(named), lambda number: _mark(number, named, gate))
        for text in (answer.summary, *answer.key_points)
    )
    pieces = opening(summary, gate, otherwise=words.NO_TEXT())
    pieces += points(key_points, gate)
    uploads: list[Upload] = []
    if answer.table:
        more, files = table_pieces(answer.table, gate, locale)
        pieces, uploads = pieces + more, uploads + files
    for handle in dict.fromkeys(answer.charts):
        more, files = chart_pieces(outcome.charts.get(handle), gate, locale)
        pieces, uploads = pieces + more, uploads + files
    pieces += titled(words.GAPS(), points(answer.gaps, gate))
    pieces += titled(words.SOURCES(), sources(answer.sources, outcome, gate))
    return pieces, _with_unique_names(uploads)


def _with_unique_names(uploads: list[Upload]) -> list[Upload]:
    """Give each file of a message a unique name, by which a retry finds it in the thread."""
    seen: dict[str, int] = {}
    named = []
    for upload in uploads:
        seen[upload.name] = count = seen.get(upload.name, 0) + 1
        stem, dot, suffix = upload.name.rpartition(".")
        name = upload.name if count == 1 else f"{stem}-{count}{dot}{suffix}"
        named.append(replace(upload, name=name))
    return named


def summary_pieces(
    summary: ThreadSummary, outcome: Outcome, gate: LinkGate, locale: str
) -> RenderedResult:
    """Return the whole summary in reading order."""
    decided = statements(summary.decisions, gate, label=words.MESSAGE())
    asked = statements(summary.open_questions, gate, label=words.MESSAGE())
    pieces = [
        *opening(summary.about, gate, otherwise=words.NO_TEXT()),
        *titled(words.DECIDED(), decided),
        *titled(words.OPEN(), asked),
        *titled(
            words.TIMELINE(), listed([_moment(moment, gate, locale) for moment in summary.timeline])
        ),
        *_participants(summary.participants, gate),
        *titled(words.GAPS(), points(summary.gaps, gate)),
        *titled(words.SOURCES(), sources(summary.sources, outcome, gate)),
    ]
    return pieces, []


def _moment(moment: Moment, gate: LinkGate, locale: str) -> str:
    when = safe_text(day_and_time(moment.when, locale), gate)
    what = safe_markdown(moment.what, gate)
    return f"{when} — {what}" if when and what else when or what


def _participants(names: list[str], gate: LinkGate) -> list[Piece]:
    known = [name for participant in names if (name := safe_text(participant, gate))]
    return joined([f"**{words.PARTICIPANTS()}** {', '.join(known)}"]) if known else []


def action_pieces(
    found: ActionItems, _outcome: Outcome, gate: LinkGate, locale: str
) -> RenderedResult:
    """Return the items as a table in which each task links to the message it comes from."""
    pieces = opening(found.summary, gate, otherwise=words.NO_TEXT())
    items = [item for item in found.items if item.task.strip()]
    uploads: list[Upload] = []
    if items:
        urls = [item.url for item in items]
        rows, uploads = table_pieces(_table(items, locale), gate, locale, urls=urls)
        pieces += rows
    return [*pieces, *titled(words.GAPS(), points(found.gaps, gate))], uploads


def _table(items: list[ActionItem], locale: str) -> Table:
    rows = [[item.task, item.owner or "", day(item.due or "", locale)] for item in items]
    return Table(caption="", columns=[words.TASK(), words.OWNER(), words.DUE()], rows=rows)


def draft_pieces(
    reply: DraftReply, outcome: Outcome, gate: LinkGate, _locale: str
) -> RenderedResult:
    """Return the draft in a block to copy, then what to check in it and what it rests on."""
    pieces = [
        *(draft_block(reply.draft, gate) or opening("", gate, otherwise=words.NO_TEXT())),
        *titled(words.ASSUMPTIONS(), points([*reply.assumptions, *reply.gaps], gate)),
        *titled(words.SOURCES(), sources(reply.sources, outcome, gate)),
    ]
    return pieces, []


FILE = "result.json"
_MAX_CHARS = 2_800  # shown in full: one block
_PREVIEW_LINES = 12  # of a longer result


def data_pieces(result: dict[str, Any]) -> RenderedResult:
    """Return the result as a code block, or a preview of it and the whole as a file."""
    text = json.dumps(result, ensure_ascii=False, indent=2)
    if len(text) <= _MAX_CHARS:
        return [written(code_fence(text, "json"))], []
    preview = "\n".join(line[:150] for line in text.split("\n")[:_PREVIEW_LINES])
    note = words.DATA_IN_FILE(size=number(len(text), reader_locale()), name=code_span(FILE))
    upload = Upload(FILE, text.encode("utf-8", errors="replace"))
    return [written(note), written(code_fence(f"{preview}\n…", "json"))], [upload]
