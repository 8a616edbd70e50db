"""What admins do with answers that were rated bad: read, have drafted, try, accept, dismiss.

The permission is checked by code at each step, and so is whether the admin may read the channel.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from slack_sdk.errors import SlackApiError

from bot.core.audit import AuditEntry, AuditKind
from bot.core.errors import NotPermitted
from bot.core.lessons import Lesson, LessonState
from bot.core.request import Entry, Job, Request
from bot.runs.audit_trail import Record, refused
from bot.runs.lessons import TRY
from bot.runs.policy.access import Person
from bot.runs.watching import Submit
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.access_gate import AccessGate
from bot.slack.intake.home.admin import Admin
from bot.slack.intake.home.lesson_form import (
    INSTRUCTION,
    MUST_SAY,
    QUESTION,
    Proposal,
    field_error,
    has_channel,
    link_to,
    proposal_of,
    target_of,
)
from bot.slack.intake.home.lesson_list import SHOWN, LessonList
from bot.slack.ui import home_words
from bot.slack.ui.modals import FormErrors
from bot.store import LessonStore

_LOOKED_THROUGH = 100  # of the newest lessons, for those that are open


@dataclass(frozen=True, slots=True)
class LessonDesk:
    """The lessons of one workspace. Methods raise NotPermitted with a sentence for the person."""

    slack: Slack
    gate: AccessGate
    admin: Admin
    store: LessonStore
    submit: Submit
    record: Record

    async def listed(self, user: str) -> LessonList:
        """Return what the Home tab of an admin lists."""
        person = await self.gate.people.find(user)
        every = await self.store.latest(self.gate.team, _LOOKED_THROUGH)
        found = [each for each in every if each.state is LessonState.OPEN]
        shown = found[:SHOWN]
        may: dict[tuple[str, bool], bool] = {}
        for each in shown:
            place = each.channel, each.private
            may[place] = may[place] if place in may else await self._may_read(person, each)
        unseen = frozenset(each.name for each in shown if not may[each.channel, each.private])
        return LessonList(shown, unseen, len(found) - len(shown))

    async def read(self, user: str, name: str) -> Lesson:
        """Return a lesson that the admin may read."""
        try:
            person = await self.gate.admin(user)
        except NotPermitted:
            await self.record([refused(self.gate.team, user, "feedback")])
            raise
        lesson = await self.store.get(self.gate.team, name)
        if lesson is None:
            raise NotPermitted(home_words.LESSON_GONE())
        if not await self._may_read(person, lesson):
            raise NotPermitted(home_words.LESSON_UNSEEN())
        return lesson

    async def start(self, user: str, view: Mapping[str, Any], kind: str, key: str) -> Lesson:
        """Keep what the admin typed, and have a worker draft or try. `key` identifies the press.

        A case that cannot be tried is not: the lesson then has a problem.
        """
        lesson = await self._edited(user, view)
        if kind == TRY and not lesson.case.can_run:
            return lesson.model_copy(update={"problem": home_words.LESSON_NEEDS_CASE()})
        direct = await self.slack.clients.writes.conversations_open(users=user)
        person = await self.gate.people.find(user)
        request = Request(
            entry=Entry.JOB,
            team=self.gate.team,
            channel=str(direct["channel"]["id"]),
            thread=lesson.thread,
            ts=f"{time.time():.6f}",
            user=user,
            author=person.name,
            text="",
            locale=person.locale,
            time_zone=person.time_zone,
            job=Job(kind=kind, subject=lesson.name, view=str(view["id"])),
        )
        await self.submit(request, f"job:{key}")
        return lesson

    async def accept(self, user: str, view: Mapping[str, Any]) -> None:
        """Keep the case, and add the instruction to the channel's. Raises FormErrors."""
        proposal = proposal_of(view)
        case, instruction = proposal.case, proposal.instruction
        if (case.must_say or case.must_not_say) and not case.question:
            raise FormErrors(field_error(view, QUESTION, home_words.LESSON_NEEDS_CASE()))
        if not case.can_run and not instruction:
            raise FormErrors(field_error(view, MUST_SAY, home_words.LESSON_EMPTY()))
        lesson = await self._edited(user, view)
        if instruction and has_channel(lesson):
            try:
                await self.admin.add_instruction(user, lesson.channel, instruction)
            except ValidationError:
                sentence = home_words.LESSON_TOO_LONG()
                raise FormErrors(field_error(view, INSTRUCTION, sentence)) from None
        await self._record(user, "feedback accepted", lesson)
        state = {"state": LessonState.ACCEPTED}
        await self.store.change(
            lesson.team, lesson.name, lambda kept: kept.model_copy(update=state)
        )

    async def dismiss(self, user: str, view: Mapping[str, Any]) -> None:
        """Delete the lesson. The rating itself stays."""
        lesson = await self.read(user, target_of(view).lesson)
        await self._record(user, "feedback dismissed", lesson)
        await self.store.remove(lesson)

    def link(self, lesson: Lesson) -> str:
        """Return the address of the answer."""
        return link_to(lesson, self.slack.identity)

    async def _edited(self, user: str, view: Mapping[str, Any]) -> Lesson:
        """Keep what the admin typed, and return the lesson with it."""
        lesson = await self.read(user, target_of(view).lesson)
        proposal = proposal_of(view)

        def typed(kept: Lesson) -> Lesson:
            return kept.model_copy(update=_changes(kept, proposal))

        changed = await self.store.change(lesson.team, lesson.name, typed)
        if changed is None:
            raise NotPermitted(home_words.LESSON_GONE())
        return changed

    async def _may_read(self, person: Person, lesson: Lesson) -> bool:
        """Return whether the person may read the lesson: what is in private channels stays there.

        A private answer's lesson has only what its asker let admins read.
        """
        if lesson.private:
            return True
        try:
            channel = await self.slack.access.channel(lesson.channel)
            if channel is None:
                return False
            await self.slack.access.may_see(person, channel)
        except (NotPermitted, SlackApiError):
            return False
        return True

    async def _record(self, user: str, what: str, lesson: Lesson) -> None:
        """Record a decision in the audit log before it takes effect."""
        channel = "" if lesson.private else lesson.channel
        entry = AuditEntry(
            kind=AuditKind.ADMINISTERED,
            team=self.gate.team,
            who=user,
            channel=channel,
            run_id=lesson.run_id,
            what=what,
        )
        await self.record([entry])


def _changes(kept: Lesson, proposal: Proposal) -> dict[str, Any]:
    """Return the fields that the admin typed. A changed proposal discards the trial."""
    is_same = (kept.case, kept.instruction) == (proposal.case, proposal.instruction)
    changes: dict[str, Any] = {
        "problem": "",
        "case": proposal.case,
        "instruction": proposal.instruction,
    }
    return changes if is_same else changes | {"trial": None}
