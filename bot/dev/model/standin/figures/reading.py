"""Reads the file that a question is about, and the rest of a long result."""

from __future__ import annotations

from dataclasses import replace

from ..findings import Findings
from ..outputs import Table, failed, page_of_rows, unreadable
from ..texts import images
from ..view import Missing, OutOfTurns, View
from .choosing import meant, of_thread

MOST_READ = 1000


def read_for(view: View, found: Findings) -> str | None:
    """What reading the file gave; None when there is no file to read."""
    files = view.turn.files or view.files
    if not files:
        files = of_thread(view)
    if not files:
        found.summary = "I see no file in this thread. Attach one and ask again."
        found.confidence = "low"
        return None
    file = meant(view.text, files)
    if images.IMAGE.search(file.name):
        images.tell(found, [file])
        return None
    output = view.do("read_file", f"I read {file.name} first.", file_id=file.id)
    if failed(output):
        found.summary = unreadable(file.name, output)
        return None
    return output


def read_on(view: View, found: Findings, result: Table) -> Table:
    """A result with the rows that were not shown at once; says so if some stay unread."""
    rows = list(result.rows)
    while len(rows) < min(result.total, MOST_READ):
        try:
            output = view.do(
                "read_artifact", "I read the rest of the rows.", handle=result.handle,
                offset=len(rows), limit=MOST_READ,
            )  # fmt: skip
        except (Missing, OutOfTurns):
            break
        page = page_of_rows(output)
        if not page:
            break
        rows += page
    if len(rows) < result.total:
        found.lower(f"I read {len(rows):,} of the {result.total:,} rows that came of this.")
    return replace(result, rows=rows)
