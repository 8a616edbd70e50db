"""Scheduled questions, reminders and messages in Slack: in the Home tab, and when they are due."""

from __future__ import annotations

import logging
import time
from collections.abc import Sequence
from datetime import UTC, datetime

from slack_sdk.errors import SlackApiError
from typing_extensions import override

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import NotPermitted, SlackUnavailable
from bot.core.request import Entry
from bot.core.schedule import Schedule, often_of
from bot.features.schedules import words
from bot.features.schedules.message import ScheduledMessage
from bot.features.schedules.message_store import ScheduledMessageStore
from bot.features.schedules.waiting import WaitingMessages
from bot.mcp.config import label_of
from bot.runs.audit_trail import refused
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.text import unescape
from bot.slack.intake.press import Press
from bot.slack.intake.questions import Question
from bot.slack.intake.schedules import WorkspaceSchedules, place_of, text_of, words_of
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui import words as ui_words
from bot.slack.ui.blocks import (
    Block,
    button,
    divider,
    header,
    notice_modal,
    rich,
    rich_text,
    section,
    shortened,
    text_element,
    with_confirmation,
    with_label,
)
from bot.slack.ui.links import LinkGate
from bot.slack.ui.parts import context, local_time, universal_time
from bot.text.languages import locale_for
from bot.text.translation import load_catalogue, reader, reader_locale

log = logging.getLogger(__name__)

CANCEL, CANCEL_MESSAGE = "cancel_schedule", "cancel_message"
_LATE_SECONDS = 600
_MAX_FOR_ADMINS = 10  # a Home tab has at most 100 blocks
_MAX_MESSAGES = 8  # per person
_MAX_QUOTE = 200  # characters of a text in a confirmation dialog


