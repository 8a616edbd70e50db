"""Decisions of people on cards: permission checks, and the answers to people who may not decide."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from bot.core.approvals import Approval, Decision, Verdict
from bot.core.errors import NotPermitted
from bot.runs.audit_trail import refused
from bot.slack.intake.access_gate import may_decide
from bot.slack.intake.press import ButtonPress, Press
from bot.slack.ui import approval_words, buttons
from bot.slack.ui.approval import Shown, approval_modal, people
from bot.slack.ui.approval_kinds import WaitKind
from bot.store import Refusal

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)


def register(app: SlackApp) -> None:
    """Listen to the buttons of approval cards.

    A decision is stored before the press is acknowledged. The run then shows it on the card.
    """
    for action in app.waits.actions:
        try:
            app.button(action)(app.decisions.press)
        except ValueError:  # of a kind of wait that takes a button of the bot
            log.exception("nobody can decide with %s", action)

    @app.button(buttons.SHOW_ALL)
    async def show_all(press: Press) -> None:
        _, approval = await app.decisions.approval_of(press)
        await press.open(approval_modal(approval, app.identity.canvas_link))


class ApprovalDecisions:
    """The approval buttons of one workspace. Refused presses are written to the audit trail."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._team, self._people, self._requests = app.team, app.people, app.requests

    async def press(self, press: ButtonPress) -> None:
        """Store the decision of the button. Raises NotPermitted with a sentence for the person."""
        shown, approval = await self.approval_of(press)
        kind = self._app.waits.of(approval)
        verdict = kind.verdicts.get(press.action)
        if verdict is None:  # a forged press: no card of this kind has the button
            await self._refused(press, f"{press.action} {approval.subject}", approval.run_id)
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN]())
        filled_in = kind.answer(approval, press.action)
        await self.answer(press, shown, approval, verdict, filled_in)

    async def answer(
        self,
        press: ButtonPress,
        shown: Shown,
        approval: Approval,
        verdict: Verdict,
        answer: dict[str, Any] | None = None,
    ) -> None:
        """Store a decision, with what the person filled in. Raises NotPermitted as `press` does."""
        if not await self._may_decide(approval, press.user):
            await self._refused(press, f"{verdict} {approval.subject}", approval.run_id)
            raise NotPermitted(_only_approvers(approval))
        decision = Decision(
            verdict=verdict,
            by=press.user,
            name=await self._people.name(press.user),
            at=int(float(press.at)),  # so that the same press is the same decision
            answer=answer,
        )
        if press.message:
            await self._app.stores.runs.note_card(
                approval.run_id, _card_name(approval, press), press.message
            )
        refusal = await self._requests.decide(approval, decision, sha256=shown.sha256)
        if refusal is None:
            return
        await self._refused(press, f"{verdict} {approval.subject}", approval.run_id)
        if refusal is Refusal.DECIDED:
            raise NotPermitted(await self._existing_decision(approval))
        raise NotPermitted(approval_words.DECISION_REFUSED[refusal]())

    async def approval_of(self, press: ButtonPress) -> tuple[Shown, Approval]:
        """Return what the button carries, and the approval it names.

        Raises NotPermitted when there is no such approval, or its card is not in this conversation.
        """
        try:
            shown = Shown.model_validate_json(press.value)
        except ValidationError:
            await self._refused(press, press.action)
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN]()) from None
        record = await self._requests.asked(shown.id)
        if record is None:
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN]())
        approval, kind = record.approval, self._app.waits.of(record.approval)
        if not _is_pressed_in_place(approval, kind, self._team, press):
            await self._refused(press, f"{press.action} {approval.subject}", approval.run_id)
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN]())
        return shown, approval

    async def to_decide(self, press: ButtonPress) -> tuple[Shown, Approval]:
        """Return what `approval_of` does to somebody who may decide. Raises NotPermitted, with a sentence for
        the person who pressed."""
        shown, approval = await self.approval_of(press)
        if not await self._may_decide(approval, press.user):
            await self._refused(press, f"{press.action} {approval.subject}", approval.run_id)
            raise NotPermitted(_only_approvers(approval))
        return shown, approval

    async def _may_decide(self, approval: Approval, user: str) -> bool:
        is_enough = not self._app.waits.of(approval).members_only
        is_approver = user in approval.approvers
        return is_approver and (is_enough or await may_decide(self._people, user, now=True))

    async def _refused(self, press: ButtonPress, what: str, run_id: str = "") -> None:
        """Write a refused press to the audit trail."""
        await self._app.record(
            [refused(self._team, press.user, what, channel=press.channel, run_id=run_id)]
        )

    async def _existing_decision(self, approval: Approval) -> str:
        record = await self._requests.asked(approval.id)
        decision = record.decision if record else None
        if decision and decision.verdict is Verdict.EXPIRED:
            return approval_words.DECISION_REFUSED[Refusal.EXPIRED]()
        if decision and decision.by:
            return approval_words.DECIDED_BY(person=decision.by)
        return approval_words.DECISION_REFUSED[Refusal.DECIDED]()


def _is_pressed_in_place(approval: Approval, kind: WaitKind, team: str, press: ButtonPress) -> bool:
    """Return whether the conversation of the press can hold a card of this approval.

    A card is in the request's channel, unless the request is private, or in an approver's direct
    messages, where cards for the asker alone are. The team is compared because another workspace
    may share the channel.
    """
    request_team, request_channel, _ = approval.thread_key.split(":", 2)
    is_direct = press.channel.startswith("D") and press.user in approval.approvers
    is_in_channel = press.channel == request_channel and not approval.private
    is_in_channel &= kind.in_thread or is_direct
    return request_team == team and (is_direct or is_in_channel)


def _card_name(approval: Approval, press: ButtonPress) -> str:
    """Return the name under which the store keeps the card that was pressed."""
    is_in_thread = press.channel == approval.thread_key.split(":")[1] and not approval.private
    return approval.id if is_in_thread else approval.card_for(press.user)


def _only_approvers(approval: Approval) -> str:
    return approval_words.ONLY_THEY_MAY(people=people(approval.approvers))
