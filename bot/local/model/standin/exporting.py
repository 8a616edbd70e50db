"""Results as files: CSV, a workbook, or a report with its charts."""

from __future__ import annotations

import re
from typing import Any

from .asking import SHARE
from .findings import Findings
from .outputs import Table, failed, parse_tables, reason
from .view import Missing, OutOfTurns, View
from .words import has

_ENDINGS = {"xlsx": "xlsx|excel", "pdf": "pdf", "docx": "docx|word"}
"""What a file can be besides CSV, by the words that ask for it."""


_FORM = re.compile(
    r"\b(?:to|as|into|in) (?:an? )?(?:excel|csv|xlsx|pdf|word|docx)"
    r"(?: (?:files?|documents?|spreadsheets?|sheets?|format))?\b",
    re.IGNORECASE,
)


def without_form(text: str) -> str:
    """What is asked without the words for the file that it is to become."""
    return _FORM.sub("", text)


def _report(found: Findings, result: Table) -> str:
    """What was found as Markdown, with the table and its charts by their handles."""
    points = "\n".join(f"- {each}" for each in found.points)
    figures = [f"![{found.caption}]({each})" for each in (result.handle, *found.charts)]
    named = "\n".join(f"- {source['title']}: {source['supports']}" for source in found.sources)
    title = f"# {found.caption or 'Result'}"
    return "\n\n".join([title, found.summary, points, *figures, "## Sources", named])


def last_result(view: View) -> Table | None:
    """What the last query of this turn gave."""
    queries = (step for step in reversed(view.turn.steps) if step.tool == "query_table")
    return next((table for step in queries for table in parse_tables(step.output or "")), None)


def share_if_asked(view: View, found: Findings, result: Table) -> None:
    """Share a whole result in the thread, as the file that was asked for."""
    if not has(view.text, SHARE):
        return
    ending = next((each for each, named in _ENDINGS.items() if has(view.text, named)), "csv")
    called = re.sub(r"[^\w -]+", "", found.caption).strip() or "result"
    name = f"{called}.{ending}"
    is_report = ending in {"pdf", "docx"} and bool(found.points or len(result.rows) < 2)
    what: dict[str, Any] = (
        {"content": _report(found, result)} if is_report else {"handle": result.handle}
    )
    try:
        output = view.do(
            "share_file",
            "I save the result as a file and share it in the thread.",
            fresh=True,
            **what,
            name=name,
            comment=f"{found.caption or 'The result'}, as a file.",
        )
    except (Missing, OutOfTurns):
        found.lower("The result could not be shared as a file here.")
        return
    if failed(output):
        found.lower(f"The file was not shared: {reason(output)}")
    else:
        rows = "its one row" if result.total == 1 else f"all {result.total:,} rows"
        found.points.append(f"Shared in this thread as `{name}`, with {rows}.")
