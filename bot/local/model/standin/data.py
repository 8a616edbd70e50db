"""Questions about attached files: read, query, chart, share."""

from __future__ import annotations

import re

from . import documents, overviews, referring, sums, unheard, wording
from .analyses import fitting
from .answered import adds_nothing, goes_on_unanswered
from .asking import SHARE
from .charting import draw
from .columns import (
    column_listed,
    empty_among,
    missing,
    other_word,
    tell_missing,
    text_to_add_up,
)
from .conversation import Turn
from .exporting import (
    asks_for_a_file_only,
    last_result,
    name_of,
    share_if_asked,
    share_whole,
    without_form,
)
from .findings import Findings
from .following import follows_up, leans, tell_kept
from .outputs import (
    Table,
    parse_document,
    parse_tables,
    reason,
    sheet_of,
)
from .queries import query_of, with_seen_values
from .query import Query, understand
from .reading import read_for, read_on
from .shaping import describe, follow_ups, tell_sheets, tell_values
from .sql import Statement, quoted, write
from .telling import tell
from .view import View
from .words import content, has, overlap, stems
from .words import listed as listed_words

FILE_WORDS = r"files?|attach(?:ed|ment)s?|spreadsheets?|csv|xlsx|excel|pdf|document|(?:the|this|that|my|our) table|data|columns?"
SUMMARISE = r"summar\w+|tl;?dr|overview|describe|about|what(?:'s| is| does)|contain\w*"
SHEETS = r"(?:which|what|list|show|how many|all)(?: me| are| the| all)* (?:sheets|tabs|worksheets)"
SIMILAR = re.compile(
    r'column "([^"]+)" (?:not found|does not exist).*?Similar columns: ([^,.\n]+)', re.S
)
SECOND = re.compile(
    r",?\s+and (?:also |then )?(?P<asked>(?:by how|how|why|who|when|where|what stands|send|post)\b.*?)(?=,?\s+and (?:also |then )?(?:send|post)\b|$)",
    re.I | re.S,
)


def is_attached(view: View) -> bool:
    """Whether the message brings files along."""
    return bool(view.turn.files)


def is_spoken_of(view: View) -> bool:
    """Whether the conversation holds a file, or a table that a follow-up can go on with."""
    read = any(step.tool == "read_file" for step in view.earlier)
    return bool(view.files) or read or has(without_form(view.text), FILE_WORDS)


def answer(view: View, found: Findings) -> None:
    """Answer from the file or table the conversation is about."""
    referring.name_all(view)
    whole = view.text
    reading = None if overviews.told(view, found) else read_for(view, found)
    if reading is None:
        return
    from_reading(view, found, reading)
    overviews.tell_source(view, found)
    tell_second_questions(found, whole)
    if view.turn.files and sums.expressions(view.text):
        sums.answer(view, part := Findings())
        found.add(part)


def tell_second_questions(found: Findings, text: str) -> None:
    """Say what else was asked in the same breath, with buttons that ask it."""
    for left in SECOND.finditer(text):
        asked = left["asked"].strip(" ?.!")
        told = {*content(" ".join((found.summary, *found.points)))}
        if not found.columns and told.issuperset(content(asked)):
            continue  # the passages that are quoted tell it as well
        found.gaps.append(f"I do one thing at a time: “{asked}” comes next if you ask for it.")
        found.follow_ups.insert(0, f"{asked[0].upper()}{asked[1:]}{'' if '#' in asked else '?'}")


def from_reading(view: View, found: Findings, reading: str) -> None:
    """Answer from what a tool read: a document, or one or more tables."""
    document, listed = parse_document(reading), parse_tables(reading)
    if document:
        if share_whole(view, found, document):
            return
        documents.answer(view, found, document)
        found.gaps += re.findall(r"^note: (.+)$", reading, re.M)
        share_if_asked(view, found, None)
        return
    if not listed:
        found.summary = "The file could not be read."
        found.lower(reason(reading), "low")
        return
    view.turn.text = SECOND.sub("", view.text)
    table = max(listed, key=lambda each: _fits(view, each))
    query = query_of(view, table)
    lost = [] if view.turn.files else unheard.left(wording.in_full(view), table, query)
    if len(listed) > 1 and _is_of_the_whole(view, query, table) and not lost:
        tell_sheets(found, listed)
        return
    found.source(table.source, table.url, "The figures of this answer.")
    if len(listed) > 1 and not _is_named(view, table):
        others = listed_words([sheet_of(each) for each in listed if each is not table])
        found.gaps.append(f"I looked at the sheet {sheet_of(table)} only, and not at {others}.")
    _from_table(view, found, table, query, lost)
    if found.sources:
        follow_ups(found, table, query)


