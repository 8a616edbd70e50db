"""What a call needs its asker for besides an approval: one wait, whatever is asked (R3, D6)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from bot.core.approvals import CALL, Approval, ApprovalRecord, Ask, Decision, PersonNeeded, Verdict
from bot.core.context import current_request
from bot.core.outcome import RunStatus
from bot.dev.model import Script, calls, finish
from bot.features.server_questions.hook import INPUT
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.store import Stores
from bot.toolkit import Changes, tool
from tests.support.redis import asked, decided
from tests.support.runs import answer, bot_with

MADE: list[str] = []


@tool(
    group="town",
    summary="Books",
    core=True,
    safety=Changes(sensitive=True),
    title="Book for {name}",
)
async def town__book(name: str) -> str:
    """Books a table once its asker has said for how many."""
    answers = {each.approval.tool: each.decision for each in current_request().answers}
    MADE.append(name)
    if "town seats" not in answers:
        details = {"question": "For how many?", "state": "s1"}
        raise PersonNeeded(
            Ask(
                kind=INPUT,
                subject="town seats",
                title="How many?",
                details=details,
                by_details=True,
            )
        )
    said = answers["town seats"]
    assert said is not None
    return f"booked for {said.answer}" if said.allows else "cancelled"


@pytest.fixture(autouse=True)
def nothing_made() -> None:
    MADE.clear()


def decide(approval: Approval) -> Decision:
    """What a person says: yes to the call, and to its question the answer."""
    answers = {"seats": 2} if approval.kind == INPUT else None
    return Decision(verdict=Verdict.APPROVED, by=approval.requester, answer=answers)


def brain() -> Script:
    return Script([calls(("town__book", {"name": "Ada"})), finish(answer("Booked."))])


async def test_a_call_asks_waits_and_is_made_again_with_the_answer(stores: Stores) -> None:
    """The change was begun and not made: once it is answered it is made, and not taken for unknown."""
    async with bot_with(stores, brain(), town__book.tool) as bot:
        bot.board.decide = decide
        outcome = await bot.ask("Book!")
        assert outcome.status is RunStatus.SUCCESS
        assert [each.kind for each in bot.board.asked] == [CALL, INPUT]
        assert bot.board.asked[1].details["question"] == "For how many?"
        assert bot.outputs() == ["booked for {'seats': 2}"]
    assert MADE == ["Ada", "Ada"]


async def test_the_wait_outlives_its_worker(stores: Stores) -> None:
    """Decided in the store while no process works on the run; the next one goes on, asking no server
    before there is an answer."""
    async with bot_with(stores, brain(), town__book.tool) as bot:
        request = asked()
        for verdict, filled in ((Verdict.APPROVED, None), (Verdict.APPROVED, {"seats": 3})):
            with pytest.raises(AwaitingApproval):
                await (bot.ask(request) if filled is None else bot.runner.answer(request))
            with pytest.raises(AwaitingApproval):
                await bot.runner.answer(request)
            said = Decision(verdict=verdict, by="U1", answer=filled)
            assert not await decided(stores, bot.board.asked[-1], said)
        assert (await bot.runner.answer(request)).status is RunStatus.SUCCESS
        assert bot.outputs() == ["booked for {'seats': 3}"]
    assert MADE == ["Ada", "Ada"]


@pytest.mark.parametrize("hours", [24.0, 1e-9])
async def test_without_an_answer_the_call_is_told_so(stores: Stores, hours: float) -> None:
    """Refused, or nobody answered in time: the server learns it, and the run goes on."""

    def refuse(approval: Approval) -> Decision:
        verdict = Verdict.DENIED if approval.kind == INPUT else Verdict.APPROVED
        return Decision(verdict=verdict, by="U1")

    access = Policy(confirm="never", approval_hours=hours)
    async with bot_with(stores, brain(), town__book.tool, access=access) as bot:
        bot.board.decide = refuse
        assert (await bot.ask("Book!")).status is RunStatus.SUCCESS
        assert bot.outputs() == ["cancelled"]


async def test_approvals_of_earlier_versions_are_of_calls() -> None:
    """Stored before there were kinds."""
    approval = Approval(
        id="run_1:resp_1:call_1",
        thread_key="T1:C1:1.0",
        tool="launch",
        title="Launch",
        arguments="{}",
        sha256="abc",
        requester="U1",
        approvers=("U1",),
        expires=2_000_000_000,
    )
    stored: dict[str, Any] = json.loads(approval.model_dump_json())
    del stored["kind"]
    decision = {"verdict": "approved", "by": "U1", "at": 1}
    assert Approval.model_validate(stored) == approval
    record = ApprovalRecord(approval, Decision.model_validate(decision))
    assert record.decision is not None
    assert record.decision.answer is None
    assert not record.is_over
