"""Answers that were rated bad, in the Home tab of admins: a line and a button for each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.lessons import Lesson
from bot.slack.edge.text import one_line
from bot.slack.intake.home.lesson_form import trial_line
from bot.slack.ui import home_words
from bot.slack.ui.buttons import with_label
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Block, context, text_object
from bot.slack.ui.schedules import place_of

LESSON = "open_lesson"
SHOWN = 5  # a Home tab has at most 100 blocks
_MAX_COMMENT = 200  # characters


@dataclass(frozen=True, slots=True)
class LessonList:
    """The newest open lessons for one admin; `more` are not listed.

    `unseen` are the names of those in private channels that the admin is not in.
    """

    lessons: Sequence[Lesson] = ()
    unseen: frozenset[str] = frozenset()
    more: int = 0


def lesson_blocks(found: LessonList) -> list[Block]:
    """Return the list; empty without lessons."""
    if not found.lessons:
        return []
    more = home_words.HOME_MORE_LESSONS(count=found.more)
    return [
        _section(home_words.HOME_LESSONS()),
        *(_unseen(each) if each.name in found.unseen else _line(each) for each in found.lessons),
        *([context(more).block] if found.more else []),
    ]


def _line(lesson: Lesson) -> Block:
    person, comment = next(reversed([*lesson.comments.items()]), ("", ""))
    shown = one_line(comment, _MAX_COMMENT)
    text = home_words.LESSON_LINE.format(
        comment=LinkGate().mrkdwn(shown), person=person, place=place_of(lesson.channel)
    )
    tried = f"\n{trial_line(lesson.trial)}" if lesson.trial else ""
    button = {
        "type": "button",
        "action_id": LESSON,
        "text": text_object(home_words.LESSON_OPEN()),
        "value": lesson.name,
    }
    accessory = with_label(button, shown)
    return {**_section(text + tried), "block_id": lesson.id, "accessory": accessory}


def _unseen(lesson: Lesson) -> Block:
    return {**_section(home_words.LESSON_UNSEEN()), "block_id": lesson.id}


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
