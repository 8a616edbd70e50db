"""Kinds of waits for accounts: a person connects one, or says who may see what it finds."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from bot.core.approvals import Approval, ApprovalRecord, Decision, Verdict
from bot.features.accounts.hook import ACCOUNT, SHARE
from bot.features.accounts.slack import words
from bot.features.accounts.slack.cards import account_part, server_of, share_part
from bot.slack.ui import buttons
from bot.slack.ui.approval_kinds import TypedLine, WaitKind
from bot.slack.ui.parts import Part

ConnectLink = Callable[[Approval], Awaitable[str]]
"""Returns the address of the page on which the asker connects the account that the approval is
about."""


def account_waits(connect_link: ConnectLink | None) -> Mapping[str, WaitKind]:
    """Return the kinds by their names; without `connect_link` nobody can connect."""

    async def draw(record: ApprovalRecord) -> Part:
        if record.decision or connect_link is None:
            return account_part(record, "")
        return account_part(record, await connect_link(record.approval))

    return {
        ACCOUNT: WaitKind(
            draw=draw,
            verdicts={buttons.GO_WITHOUT: Verdict.DENIED},  # connecting decides the rest
            waiting=lambda approval, asker: words.WAITING(person=asker, server=server_of(approval)),
        ),
        SHARE: WaitKind(
            draw=_draw_share,
            verdicts={buttons.POST_IT: Verdict.APPROVED, buttons.ONLY_ME: Verdict.DENIED},
            waiting=lambda _approval, asker: words.WAITING_TO_SHARE(person=asker),
            typed=_share,
        ),
    }


async def _draw_share(record: ApprovalRecord) -> Part:
    return share_part(record)


async def _share(approval: Approval, _typed_line: TypedLine) -> Decision:
    """Approve: only the person at the terminal sees what is printed there."""
    return Decision(verdict=Verdict.APPROVED, by=approval.requester)
