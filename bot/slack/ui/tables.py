"""Tables in Slack's own format; a table that is too large is cut and attached as CSV."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Sequence

from bot.core.answers import Table
from bot.library.documents.cells import without_formula
from bot.runs.results.result_markdown import headings
from bot.slack.edge.text import clean
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, rich, rich_text, shortened
from bot.slack.ui.links import Link, LinkGate
from bot.slack.ui.markdown import safe_text
from bot.slack.ui.parts import Piece, RenderedResult, Upload, written
from bot.text.locales import figures, in_cents, number
from bot.text.translation import reader_locale

MAX_ROWS, MAX_COLUMNS = 100, 20
"""Limits of Slack's `table` block, with the heading as a row (docs.slack.dev)."""
_MAX_CELL = 300
_MAX_SIZE = 6_000  # characters of all cells, which leaves room for the answer
_NUMBER = re.compile(r"[-+−]?[.,\s]*+\d[\d.,\s]*+(%|[A-Za-z$€£¥]{0,3})|[$€£¥]\s?[\d.,]+")


def table_pieces(
    table: Table, gate: LinkGate, locale: str, *, urls: Sequence[str | None] = ()
) -> RenderedResult:
    """Return the table, and a CSV with the original texts if the table is cut.

    The first cell of each row links to that row's entry of `urls` if the gate permits it.
    """
    rows = _padded([headings(table), *table.rows])
    if not rows or not rows[0]:
        return [], []
    heading = written(f"**{safe_text(table.caption, gate)}**") if table.caption.strip() else None
    visible = _cut_to_fit(rows)
    pieces = [heading] if heading else []
    pieces.append(_table(figures(in_cents(visible), locale), _permitted(urls, gate)))
    if visible == rows:
        return pieces, []
    name = f"{file_name(table.caption) or 'table'}.csv"
    note = words.TABLE_CUT(
        rows=number(len(rows) - 1, reader_locale()), columns=len(rows[0]), name=f"`{name}`"
    )
    return [*pieces, written(note)], [Upload(name, as_csv(rows))]


def as_csv(rows: list[list[str]]) -> bytes:
    """Return the rows as CSV. Cells that a spreadsheet would run as a formula become text."""
    out = io.StringIO()
    csv.writer(out).writerows([[_csv_cell(cell) for cell in row] for row in rows])
    return out.getvalue().encode("utf-8-sig", errors="replace")


def file_name(title: str) -> str:
    """Return a file name made from the title; "" if no character of it is usable."""
    return re.sub(r"[^\w-]+", "-", title.lower()).strip("-")[:60].strip("-")


def _padded(rows: list[list[str]]) -> list[list[str]]:
    width = max((len(row) for row in rows), default=0)
    return [[clean(cell) for cell in row] + [""] * (width - len(row)) for row in rows]


def _cut_to_fit(rows: list[list[str]]) -> list[list[str]]:
    narrow = [[shortened(cell, _MAX_CELL) for cell in row[:MAX_COLUMNS]] for row in rows]
    visible: list[list[str]] = []
    size = 0
    for row in narrow[:MAX_ROWS]:
        size += sum(map(len, row)) + len(row)
        if visible and size > _MAX_SIZE:
            break
        visible.append(row)
    return visible


def _permitted(urls: Sequence[str | None], gate: LinkGate) -> list[str]:
    """Return the addresses in the form in which they may be posted; "" for refused ones."""
    links = [next(gate.link(url or "", "link")) for url in urls]
    return [link.url if isinstance(link, Link) else "" for link in links]


def _table(rows: list[list[str]], urls: list[str]) -> Piece:
    cells = [[_cell(text) for text in row] for row in rows]
    for row, shown, url in zip(cells[1:], rows[1:], urls, strict=False):
        row[0] = _link_cell(shown[0], url) if url else row[0]
    settings = [
        {"align": "right" if _is_numeric(column) else "left", "is_wrapped": True}
        for column in zip(*rows[1:], strict=True)
    ] or [{"align": "left", "is_wrapped": True} for _ in rows[0]]
    block = {"type": "table", "rows": cells, "column_settings": settings}
    return Piece(block, _as_markdown(rows, urls))


def _is_numeric(column: tuple[str, ...]) -> bool:
    filled = [cell for cell in column if cell]
    return bool(filled) and all(_NUMBER.fullmatch(cell) for cell in filled)


def _cell(text: str) -> Block:
    return {"type": "raw_text", "text": text or "–"}


def _link_cell(text: str, url: str) -> Block:
    link = {"type": "link", "url": url, "text": text or "–"}
    return rich_text(rich("section", link))


def _as_markdown(rows: list[list[str]], urls: list[str]) -> str:
    head, *body = [[safe_text(cell, LinkGate()) for cell in row] for row in rows]
    for row, url in zip(body, urls, strict=False):
        row[0] = f"[{row[0]}]({url})" if url else row[0]
    rule = f"|{' --- |' * len(head)}"
    return "\n".join([_line(head), rule, *map(_line, body)])


def _line(cells: list[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _csv_cell(cell: str) -> str:
    return cell if _NUMBER.fullmatch(cell) else without_formula(cell)
