"""What is asked or posted by itself, as it stands in the Home tab: a line and a button for each."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.schedule import Schedule, cron_in_words
from bot.core.scheduled_message import ScheduledMessage
from bot.slack.home import home_words
from bot.slack.incoming.text import unescape
from bot.slack.render import words
from bot.slack.render.buttons import asking_first, named
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block, context, shortened
from bot.slack.render.times import local_time, universal_time

CANCEL, CANCEL_MESSAGE = "cancel_schedule", "cancel_message"
_MOST = 10  # that are listed for admins: a Home tab has 100 blocks
_MOST_MESSAGES = 8  # of one person
_LONGEST = 200  # characters of a text that a question names


def own_scheduled(
    schedules: Sequence[Schedule], messages: Sequence[ScheduledMessage]
) -> list[Block]:
    """A person's: what is asked later, and what is posted."""
    if not (schedules or messages):
        return []
    heading = {"type": "plain_text", "text": home_words.HOME_SCHEDULES}
    shown = messages[:_MOST_MESSAGES]
    more = home_words.MORE_TO_BE_POSTED.format(count=len(messages) - len(shown))
    return [
        {"type": "divider"},
        {"type": "header", "text": heading},
        *map(_own, schedules),
        *map(_message, shown),
        *([context(more).block] if len(messages) > len(shown) else []),
    ]


def all_schedules(schedules: Sequence[Schedule]) -> list[Block]:
    """Everybody's, for admins. Without their words: an admin need not be where they are asked."""
    if not schedules:
        return []
    shown = [_anybodys(each) for each in schedules[:_MOST]]
    more = home_words.HOME_NEXT_SCHEDULES.format(count=len(schedules), shown=len(shown))
    heading = more if len(schedules) > len(shown) else home_words.HOME_ALL_SCHEDULES
    return [_section(heading), *shown]


def _own(schedule: Schedule) -> Block:
    said = f"{words_of(schedule)}\n{_when(schedule)} {place_of(schedule.channel)}"
    sure = home_words.CANCEL_QUESTION.format(text=_beginning(schedule.text))
    cancel = _cancel(CANCEL, schedule.id, schedule.text, sure)
    return {**_section(said), "block_id": f"own-{schedule.id}", "accessory": cancel}


def _anybodys(schedule: Schedule) -> Block:
    said = f"<@{schedule.user}>\n{_when(schedule)} {place_of(schedule.channel)}"
    often = cron_in_words(schedule.cron) or f"for {universal_time(schedule.next_at)}"
    sure = home_words.CANCEL_QUESTION_OF.format(often=often)
    cancel = _cancel(CANCEL, schedule.id, often, sure)
    return {**_section(said), "block_id": f"all-{schedule.id}", "accessory": cancel}


def _message(message: ScheduledMessage) -> Block:
    """Its text is kept as mrkdwn, in which addresses stand as code: here they are found anew."""
    text = unescape(message.text).replace("`", "")
    when = home_words.TO_BE_POSTED.format(when=local_time(message.post_at))
    said = f"{_safe(text)}\n{when} {place_of(message.channel)}"
    sure = home_words.CANCEL_MESSAGE.format(text=_beginning(text))
    cancel = _cancel(CANCEL_MESSAGE, message.id, text, sure)
    return {**_section(said), "block_id": f"own-{message.id}", "accessory": cancel}


def _cancel(action: str, value: str, name: str, sure: str) -> Block:
    """`name` tells the button from the others for who does not see the line, `sure` is what it
    asks before it acts."""
    text = {"type": "plain_text", "text": home_words.CANCEL}
    button = {"type": "button", "action_id": action, "text": text, "value": value}
    answers = {"yes": home_words.CANCEL_IT, "no": home_words.KEEP_IT}
    return asking_first(named(button, name), home_words.CANCEL_TITLE, sure, **answers)


def words_of(schedule: Schedule) -> str:
    """What is asked, in mrkdwn in which no address can be clicked: a model may have worded it."""
    return _safe(schedule.text)


def place_of(channel: str) -> str:
    """Where it is asked or posted, in mrkdwn."""
    return words.IN_DIRECT if channel.startswith("D") else f"in <#{channel}>"


def _safe(text: str) -> str:
    return LinkGate().mrkdwn(shortened(text, 300))


def _beginning(text: str) -> str:
    return shortened(" ".join(text.split()), _LONGEST)


def _when(schedule: Schedule) -> str:
    """How often it comes by its owner's clocks, and its next time by the reader's."""
    soon = words.NEXT_TIME.format(when=local_time(schedule.next_at))
    if not schedule.cron:
        return soon
    return f"{cron_in_words(schedule.cron)} ({schedule.time_zone}), {soon}"


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
