"""Scheduled questions and messages in the Home tab: a line and a button for each."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.schedule import Schedule, often_of
from bot.features.schedules.message import ScheduledMessage
from bot.mcp.config import label_of
from bot.slack.edge.text import unescape
from bot.slack.ui import home_words, words
from bot.slack.ui.buttons import with_confirmation, with_label
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import Block, context, local_time, shortened, text_object, universal_time

CANCEL, CANCEL_MESSAGE = "cancel_schedule", "cancel_message"
_MAX_FOR_ADMINS = 10  # a Home tab has at most 100 blocks
_MAX_MESSAGES = 8  # per person
_MAX_QUOTE = 200  # characters of a text in a confirmation dialog


def own_scheduled(
    schedules: Sequence[Schedule], messages: Sequence[ScheduledMessage]
) -> list[Block]:
    """Return a person's scheduled questions and messages."""
    if not (schedules or messages):
        return []
    heading = text_object(home_words.HOME_SCHEDULES())
    shown = messages[:_MAX_MESSAGES]
    more = home_words.MORE_TO_BE_POSTED(count=len(messages) - len(shown))
    return [
        {"type": "divider"},
        {"type": "header", "text": heading},
        *map(_own, schedules),
        *map(_message, shown),
        *([context(more).block] if len(messages) > len(shown) else []),
    ]


def all_schedules(schedules: Sequence[Schedule]) -> list[Block]:
    """Return the schedules of all people, for admins.

    Without their text, because an admin may not be a member of the conversation.
    """
    if not schedules:
        return []
    shown = [_anyone(each) for each in schedules[:_MAX_FOR_ADMINS]]
    more = home_words.HOME_NEXT_SCHEDULES(count=len(schedules), shown=len(shown))
    heading = more if len(schedules) > len(shown) else home_words.HOME_ALL_SCHEDULES()
    return [_section(heading), *shown]


def _own(schedule: Schedule) -> Block:
    line = f"{words_of(schedule)}\n{_when(schedule)} {place_of(schedule.channel)}"
    question = home_words.CANCEL_QUESTION(text=_beginning(schedule.text))
    cancel = _cancel(CANCEL, schedule.id, schedule.text, question)
    return {**_section(line), "block_id": f"own-{schedule.id}", "accessory": cancel}


def _anyone(schedule: Schedule) -> Block:
    line = f"<@{schedule.user}>\n{_when(schedule)} {place_of(schedule.channel)}"
    often = often_of(schedule.cron) or words.ONCE_AT(when=universal_time(schedule.next_at))
    question = home_words.CANCEL_QUESTION_OF(often=often)
    cancel = _cancel(CANCEL, schedule.id, often, question)
    return {**_section(line), "block_id": f"all-{schedule.id}", "accessory": cancel}


def _message(message: ScheduledMessage) -> Block:
    """Return the line of a scheduled message.

    Its text is stored as mrkdwn with addresses as code; the gate finds the addresses again.
    """
    text = unescape(message.text).replace("`", "")
    when = home_words.TO_BE_POSTED(when=local_time(message.post_at))
    line = f"{_safe(text)}\n{when} {place_of(message.channel)}"
    question = home_words.CANCEL_MESSAGE(text=_beginning(text))
    cancel = _cancel(CANCEL_MESSAGE, message.id, text, question)
    return {**_section(line), "block_id": f"own-{message.id}", "accessory": cancel}


def _cancel(action: str, value: str, name: str, question: str) -> Block:
    """Return a Cancel button that asks for confirmation.

    `name` is the label for screen readers; `question` is the question of the confirmation dialog.
    """
    text = text_object(home_words.CANCEL())
    button = {"type": "button", "action_id": action, "text": text, "value": value}
    answers = {"yes": home_words.CANCEL_IT(), "no": home_words.KEEP_IT()}
    return with_confirmation(
        with_label(button, name), home_words.CANCEL_TITLE(), question, **answers
    )


def words_of(schedule: Schedule) -> str:
    """Return the question as mrkdwn without links, because a model may have written it."""
    return _safe(schedule.text)


def place_of(channel: str) -> str:
    """Return the place of a scheduled question or message as mrkdwn."""
    return words.IN_DIRECT() if channel.startswith("D") else words.IN_PLACE(channel=f"<#{channel}>")


def _safe(text: str) -> str:
    return LinkGate().mrkdwn(shortened(text, 300))


def _beginning(text: str) -> str:
    return shortened(" ".join(text.split()), _MAX_QUOTE)


def _when(schedule: Schedule) -> str:
    """Return the interval in its owner's time zone, and the next time in the reader's."""
    if schedule.waits_for:
        paused = words.SCHEDULE_PAUSED(server=label_of(schedule.waits_for))
        return f"{often_of(schedule.cron)} ({schedule.time_zone}), {paused}"
    next_time = words.NEXT_TIME(when=local_time(schedule.next_at))
    if not schedule.cron:
        return next_time
    return f"{often_of(schedule.cron)} ({schedule.time_zone}), {next_time}"


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