class SchedulesInSlack(SlackPart):
    """The schedules and scheduled messages of one workspace."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._schedules = WorkspaceSchedules(app.team, app.stores.schedules, app.clients)
        store = ScheduledMessageStore.of(app.stores)
        self._messages = WaitingMessages(app.team, app.clients, store)

    @override
    async def account_connected(self, user: str, server: str) -> None:
        await self._schedules.connected(user, server)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(CANCEL)(self._cancel)
        app.button(CANCEL_MESSAGE)(self._cancel_message)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        schedules = await self._schedules.of(viewer.user)
        return own_scheduled(schedules, await self._messages.of(viewer.user))

    @override
    async def admin_home(self, user: str) -> Sequence[Block]:
        return all_schedules(await self._schedules.all())

    @override
    async def take_due(self, schedule: Schedule) -> bool:
        """Ask the question of a schedule, or remind. The key has the time, so that it comes once."""
        if schedule.refresh:
            return False
        key = f"schedule:{schedule.id}:{schedule.next_at}"
        due = datetime.fromtimestamp(schedule.next_at, UTC)
        if schedule.remind or not schedule.thread:
            await self._check_owner(schedule)
        if schedule.remind:
            is_late = time.time() - schedule.next_at > _LATE_SECONDS
            locale = locale_for((schedule.text,), reader=reader_locale())
            await load_catalogue(locale)
            with reader(locale):
                text, blocks = reminder(schedule, is_late=is_late)
            thread = schedule.thread or None
            await self._app.questions.post_once(
                key, schedule.channel, thread, text, blocks, since=due
            )
            return True
        question = Question(
            entry=Entry.SCHEDULE,
            user=schedule.user,
            channel=schedule.channel,
            thread=schedule.thread or None,
            text=schedule.text,
            schedule=schedule.id,
            scheduled=schedule.made,
            due=due,
            suggested=schedule.suggested,
            key=key,
        )
        await self._app.questions.ask(question)
        return True

    async def _check_owner(self, schedule: Schedule) -> None:
        """Raise NotPermitted unless the owner may ask in the channel now, and is in it."""
        app, user, channel = self._app, schedule.user, schedule.channel
        await app.people.find_now(user)
        await app.questions.permitted(user, channel)
        if not (channel.startswith("D") or await app.access.is_member(user, channel)):
            raise NotPermitted(ui_words.NOT_YOUR_CHANNEL())

    async def _cancel(self, press: Press) -> None:
        try:
            if not await self._schedules.cancel(press.user, press.value):
                await self._cancel_for_admin(press.user, press.value)
        finally:
            self._app.refresh_home(press.user)

    async def _cancel_for_admin(self, user: str, schedule_id: str) -> None:
        """Cancel a schedule of anybody in the workspace and tell its owner."""
        app, what = self._app, "cancelled a schedule"
        try:
            admin = await app.gate.admin(user)
        except NotPermitted:
            await app.record([refused(app.team, user, what)])
            raise
        for schedule in await self._schedules.all():
            if schedule.id == schedule_id:
                entry = AuditEntry(
                    kind=AuditKind.ADMINISTERED,
                    team=app.team,
                    who=admin.id,
                    channel=schedule.channel,
                    what=what,
                )
                await app.record([entry])  # first: never a change without an entry
                with reader(await app.people.locale(schedule.user)):
                    why = words.SCHEDULE_CANCELLED(person=admin.id)
                    await self._schedules.stop(schedule, why, again=False)

    async def _cancel_message(self, press: Press) -> None:
        why = ""
        try:
            if not await self._messages.cancel_by_id(press.user, press.value):
                why = words.MESSAGE_GONE()
        except (SlackApiError, SlackUnavailable, *TRANSPORT_ERRORS):
            log.warning("A message that waits to be posted was not cancelled", exc_info=True)
            why = words.MESSAGE_PERHAPS()
        if why:
            await press.open(notice_modal(words.NOT_CANCELLED(), why))
        self._app.refresh_home(press.user)


def reminder(schedule: Schedule, *, is_late: bool) -> tuple[str, list[Block]]:
    """Return a reminder as the text of its notification and its blocks.

    It calls its owner, and nothing in its text becomes a link, a mention or a format.
    """
    is_for_all = not (schedule.thread or schedule.channel.startswith("D"))
    how = words.REMINDER_FROM if is_for_all else words.REMINDER
    before, _, after = how(person="\n").partition("\n")
    who: Block = {"type": "user", "user_id": schedule.user}
    block = rich_text(
        rich(
            "section",
            {"type": "emoji", "name": "alarm_clock"},
            text_element(f" {before}"),
            who,
            *([text_element(after)] if after else []),
        ),
        rich("quote", text_element(LinkGate().plain(schedule.text))),
    )
    late = context(words.REMINDER_LATE(when=local_time(schedule.next_at)))
    notice = f":alarm_clock: {how(person=f'<@{schedule.user}>')}: {words_of(schedule)}"
    return notice, [block, *([late.block] if is_late else [])]


def own_scheduled(
    schedules: Sequence[Schedule], messages: Sequence[ScheduledMessage]
) -> list[Block]:
    """Return a person's scheduled questions and messages."""
    if not (schedules or messages):
        return []
    shown = messages[:_MAX_MESSAGES]
    more = words.MORE_TO_BE_POSTED(count=len(messages) - len(shown))
    return [
        divider(),
        header(words.HOME_SCHEDULES()),
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
    shown = [_anyone(schedule) for schedule in schedules[:_MAX_FOR_ADMINS]]
    more = words.HOME_NEXT_SCHEDULES(count=len(schedules), shown=len(shown))
    heading = more if len(schedules) > len(shown) else words.HOME_ALL_SCHEDULES()
    return [section(heading), *shown]


def _own(schedule: Schedule) -> Block:
    kind = ":alarm_clock: " if schedule.remind else ""
    line = f"{kind}{words_of(schedule)}\n{_when(schedule)} {place_of(schedule.channel)}"
    question = words.CANCEL_QUESTION(text=_beginning(text_of(schedule)))
    cancel = _cancel(CANCEL, schedule.id, text_of(schedule), question)
    return section(line, cancel, block_id=f"own-{schedule.id}")


def _anyone(schedule: Schedule) -> Block:
    line = f"<@{schedule.user}>\n{_when(schedule)} {place_of(schedule.channel)}"
    often = often_of(schedule.cron) or words.ONCE_AT(when=universal_time(schedule.next_at))
    question = words.CANCEL_QUESTION_OF(often=often)
    cancel = _cancel(CANCEL, schedule.id, often, question)
    return section(line, cancel, block_id=f"all-{schedule.id}")


def _message(message: ScheduledMessage) -> Block:
    """Return the line of a scheduled message.

    Its text is stored as mrkdwn with addresses as code; the gate finds the addresses again.
    """
    text = unescape(message.text).replace("`", "")
    when = words.TO_BE_POSTED(when=local_time(message.post_at))
    line = f"{LinkGate().mrkdwn(shortened(text, 300))}\n{when} {place_of(message.channel)}"
    question = words.CANCEL_MESSAGE(text=_beginning(text))
    cancel = _cancel(CANCEL_MESSAGE, message.id, text, question)
    return section(line, cancel, block_id=f"own-{message.id}")


def _cancel(action: str, value: str, name: str, question: str) -> Block:
    """Return a Cancel button that asks for confirmation.

    `name` is the label for screen readers; `question` is the question of the confirmation dialog.
    """
    cancel = with_label(button(words.CANCEL(), action, value), name)
    answers = {"yes": words.CANCEL_IT(), "no": words.KEEP_IT()}
    return with_confirmation(cancel, words.CANCEL_TITLE(), question, **answers)


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
