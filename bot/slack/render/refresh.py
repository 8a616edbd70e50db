"""The result of a refresh as a message.

Names and figures come from data: nothing in them is a link.
"""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.refresh import FigureChange, Refreshed
from bot.slack.incoming.text import one_line
from bot.slack.render import refresh_words as said
from bot.slack.render import words
from bot.slack.render.buttons import button
from bot.slack.render.parts import Block, Part, context, text_object
from bot.slack.render.times import local_time

POST, KEEP = "post_refresh", "keep_refreshed"
_MAX_LISTED, _MAX_NAME, _MAX_PERIODS = 20, 60, 6


def refresh_part(result: Refreshed, note: str = "") -> Part:
    """Return a result as a message. `note` is mrkdwn that says for whom it is posted."""
    if result.problem:
        section = {"type": "section", "text": text_object(result.problem)}
        return Part([section], result.problem)
    listed = "; ".join(_line(each) for each in result.changed[:3])
    return Part(_blocks(result, note), " ".join(filter(None, (_headline(result), listed))))


def _blocks(result: Refreshed, note: str) -> list[Block]:
    parts = [_paragraph(_headline(result)), *_listed([_line(each) for each in result.changed])]
    if result.unknown:
        lines = [words.LABELLED(label=_named(each), value=each.why) for each in result.unknown]
        parts += [_paragraph(said.NOT_READ(count=len(lines))), *_listed(lines)]
    times = {"now": result.at, "then": result.answered_at}
    shown = {name: local_time(int(each.timestamp())) for name, each in times.items()}
    notes = [note, said.AS_OF(**shown)]
    if result.periods:
        dates = ", ".join(result.periods[:_MAX_PERIODS])
        notes.append(said.PERIOD(dates=dates))
    if result.last_good and not result.is_good:
        when = local_time(int(result.last_good.timestamp()))
        notes.append(said.LAST_GOOD(when=when))
    return [
        {"type": "rich_text", "elements": parts},
        *(context(each).block for each in notes if each),
    ]


def refresh_buttons(result: Refreshed) -> list[Block]:
    """Return the row with which its person posts a result, or has it kept up to date."""
    if result.problem:
        return []
    options = [
        {"text": text_object(label()), "value": f"{result.run_id} {cron}"}
        for cron, label in said.OFTEN.items()
    ]
    keep = {
        "type": "static_select",
        "action_id": KEEP,
        "placeholder": text_object(said.KEEP()),
        "options": options,
    }
    return [{"type": "actions", "elements": [button(said.POST(), POST, result.run_id), keep]}]


def _headline(result: Refreshed) -> str:
    count, changed = len(result.figures), len(result.changed)
    if changed:
        return said.CHANGED(changed=changed, count=count)
    checked = count - len(result.unknown)
    return (said.SAME_BUT if result.unknown else said.UNCHANGED)(checked)


def _line(change: FigureChange) -> str:
    return f"{_named(change)} → {one_line(change.now, _MAX_NAME)}"


def _named(change: FigureChange) -> str:
    name = one_line(change.name, _MAX_NAME)
    return " ".join(filter(None, (name, one_line(change.before, _MAX_NAME))))


def _paragraph(text: str) -> Block:
    return {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}


def _listed(lines: Sequence[str]) -> list[Block]:
    """Return a list of at most twenty lines, and how many there are beyond these."""
    more = len(lines) - _MAX_LISTED
    shown = [*lines[:_MAX_LISTED], *([said.MORE(count=more)] if more > 0 else [])]
    items = [_paragraph(line) for line in shown]
    return [{"type": "rich_text_list", "style": "bullet", "elements": items}] if items else []
