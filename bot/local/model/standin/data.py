"""Questions about attached files: read, query, chart, share."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

from .findings import Findings
from .outputs import (
    Document,
    Table,
    chart_handle,
    failed,
    parse_document,
    parse_tables,
)
from .passages import pages_of, quote_from, summarise
from .query import SHARE, Query, follows_up, understand_all
from .sql import Statement, quoted, write
from .telling import describe, follow_ups, tell
from .view import File, Missing, OutOfTurns, Turn, View
from .words import has, overlap, shortened, stems

FILE_WORDS = (
    r"files?|attach(?:ed|ment)s?|spreadsheets?|csv|xlsx|excel|pdf|document|table|data|columns?"
)
MOST_LABELS, MOST_SLICES, LONGEST_TITLE = 50, 12, 50
SUMMARISE = r"summar\w+|tl;?dr|overview|describe|about|what(?:'s| is| does)|contain\w*"
SIMILAR = re.compile(
    r'column "([^"]+)" (?:not found|does not exist).*?Similar columns: ([^,.\n]+)', re.S
)


def answer(view: View, found: Findings) -> None:
    """Answer from the file or table the conversation is about."""
    reading = _reading(view, found)
    if reading is not None:
        from_reading(view, found, reading)


def from_reading(view: View, found: Findings, reading: str) -> None:
    """Answer from what a tool read: a document, or one or more tables."""
    document, listed = parse_document(reading), parse_tables(reading)
    if document:
        _from_document(view, found, document)
        return
    if not listed:
        found.summary = "The file could not be read."
        found.lower(reading.split("\n", 1)[0], "low")
        return
    table = max(listed, key=lambda each: _fits(view, each))
    found.source(table.source, table.url, "The figures of this answer.")
    query = _query(view, table)
    if query.silent and not view.turn.files and not has(view.text, f"{SUMMARISE}|{FILE_WORDS}"):
        found.sources.clear()
        found.puzzled()
        return
    if query.silent:
        describe(found, table)
    else:
        _ask(view, found, table, query)
    follow_ups(found, table, query)


def speaks_of_data(view: View) -> bool:
    """Whether the conversation holds a file, or a table that a follow-up can go on with."""
    return bool(view.files) or any(parse_tables(step.output or "") for step in view.steps)


def _reading(view: View, found: Findings) -> str | None:
    """What reading the file gave; None when there is no file to read."""
    files = view.turn.files or view.files
    if not files:
        files = _files_of_thread(view)
    if not files:
        found.summary = "I see no file in this thread. Attach one and ask again."
        found.lower("No file is attached.", "low")
        return None
    file = max(files, key=lambda each: overlap(stems(view.text), stems(each.name)))
    output = view.do("read_file", f"I read {file.name} first.", file_id=file.id)
    if failed(output):
        found.summary = f"{file.name} could not be read."
        found.lower(output.split("\n", 1)[0], "low")
        return None
    return output


def _files_of_thread(view: View) -> list[File]:
    if not view.knows("read_thread"):
        return []
    output = view.do("read_thread", "The file may stand earlier in this thread.", limit=50)
    pairs = re.findall(r"([\w.\-]+\.\w{2,7}) \(?(?:file_id )?(F[A-Z0-9]{6,})\b", output)
    return [File(file_id, name.strip()) for name, file_id in reversed(pairs)]


def _fits(view: View, table: Table) -> float:
    words = stems(view.text)
    return overlap(words, stems(" ".join(table.columns))) + overlap(words, stems(table.source))


def _query(view: View, table: Table) -> Query:
    """The query of this turn; a follow-up changes the one before it."""
    known = _with_seen_values(view, table)
    query = understand_all([(turn.text, bool(turn.files)) for turn in view.turns], known)
    if has(view.text, "all|everything") and follows_up(view.text):
        query = replace(query, filters=())
    return query


def _with_seen_values(view: View, table: Table) -> Table:
    """The table, knowing also the values that earlier results showed."""
    rows = list(table.rows)
    for step in view.steps:
        for result in parse_tables(step.output or ""):
            for row in result.rows:
                cells = dict(zip(result.header, row, strict=False))
                rows.append([cells.get(column, "") for column in table.header])
    return replace(table, rows=rows)


def _ask(view: View, found: Findings, table: Table, query: Query) -> None:
    statement = write(query, table, of=quoted(table.handle))
    result = _run(view, found, table, statement, charted=query.chart is not None)
    if result is None:
        return
    tell(found, result, statement, query, table.source)
    present(view, found, result, statement, query)


def present(view: View, found: Findings, result: Table, statement: Statement, query: Query) -> None:
    """Say what was assumed; draw and share the result if that was asked for."""
    if statement.assumed:
        found.lower(statement.assumed)
    if query.chart and statement.labels and result.rows:
        _chart(view, found, result, statement, query)
    if has(view.text, SHARE):
        _share(view, found, result)


def _run(
    view: View, found: Findings, table: Table, statement: Statement, *, charted: bool
) -> Table | None:
    """The rows; after a refusal one corrected try, then an honest gap."""
    sql = statement.sql
    for _ in range(2):
        thought = f"Now I work out the {statement.what} with SQL."
        also = ("make_chart",) if charted else ()
        output = view.do(
            "query_table", thought, also=also, sql=sql, handles=[table.handle],
            purpose=statement.purpose,
        )  # fmt: skip
        results = parse_tables(output)
        if results:
            return results[0]
        wrong = SIMILAR.search(output)
        if wrong is None:
            break
        sql = sql.replace(f'"{wrong[1]}"', f'"{wrong[2].strip()}"')
    found.summary = "The query did not work, so there is no figure to give."
    found.lower(output.split("\n", 1)[0], "low")
    return None


def _chart(view: View, found: Findings, result: Table, statement: Statement, query: Query) -> None:
    kind = query.chart if query.chart != "auto" else "line" if query.period else "bar"
    most = MOST_SLICES if kind == "pie" else MOST_LABELS
    series = result.header[1] if len(statement.labels) > 1 else None
    title = found.caption or statement.what
    try:
        output = view.do(
            "make_chart",
            f"A {kind} chart shows this best.",
            handle=result.handle,
            kind=kind,
            title=shortened(title, LONGEST_TITLE),
            limit=None if series else most if result.total > most else None,
            label_column=result.header[0],
            series_column=series,
            value_columns=result.header[len(statement.labels) :],
        )
    except Missing:
        found.lower("There is no tool for charts here.")
        return
    except OutOfTurns:
        found.gaps.append("There was no turn left for the chart.")
        return
    handle = chart_handle(output)
    if handle:
        found.charts.append(handle)
    else:
        found.lower(f"The chart could not be made: {output.splitlines()[0]}")


_ENDINGS = {"xlsx": "xlsx|excel", "pdf": "pdf", "docx": "docx|word"}
"""What a file can be besides CSV, by the words that ask for it."""


def _report(found: Findings, result: Table) -> str:
    """What was found as Markdown, with the table and its charts by their handles."""
    points = "\n".join(f"- {each}" for each in found.points)
    figures = [f"![{found.caption}]({each})" for each in (result.handle, *found.charts)]
    named = "\n".join(f"- {source['title']}: {source['supports']}" for source in found.sources)
    title = f"# {found.caption or 'Result'}"
    return "\n\n".join([title, found.summary, points, *figures, "## Sources", named])


def _share(view: View, found: Findings, result: Table) -> None:
    ending = next((each for each, named in _ENDINGS.items() if has(view.text, named)), "csv")
    is_report = ending in {"pdf", "docx"}
    what: dict[str, Any] = (
        {"content": _report(found, result)} if is_report else {"handle": result.handle}
    )
    try:
        output = view.do(
            "share_file",
            "I save the result as a file and share it in the thread.",
            fresh=True,
            **what,
            name=f"result.{ending}",
            comment="The result as a file.",
        )
    except (Missing, OutOfTurns):
        found.lower("The result could not be shared as a file here.")
        return
    if failed(output):
        found.lower(f"The file was not shared: {output.splitlines()[0]}")
    else:
        found.points.append(f"Shared in this thread as `result.{ending}`.")


def _from_document(view: View, found: Findings, document: Document) -> None:
    """A text: its gist, or the passages that speak of what was asked."""
    asked = _last_real_question(view.turns)
    if has(asked, r"summar\w+|tl;?dr|overview|gist|key points|main points"):
        summarise(found, document.text, document.source)
    else:
        _quote(view, found, document, asked)
    pages = pages_of(document.text, "\n".join([found.summary, *found.points]))
    supports = f"The passages quoted{f', on page {pages}' if pages else ''}."
    if found.confidence == "low":
        supports = "What I looked through."
    found.source(document.source, document.url, supports)


def _quote(view: View, found: Findings, document: Document, asked: str) -> None:
    text = document.text
    wanted = _searched(asked)
    if wanted and view.knows("search_artifact"):
        pattern = "|".join(re.escape(word) for word in wanted)
        hits = view.do(
            "search_artifact", "I look for the words of the question.", handle=document.handle,
            pattern=pattern, limit=20,
        )  # fmt: skip
        text += "\n" + "\n".join(re.findall(r"^\d+: (.*)$", hits, re.M))
    quote_from(found, asked, text, document.source)


def _last_real_question(turns: list[Turn]) -> str:
    return next((turn.text for turn in reversed(turns) if turn.text), "")


def _searched(question: str) -> list[str]:
    quoted = re.findall(r"[\"“'‘]([^\"”'’]{2,60})[\"”'’]", question)
    named = re.findall(r"(?:search|look|find)\b.*?\bfor\s+([\w-]+)", question, re.IGNORECASE)
    return quoted or named
