"""Kinds of approvals: how the card looks, who sees it, what its buttons do, what a terminal asks.

A run waits for the approval of a call, or for what a feature asks: a `WaitKind` of it says how
(`Feature.waits`). Posting, deciding, expiry and recovery are the same for all.
"""

from __future__ import annotations

import logging
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.approvals import CALL, Approval, ApprovalRecord, Decision, Verdict
from bot.core.errors import BotError
from bot.slack.ui import approval_words, buttons, words
from bot.slack.ui.approval import approval_part, people
from bot.slack.ui.arguments import CanvasLink
from bot.slack.ui.blocks import section
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.parts import Part
from bot.slack.ui.progress import Progress, Step, StepStatus, plan
from bot.text.invisible_text import escaped
from bot.text.redaction import redacted
from bot.text.translation import Text

log = logging.getLogger(__name__)

TypedLine = Callable[[str], Awaitable[str]]
"""Writes a prompt to the terminal, and returns the line that is typed."""

IN_DIRECT = (approval_words.YES_TYPED_DIRECT, approval_words.WAITS_FOR_YOUR_PRESS)
"""The hints of a kind whose cards are for the asker alone."""


async def deny(approval: Approval, _typed_line: TypedLine) -> Decision:
    """Say that it cannot be asked at a terminal, and deny it."""
    sys.stderr.write(f"\n{escaped(approval.title)}: not possible in a terminal.\n")
    return Decision(verdict=Verdict.DENIED, by=approval.requester)


@dataclass(frozen=True, slots=True)
class WaitKind:
    """One kind of what runs wait for, as people see it.

    - `draw`: the card in Slack, open or decided.
    - `verdicts`: the verdict of each button that decides, by its action id.
    - `waiting`: what the run's message says meanwhile, given the approval and the asker's name.
    - `answer`: what a button that decides fills in for the person, if anything. Raises
      MalformedPayload for a button that the card does not have.
    - `in_thread`: whether everybody in the thread may see the card; if not, only the asker does.
    - `members_only`: whether only full members of the workspace may decide.
    - `hints`: replies to a person who types "yes" in place of a press, and to one whose question
      waits behind a decision of their own.
    - `typed`: asks the person at a terminal, and returns their decision.
    """

    draw: Callable[[ApprovalRecord], Awaitable[Part]]
    verdicts: Mapping[str, Verdict]
    waiting: Callable[[Approval, str], str]
    answer: Callable[[Approval, str], dict[str, Any] | None] = lambda _approval, _action: None
    in_thread: bool = False
    members_only: bool = False
    hints: tuple[Text, Text] = IN_DIRECT
    typed: Callable[[Approval, TypedLine], Awaitable[Decision]] = deny


async def _draw_switched_off(_record: ApprovalRecord) -> Part:
    said = words.SWITCHED_OFF()
    return Part([section(said)], said)


_SWITCHED_OFF = WaitKind(
    draw=_draw_switched_off,
    verdicts={},
    waiting=lambda _approval, _asker: words.SWITCHED_OFF(),
    hints=(words.SWITCHED_OFF, words.SWITCHED_OFF),
)
"""The kind of a feature that has been switched off since it asked."""


def _waiting(approval: Approval, asker: str) -> str:
    """Return whom an approval waits for: by name if that is the asker alone."""
    is_theirs = approval.approvers == (approval.requester,)
    return approval_words.PARKED(person=asker) if is_theirs else approval_words.PARKED_FOR_OTHERS()


class WaitKinds:
    """All kinds in one workspace: the approval of calls, and the `waits` of features by their names."""

    def __init__(self, canvas_link: CanvasLink, waits: Mapping[str, WaitKind]) -> None:
        async def draw_call(record: ApprovalRecord) -> Part:
            return approval_part(record, canvas_link)

        call = WaitKind(
            draw=draw_call,
            verdicts={
                buttons.APPROVE: Verdict.APPROVED,
                buttons.APPROVE_THREAD: Verdict.STANDING,
                buttons.DENY: Verdict.DENIED,
            },
            waiting=_waiting,
            in_thread=True,
            members_only=True,
            hints=(approval_words.YES_TYPED, approval_words.WAITS_FOR_YOUR_DECISION),
        )
        self._kinds = {CALL: call, **waits}

    def of(self, approval: Approval) -> WaitKind:
        """Return the kind of an approval."""
        return self._kinds.get(approval.kind, _SWITCHED_OFF)

    async def card(self, record: ApprovalRecord) -> Part:
        """Return the card of an approval. One that is decided is a sentence if it cannot be drawn: the
        run must go on."""
        try:
            return await self.of(record.approval).draw(record)
        except BotError:
            raise
        except Exception:
            if record.decision is None:
                raise
            log.exception("the card of %s cannot be drawn", record.approval.id)
            return Part([section(words.WENT_WRONG())], words.WENT_WRONG())

    @property
    def actions(self) -> list[str]:
        """The action ids of all buttons that decide."""
        actions = (action for kind in self._kinds.values() for action in kind.verdicts)
        return list(dict.fromkeys(actions))

    def waiting_part(
        self, progress: Progress, approvals: Sequence[Approval], asker: str, *, stops: Stops
    ) -> Part:
        """Return the message of a run that waits for people. Only the cards ask for something."""
        steps = [Step(asked.id, redacted(asked.title), StepStatus.WAITING) for asked in approvals]
        waiting = replace(progress, steps=(*progress.steps, *steps))
        lines = dict.fromkeys(self.of(approval).waiting(approval, asker) for approval in approvals)
        sentence = " ".join(lines)
        return Part([plan(waiting, sentence), stop_button(stops)], sentence)

    def yes_typed(self, pending: Sequence[Approval], user: str) -> str:
        """Return the reply to a person who typed "yes" instead of pressing a button.

        Returns "" if none of the pending approvals concerns the person, or it is a question, which
        any message answers.
        """
        if any(approval.is_question and user in approval.approvers for approval in pending):
            return ""
        for approval in pending:
            if user in approval.approvers:
                return self.of(approval).hints[0]()
        own = [approval for approval in pending if approval.requester == user]
        return approval_words.ONLY_THEY_MAY(people=people(own[0].approvers)) if own else ""

    def waits_behind(self, pending: Sequence[Approval], user: str) -> str:
        """Return the reply to a person whose question waits behind pending approvals."""
        for approval in pending:
            if user in approval.approvers:
                return self.of(approval).hints[1]()
        return approval_words.WAITS_BEHIND()