def _from_table(view: View, found: Findings, table: Table, query: Query, lost: list[str]) -> None:
    """Answer from one table; `lost` are the words that no rule takes up."""
    text = wording.understood(view.text, view.turn.day)
    text = text if query.silent else re.sub(r"\breports?\b", "", text, flags=re.I)
    is_fragment = follows_up(view.text) and not view.turn.files and not query.silent
    analysis = fitting(text, is_fragment=is_fragment, is_query=bool(query.groups))
    if lacking := missing(view.text, table):
        tell_missing(found, table, lacking)
    elif analysis:
        analysis(view, found, table)
        share_if_asked(view, found, last_result(view.turn) or table)
    elif column := column_listed(view.text, table):
        tell_values(found, table, column)
    elif (before := _analysed_before(view)) and _goes_on(text, table):
        _go_on_with_analysis(view, found, before)
    elif query.silent and not (
        view.turn.files or _is_named(view, table) or has(view.text, f"{SUMMARISE}|{FILE_WORDS}")
    ):
        found.sources.clear()
        found.puzzled(database=view.knows("list_databases"))
    elif query.silent and lost:
        unheard.tell_lost(found, table, lost)
    elif query.silent:
        describe(found, table)
        share_if_asked(view, found, table, called=name_of(table))
        if view.turn.files:
            unheard.tell(found, wording.in_full(view), table, query)
    else:
        _ask(view, found, table, query)


def _analysed_before(view: View) -> Turn | None:
    """The turn before, if it was answered by an analysis: its figures are of no query that changes."""
    if view.turn.files or not view.turns[1:]:
        return None
    before = view.turns[-2]
    text = wording.understood(before.text, before.day)
    leans = follows_up(text) and not before.files
    return before if fitting(text, is_fragment=leans, is_query=True) else None


def _goes_on(text: str, table: Table) -> bool:
    return has(text, SHARE) or leans(text, understand(text, table))


def _go_on_with_analysis(view: View, found: Findings, before: Turn) -> None:
    """Share what the analysis found out, if that is all that is asked."""
    result = last_result(before)
    if result and asks_for_a_file_only(view.text):
        found.summary = "This is the table that the answer above rests on."
        share_if_asked(
            view, found, result, called=(view.last_answer.get("table") or {}).get("caption") or ""
        )
        return
    found.summary = (
        f"My rules cannot tell how “{view.text.strip(' ?')}” goes on with the answer above. Ask it with all that it "
        "is about, please."
    )
    found.sources.clear()


def _fits(view: View, table: Table) -> float:
    words = stems(view.text)
    fitting = overlap(words, stems(" ".join(table.columns))) + overlap(words, stems(table.source))
    return fitting + 3 * _is_named(view, table)


def _is_named(view: View, table: Table) -> bool:
    """Whether the question names the table, or its sheet."""
    words = stems(sheet_of(table) or table.source)
    return bool(words) and overlap(stems(view.text), words) >= 1


def _is_of_the_whole(view: View, query: Query, table: Table) -> bool:
    """Whether a question about a workbook means all its sheets."""
    if has(view.text, SHEETS):
        return True
    return (
        query.silent
        and has(view.text, SUMMARISE)
        and not (sheet_of(table) and _is_named(view, table))
    )


def ask(view: View, found: Findings, table: Table) -> None:
    """Answer the question from one table. Raises Need."""
    _ask(view, found, table, query_of(view, table))


def _ask(view: View, found: Findings, table: Table, query: Query) -> None:
    if refused(view, found, table, query):
        return
    statement = write(query, table, of=quoted(table.handle))
    result = _run(view, found, table, statement, charted=query.chart is not None)
    if result is None:
        return
    result = read_on(view, found, result) if statement.labels else result
    tell(found, result, statement, query, table.source)
    present(view, found, result, table, statement, query)


def refused(view: View, found: Findings, table: Table, query: Query) -> bool:
    """Whether it cannot be worked out as it is asked, which is said."""
    if column := text_to_add_up(view.text, table):
        found.summary = f"`{column}` of {table.source} holds text rather than numbers, so I cannot work this out."
    elif len(view.turns) > 1 and (it := referring.left(view.text, several=_is_of_several(query))):
        found.summary = f"My rules cannot tell what “{it}” means here. Ask with its name, please."
        found.confidence = "low"
    elif lost := unheard.left(wording.in_full(view), table, query):
        unheard.tell_lost(found, table, lost)
    elif goes_on_unanswered(view, understand(wording.in_full(view), table), query):
        found.summary = (
            f"The question before was not answered, so my rules cannot tell what “{view.text.strip(' ?')}” goes on "
            "with. Ask it with all that it is about, please."
        )
        found.confidence = "low"
    elif empty := empty_among((*query.groups, query.measure, query.sort), table):
        found.summary = f"The column `{empty}` of {table.source} is empty, so I cannot tell."
        found.gaps += [note for note in table.notes if empty in note]
    return bool(found.summary)


def _is_of_several(query: Query) -> bool:
    return bool(query.groups or query.period or query.listing or query.filters)


def present(
    view: View, found: Findings, result: Table, table: Table, statement: Statement, query: Query
) -> None:
    """Say what was assumed; draw and share the result if that was asked for."""
    if statement.assumed:
        found.lower(statement.assumed)
    for group in query.groups:
        if word := other_word(view.text, group):
            found.lower(f"There is no “{word}” in it, so I took `{group}`.")
    if name := referring.no_longer(view, query.filters):
        found.points.append(f"This is of all, no longer of {name} alone.")
    tell_kept(found, wording.in_full(view), with_seen_values(view, table), query)
    if query.chart and statement.labels and result.rows:
        draw(view, found, result, statement, query)
    share_if_asked(view, found, result)
    unheard.tell_second(found, wording.in_full(view), table, query)
    own = understand(wording.in_full(view), with_seen_values(view, table))
    if adds_nothing(view, found, own):
        unheard.tell_nothing_new(found, view.text)


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
    found.lower(reason(output), "low")
    return None
