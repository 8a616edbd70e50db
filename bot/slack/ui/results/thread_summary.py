"""Messages for `ThreadSummary`: the state of the thread, then what was decided and what is open."""

from __future__ import annotations

from bot.core.answers import Moment, ThreadSummary
from bot.core.outcome import Outcome
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_markdown, safe_text
from bot.slack.ui.parts import Piece, RenderedResult, joined
from bot.slack.ui.results.sections import listed, opening, points, sources, statements, titled
from bot.text.locales import day_and_time


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
            words.TIMELINE(), listed([_moment(each, gate, locale) for each in summary.timeline])
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
    known = [name for each in names if (name := safe_text(each, gate))]
    return joined([f"**{words.PARTICIPANTS()}** {', '.join(known)}"]) if known else []
