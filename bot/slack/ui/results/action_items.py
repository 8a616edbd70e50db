"""Messages for `ActionItems`: a sentence, then a table of who does what by when."""

from __future__ import annotations

from bot.core.answers import ActionItem, ActionItems, Table
from bot.core.outcome import Outcome
from bot.slack.ui import words
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import RenderedResult, Upload
from bot.slack.ui.results.sections import opening, points, titled
from bot.slack.ui.results.tables import table_pieces
from bot.text.locales import day


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
