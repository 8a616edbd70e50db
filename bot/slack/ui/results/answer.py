"""Messages for `Answer`: the summary first, then what supports it."""

from __future__ import annotations

from dataclasses import replace

from bot.core.answers import Answer
from bot.core.outcome import Outcome
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import RenderedResult, Upload
from bot.slack.ui.results.charts import chart_pieces
from bot.slack.ui.results.sections import opening, points, sources, titled
from bot.slack.ui.results.tables import table_pieces
from bot.text.locales import written_as


def answer_pieces(answer: Answer, outcome: Outcome, gate: LinkGate, locale: str) -> RenderedResult:
    """Return the whole answer in reading order, and its files."""
    locale = written_as("\n".join([answer.summary, *answer.key_points]), locale)
    pieces = opening(answer.summary, gate, otherwise=words.NO_TEXT())
    pieces += points(answer.key_points, gate)
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
