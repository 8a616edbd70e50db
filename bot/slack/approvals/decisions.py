"""Who presses Approve or Deny: whether they may, and what they are told."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Protocol

from pydantic import ValidationError

from bot.core.approvals import Approval, ApprovalRecord, Decision, Verdict
from bot.core.errors import NotPermitted, SlackUnavailable
from bot.core.request import Entry, Request
from bot.runs.audit_trail import Record, refused
from bot.runs.policy.access import PersonKind, Policy
from bot.runs.policy.channels import ChannelSettings
from bot.slack.actions.button_payload import ButtonPress
from bot.slack.incoming.people import People
from bot.slack.render import approval_words, buttons, words
from bot.slack.render.approval import Shown
from bot.store import Refusal

VERDICTS = {
    buttons.APPROVE: Verdict.APPROVED,
    buttons.APPROVE_THREAD: Verdict.STANDING,
    buttons.DENY: Verdict.DENIED,
}


class DecisionHandler(Protocol):
    """What keeps a decision and has the run go on."""

    async def __call__(
        self, approval: Approval, decision: Decision, *, sha256: str
    ) -> Refusal | None: ...


@dataclass(frozen=True, slots=True)
class ApprovalDecisions:
    """In one workspace, `team`. `asked` finds a question by its id, and `decide` answers it; who may
    not is put on record."""

    team: str
    people: People
    asked: Callable[[str], Awaitable[ApprovalRecord | None]]
    decide: DecisionHandler
    record: Record

    async def press(self, press: ButtonPress) -> None:
        """Decide as the button says. Raises NotPermitted with a sentence for who pressed."""
        shown, approval = await self.question(press)
        if press.user not in approval.approvers or not await may_decide(
            self.people, press.user, now=True
        ):
            await self._refused(press, approval)
            raise NotPermitted(_only(approval))
        decision = Decision(
            verdict=VERDICTS[press.action],
            by=press.user,
            name=await self.people.name(press.user),
            at=int(float(press.at)),  # so that the same press is the same decision
        )
        refusal = await self.decide(approval, decision, sha256=shown.sha256)
        if refusal is Refusal.DECIDED:
            raise NotPermitted(await self._decided(approval))
        if refusal is Refusal.CHANGED:  # a forged press: nobody was shown that
            await self._refused(press, approval)
        if refusal is not None:
            raise NotPermitted(approval_words.DECISION_REFUSED[refusal])

    async def question(self, press: ButtonPress) -> tuple[Shown, Approval]:
        """What the button is about. Raises NotPermitted when it is nothing of ours here."""
        try:
            shown = Shown.model_validate_json(press.value)
        except ValidationError:
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN]) from None
        asked = await self.asked(shown.id)
        if asked is None or not _stands_in(asked.approval, self.team, press):
            raise NotPermitted(approval_words.DECISION_REFUSED[Refusal.UNKNOWN])
        return shown, asked.approval

    async def _refused(self, press: ButtonPress, approval: Approval) -> None:
        """Put on record who tried to decide what."""
        what, run_id = f"{VERDICTS[press.action]} {approval.tool}", approval.run_id
        await self.record(
            [refused(self.team, press.user, what, channel=press.channel, run_id=run_id)]
        )

    async def _decided(self, approval: Approval) -> str:
        asked = await self.asked(approval.id)
        decision = asked.decision if asked else None
        if decision and decision.verdict is Verdict.EXPIRED:
            return approval_words.DECISION_REFUSED[Refusal.EXPIRED]
        by = f" by <@{decision.by}>" if decision and decision.by else ""
        return approval_words.ALREADY_DECIDED.format(by=by)


async def may_decide(people: People, user: str, *, now: bool = False) -> bool:
    """Whether `user` is a full member, asked of Slack (`now`: not remembered from minutes ago);
    nobody is let in on a guess."""
    find = people.find_now if now else people.find
    try:
        return (await find(user)).kind is PersonKind.MEMBER
    except SlackUnavailable:
        return False


async def may_administer(people: People, policy: Policy, user: str) -> bool:
    """Whether `user` is an admin, asked of Slack now."""
    try:
        policy.may_administer(await people.find_now(user))
    except (NotPermitted, SlackUnavailable):
        return False
    return True


async def may_ask(people: People, policy: Policy, request: Request, here: ChannelSettings) -> bool:
    """Whether who asked may ask in the channel, asked of Slack now; a workflow's step is nobody's."""
    if request.entry is Entry.WORKFLOW_STEP:
        return True
    try:
        policy.may_ask(await people.find_now(request.user), here)
    except (NotPermitted, SlackUnavailable):
        return False
    return True


def _stands_in(approval: Approval, team: str, press: ButtonPress) -> bool:
    """Cards stand in the question's channel, unless it is private, or in direct messages with those
    who may decide; of its workspace, as others may share the channel."""
    asked_by, asked_in, _ = approval.thread_key.split(":", 2)
    is_direct = press.channel.startswith("D") and press.user in approval.approvers
    is_in_thread = press.channel == asked_in and not approval.private
    return asked_by == team and (is_direct or is_in_thread)


def _only(approval: Approval) -> str:
    return approval_words.ONLY_THEY_MAY.format(
        people=words.OR.join(f"<@{u}>" for u in approval.approvers)
    )
