"""The result of a refresh as a message.

Names and figures come from data: nothing in them is a link.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice

from bot.features.refresh import words as said
from bot.features.refresh.refreshed import FigureChange, Refreshed
from bot.slack.edge.text import one_line
from bot.slack.ui import words
from bot.slack.ui.blocks import (
    Block,
    actions,
    modal,
    notice_modal,
    option,
    plain_section,
    rich_text,
    section,
    static_select,
)
from bot.slack.ui.buttons import RETRY, message_button
from bot.slack.ui.parts import Part, context, local_time, unmarked

START, POST, KEEP = "refresh_answer", "post_refresh", "keep_refreshed"
"""Ids of actions."""

_MAX_LISTED, _MAX_NAME, _MAX_LINE, _MAX_PERIODS = 20, 60, 400, 6


def refresh_part(result: Refreshed, note: str = "") -> Part:
    """Return a result as a message. `note` is mrkdwn that says for whom it is posted."""
    if result.problem:
        return Part([plain_section(result.problem)], result.problem)
    listed = "; ".join(islice(_lines(result.changed), 3))
    return Part(_blocks(result, note), " ".join(filter(None, (_headline(result), listed))))


def _blocks(result: Refreshed, note: str) -> list[Block]:
    parts = [_paragraph(_headline(result)), *_listed([*_lines(result.changed)])]
    if result.unknown:
        lines = [
            words.LABELLED(label=_named(figure), value=figure.why) for figure in result.unknown
        ]
        parts += [_paragraph(said.NOT_READ(count=len(lines))), *_listed(lines)]
    if result.others:
        parts.append(_paragraph(said.OTHERS(result.others)))
    times = {"now": result.at, "then": result.answered_at}
    shown = {name: local_time(int(time.timestamp())) for name, time in times.items()}
    notes = [note, (said.AS_OF if result.changed else said.AS_OF_UNCHANGED)(**shown)]
    if result.periods:
        dates = ", ".join(result.periods[:_MAX_PERIODS])
        notes.append(said.PERIOD(dates=dates))
    if result.last_good and not result.is_good:
        when = local_time(int(result.last_good.timestamp()))
        notes.append(said.LAST_GOOD(when=when))
    return [
        rich_text(*parts),
        *(context(note).block for note in notes if note),
    ]


def refresh_buttons(result: Refreshed) -> list[Block]:
    """Return the row with which its person posts a result, or has it kept up to date."""
    if result.problem:
        return []
    options = [option(label(), f"{result.run_id} {cron}") for cron, label in said.OFTEN.items()]
    post = message_button(said.POST(), POST, result.run_id)
    return [actions(post, static_select(KEEP, said.KEEP(), options))]


def waiting_modal() -> Block:
    """Return the modal that is shown until there is a result."""
    return notice_modal(said.REFRESH(), said.WORKING())


def result_modal(result: Refreshed, channel: str) -> Block:
    """Return the modal with a result, whose buttons act in `channel`."""
    blocks = [*refresh_part(result).blocks, *refresh_buttons(result)]
    return modal(said.REFRESH(), blocks, close=words.CLOSE_ONLY(), metadata=channel)


def ended_part(request_id: str, person: str) -> Part:
    """Return the message that tells a person that their schedule has ended, with a button that asks the
    question again."""
    again = message_button(words.ASK_AGAIN(), RETRY, request_id)
    return Part([section(f"<@{person}> {said.ENDED()}"), actions(again)], said.ENDED())


def _headline(result: Refreshed) -> str:
    count, changed = result.count, result.changed_count
    if changed:
        return said.CHANGED(changed=changed, count=count)
    checked = count - len(result.unknown)
    return (said.SAME_BUT if result.unknown else said.UNCHANGED)(checked)


def _lines(changes: Sequence[FigureChange]) -> Iterator[str]:
    """Yield a line for each sentence in which figures have changed, and for each figure in none."""
    in_sentences = {change.claim for change in changes if change.sentence and change.claim}
    for sentence, group in groupby(changes, lambda change: change.sentence):
        if not sentence:
            named = [change for change in group if change.claim not in in_sentences]
            yield from (f"{_named(change)} → {_short(change.now)}" for change in named)
            continue
        line = sentence
        for start, change in sorted({change.start: change for change in group}.items())[::-1]:
            new = f"{_short(change.before)} → {_short(change.now)}"
            line = f"{line[:start]}{new}{line[start + len(change.before) :]}"
        yield one_line(unmarked(line), _MAX_LINE)


def _named(change: FigureChange) -> str:
    return " ".join(filter(None, (_short(change.name), _short(change.before))))


def _short(text: str) -> str:
    return one_line(text, _MAX_NAME)


def _paragraph(text: str) -> Block:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}


def _listed(lines: Sequence[str]) -> list[Block]:
    """Return a list of at most twenty lines, and how many there are beyond these."""
    more = len(lines) - _MAX_LISTED
    listed = [*lines[:_MAX_LISTED], *([said.MORE(count=more)] if more > 0 else [])]
    items = [_paragraph(line) for line in listed]
    return [{"type": "rich_text_list", "style": "bullet", "elements": items}] if items else []
