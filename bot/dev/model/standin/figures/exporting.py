"""Results as files: CSV, a workbook, or a report with its charts."""

from __future__ import annotations

import re
from pathlib import PurePath
from typing import Any

from ..findings import Findings
from ..outputs import Document, Table, reason, sheet_of
from ..phrasing import IT, phrase
from ..view import Missing, OutOfTurns, View

REPORTS = ("pdf", "docx")
FORM = re.compile(
    r"\b(?:as|to|into|in)\s+(?:an?\s+)?(?P<kind>csv|excel|xlsx|pdf|word|docx)\b(?:\s+(?:file|document|report))?",
    re.IGNORECASE,
)
REPORT = re.compile(
    r"\b(?:make|create|write|give|generate)(?: me| us)? (?:an? )?(?P<kind>pdf|word|docx)(?: document| file| report)? (?:with|of|from) (?:an? )?(?=summary|it\b)",
    re.IGNORECASE,
)
"""A summary as a file, the file named first."""
WHOLE = phrase(
    rf"(?:(?:convert|export|save|share|send|make|turn|put|give)(?: me| us)? )?(?:{IT} )?{FORM.pattern}"
)
KINDS = {"excel": "xlsx", "word": "docx"}


def form_of(text: str) -> str:
    """The kind of file that an answer is to become, as "pdf"; "" where none is said."""
    found = FORM.search(text) or REPORT.search(text)
    kind = found["kind"].lower() if found else ""
    return KINDS.get(kind, kind)


def name_of(table: Table) -> str:
    """Of a whole file, or of a sheet of it."""
    return f"{PurePath(table.source.split(' · ')[0]).stem} {sheet_of(table)}".strip()


def share_whole(view: View, found: Findings, document: Document) -> bool:
    """Share all of a text where nothing but another form of it is asked for, as "convert this to pdf
    please"; else False."""
    if not WHOLE.fullmatch(view.text):
        return False
    found.summary = f"I take the text of {document.source}, without its pictures and layout."
    called = PurePath(document.source).stem
    _save(view, found, called, {"handle": document.handle}, form_of(view.text))
    return True


def share(
    view: View, found: Findings, result: Table | None, kind: str, *, called: str = ""
) -> None:
    """Share a whole result, or what was found in a text, in the thread as a file of that kind."""
    is_report = kind in REPORTS
    if result is None and not is_report:
        found.gaps.append(f"A text is no table, so there is no {kind} of it.")
        return
    if result and not result.rows:
        found.gaps.append("There are no rows to share.")
        return
    called = called or found.caption or _plain_name(found, result)
    what: dict[str, Any] = {"handle": result.handle} if result else {}
    if result is None or (is_report and (found.points or len(result.rows) < 2)):
        what = {"content": _report(view, found, result)}
    rows = f", with all {result.total:,} rows" if result and result.total > 1 else ""
    _save(view, found, called, what, kind, rows)


def _report(view: View, found: Findings, result: Table | None) -> str:
    """What was found as Markdown, with the table and its charts by their handles."""
    points = "\n".join(f"- {each}" for each in found.points)
    handles = [*([result.handle] if result else []), *(found.charts or _charts_before(view, found))]
    figures = [f"![{found.caption}]({each})" for each in handles]
    named = "\n".join(f"- {source['title']}: {source['supports']}" for source in found.sources)
    title = f"# {found.caption or _plain_name(found, result)}"
    return "\n\n".join([title, found.summary, points, *figures, "## Sources", named])


def _charts_before(view: View, found: Findings) -> list[str]:
    """Those that the answer before showed of the same."""
    last = view.last_answer
    is_same = bool(found.caption) and (last.get("table") or {}).get("caption") == found.caption
    return list(last.get("charts") or []) if is_same else []


def _plain_name(found: Findings, result: Table | None) -> str:
    """A name for what has no caption: its only figure, or the text that it is of."""
    if result:
        return " and ".join(result.header).replace("_", " ").capitalize() or "Result"
    return f"Summary of {PurePath(found.sources[0]['title']).stem}" if found.sources else "Summary"


def _save(
    view: View, found: Findings, called: str, what: dict[str, Any], kind: str, extent: str = ""
) -> None:
    plain = re.sub(r"[^\w-]+", " ", called).strip()
    name = f"{plain or 'Result'}.{kind}"
    try:
        output = view.do(
            "share_file",
            "I save the result as a file and share it in the thread.",
            fresh=True,
            **what,
            name=name,
            comment=f"{called}, as a file.",
        )
    except (Missing, OutOfTurns):
        found.lower("The result could not be shared as a file here.")
        return
    if output.startswith("shared:"):
        found.points.append(f"Shared in this thread as `{name}`{extent}.")
    else:
        found.lower(f"The file was not shared: {reason(output)}")
