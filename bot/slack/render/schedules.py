"""What is asked by itself, as it stands in the Home tab: a line and a button for each."""

from __future__ import annotations

from collections.abc import Sequence

from bot.core.schedule import Schedule, cron_in_words
from bot.slack.render import words
from bot.slack.render.buttons import MAX_LABEL
from bot.slack.render.links import LinkGate
from bot.slack.render.parts import Block, shortened
from bot.slack.render.times import local_time

CANCEL = "cancel_schedule"
_MOST = 15  # that are listed for admins: a Home tab has 100 blocks


def own_schedules(schedules: Sequence[Schedule]) -> list[Block]:
    """A person's."""
    if not schedules:
        return []
    heading = {"type": "plain_text", "text": words.HOME_SCHEDULES}
    lines = [_listed("own", each, words_of(each), each.text) for each in schedules]
    return [{"type": "divider"}, {"type": "header", "text": heading}, *lines]


def all_schedules(schedules: Sequence[Schedule]) -> list[Block]:
    """Everybody's, for admins. Without their words: an admin need not be where they are asked."""
    if not schedules:
        return []
    shown = [
        _listed("all", each, f"<@{each.user}>", cron_in_words(each.cron) or each.id)
        for each in schedules[:_MOST]
    ]
    more = words.HOME_NEXT_SCHEDULES.format(count=len(schedules), shown=len(shown))
    heading = more if len(schedules) > len(shown) else words.HOME_ALL_SCHEDULES
    return [_section(heading), *shown]


def _listed(where: str, schedule: Schedule, text: str, name: str) -> Block:
    """`name` tells its button from the others for who does not see the line."""
    cancel = {
        "type": "button",
        "action_id": CANCEL,
        "text": {"type": "plain_text", "text": words.CANCEL_SCHEDULE},
        "accessibility_label": shortened(f"{words.CANCEL_SCHEDULE}: {name}", MAX_LABEL),
        "value": schedule.id,
    }
    said = f"{text}\n{_when(schedule)} {place_of(schedule)}"
    return {**_section(said), "block_id": f"{where}-{schedule.id}", "accessory": cancel}


def words_of(schedule: Schedule) -> str:
    """What is asked, in mrkdwn in which no address can be clicked: a model may have worded it."""
    return LinkGate().mrkdwn(shortened(schedule.text, 300))


def place_of(schedule: Schedule) -> str:
    """Where it is asked, in mrkdwn."""
    direct = schedule.channel.startswith("D")
    return words.IN_DIRECT if direct else f"in <#{schedule.channel}>"


def _when(schedule: Schedule) -> str:
    """How often it comes by its owner's clocks, and its next time by the reader's."""
    soon = words.NEXT_TIME.format(when=local_time(schedule.next_at))
    if not schedule.cron:
        return soon
    return f"{cron_in_words(schedule.cron)} ({schedule.time_zone}), {soon}"


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}
