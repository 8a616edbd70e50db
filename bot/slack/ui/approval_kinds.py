"""Kinds of approvals in Slack: how the card looks, who sees it and what its buttons do.

To add a kind, add its entry to `KINDS`: posting, deciding, expiry and recovery are the same for
all.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from bot.core.approvals import Approval, ApprovalKind, ApprovalRecord, Verdict
from bot.features.accounts.slack import words as account_card_words
from bot.features.accounts.slack.cards import account_part, server_of, share_part
from bot.features.server_questions.cards import input_part, pressed_answer
from bot.slack.ui import approval_words, buttons
from bot.slack.ui.approval import approval_part, people
from bot.slack.ui.arguments import CanvasLink
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.parts import Part
from bot.slack.ui.progress import Progress, Step, StepStatus, plan
from bot.text.redaction import redacted
from bot.text.translation import Text

ConnectLink = Callable[[Approval], Awaitable[str]]
"""Returns the address of the page on which the asker connects the account that the approval is
about."""


async def no_connect_link(_approval: Approval) -> str:
    """Return "": personal accounts are not configured."""
    return ""


@dataclass(frozen=True, slots=True)
class Drawing:
    """What cards are drawn with."""

    canvas_link: CanvasLink
    connect_link: ConnectLink


@dataclass(frozen=True, slots=True)
class CardKind:
    """One kind of approval in Slack.

    - `draw`: the card, open or decided.
    - `verdicts`: the verdict of each button that decides, by its action id.
    - `in_thread`: whether everybody in the thread may see the card; if not, only the asker does.
    - `members_only`: whether only full members of the workspace may decide.
    - `answer`: what a button that decides fills in for the person, if anything. Raises
      MalformedPayload for a button that the card does not have.
    - `waiting`: what the run's message says meanwhile, given the approval and the asker's name.
    - `hints`: replies to a person who types "yes" in place of a press, and to one whose question
      waits behind a decision of their own.
    """

    draw: Callable[[ApprovalRecord, Drawing], Awaitable[Part]]
    verdicts: Mapping[str, Verdict]
    in_thread: bool
    members_only: bool
    waiting: Callable[[Approval, str], str]
    hints: tuple[Text, Text]
    answer: Callable[[Approval, str], dict[str, Any] | None] = lambda _approval, _action: None


async def _draw_call(record: ApprovalRecord, drawing: Drawing) -> Part:
    return approval_part(record, drawing.canvas_link)


async def _draw_account(record: ApprovalRecord, drawing: Drawing) -> Part:
    link = "" if record.decision else await drawing.connect_link(record.approval)
    return account_part(record, link)


async def _draw_share(record: ApprovalRecord, _drawing: Drawing) -> Part:
    return share_part(record)


async def _draw_input(record: ApprovalRecord, _drawing: Drawing) -> Part:
    return input_part(record)


_IN_DIRECT = (approval_words.YES_TYPED_DIRECT, approval_words.WAITS_FOR_YOUR_PRESS)

KINDS: Mapping[ApprovalKind, CardKind] = {
    ApprovalKind.CALL: CardKind(
        draw=_draw_call,
        verdicts={
            buttons.APPROVE: Verdict.APPROVED,
            buttons.APPROVE_THREAD: Verdict.STANDING,
            buttons.DENY: Verdict.DENIED,
        },
        in_thread=True,
        members_only=True,
        waiting=lambda _approval, _asker: approval_words.PARKED(),
        hints=(approval_words.YES_TYPED, approval_words.WAITS_FOR_YOUR_DECISION),
    ),
    ApprovalKind.ACCOUNT: CardKind(
        draw=_draw_account,
        verdicts={buttons.GO_WITHOUT: Verdict.DENIED},  # connecting decides the rest
        in_thread=False,
        members_only=False,
        waiting=lambda approval, asker: account_card_words.WAITING(
            person=asker, server=server_of(approval)
        ),
        hints=_IN_DIRECT,
    ),
    ApprovalKind.SHARE: CardKind(
        draw=_draw_share,
        verdicts={buttons.POST_IT: Verdict.APPROVED, buttons.ONLY_ME: Verdict.DENIED},
        in_thread=False,
        members_only=False,
        waiting=lambda _approval, asker: account_card_words.WAITING_TO_SHARE(person=asker),
        hints=_IN_DIRECT,
    ),
    ApprovalKind.INPUT: CardKind(
        draw=_draw_input,
        verdicts={
            buttons.DECLINE_INPUT: Verdict.DENIED,
            buttons.ANSWER_YES: Verdict.APPROVED,
            buttons.ANSWER_NO: Verdict.APPROVED,
        },
        answer=pressed_answer,
        in_thread=False,
        members_only=False,
        waiting=lambda _approval, asker: approval_words.WAITING_FOR_INPUT(person=asker),
        hints=_IN_DIRECT,
    ),
}

VERDICTS = {action: verdict for kind in KINDS.values() for action, verdict in kind.verdicts.items()}
"""The verdict of each button of any kind, by its action id."""


def waiting_for_people_part(
    progress: Progress, approvals: Sequence[Approval], asker: str, *, stops: Stops
) -> Part:
    """Return the message of a run that waits for people. Only the cards ask for something."""
    steps = (Step(each.id, redacted(each.title), StepStatus.WAITING) for each in approvals)
    waiting = replace(progress, steps=(*progress.steps, *steps))
    lines = dict.fromkeys(KINDS[each.kind].waiting(each, asker) for each in approvals)
    said = " ".join(lines)
    return Part([plan(waiting, said), stop_button(stops)], said)


def yes_typed(pending: Sequence[Approval], user: str) -> str:
    """Return the reply to a person who typed "yes" instead of pressing a button.

    Returns "" if none of the pending approvals concerns the person.
    """
    for each in pending:
        if user in each.approvers:
            return KINDS[each.kind].hints[0]()
    own = [each for each in pending if each.requester == user]
    return approval_words.ONLY_THEY_MAY(people=people(own[0].approvers)) if own else ""


def waits_behind(pending: Sequence[Approval], user: str) -> str:
    """Return the reply to a person whose question waits behind pending approvals."""
    for each in pending:
        if user in each.approvers:
            return KINDS[each.kind].hints[1]()
    return approval_words.WAITS_BEHIND()
