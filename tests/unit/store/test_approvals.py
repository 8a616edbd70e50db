"""A yes counts once, for one call with these arguments, from who may say it, in time (reliability 10)."""

from __future__ import annotations

import time
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.core.approvals import Approval, Decision, Verdict
from bot.core.errors import CorruptValue, LeaseLost
from bot.core.request import Request
from bot.store import ParkResult, Phase, Refusal, Stores
from tests.support.redis import asked, decided, pending_entry

YES = Decision(verdict=Verdict.APPROVED, by="U1", at=1)
NO = Decision(verdict=Verdict.DENIED, by="U1", at=1)
GONE = Decision(verdict=Verdict.DENIED, comment="wrote instead", at=1)


def question(**changes: Any) -> Approval:
    values: dict[str, Any] = {
        "id": "run_1:resp_1:call_1",
        "thread_key": "T1:C1:1.0",
        "tool": "launch",
        "title": "Launch",
        "arguments": "{}",
        "sha256": "abc",
        "requester": "U1",
        "approvers": ("U1", "U2"),
        "expires": int(time.time()) + 60,
    }
    return Approval(**(values | changes))


async def test_a_yes_is_claimed_by_its_own_call(stores: Stores) -> None:
    """Also once more by the same call, after a crash: its intent keeps it from being made twice."""
    kept = await stores.approvals.ask(question())
    assert await stores.approvals.claim(kept) is None
    assert await decided(stores, kept, YES) is None
    assert await stores.approvals.claim(kept) == YES
    assert await stores.approvals.claim(kept) == YES


async def test_what_was_asked_first_stays_the_question(stores: Stores) -> None:
    """Asked again after a crash, it keeps its time."""
    first = await stores.approvals.ask(question())
    assert await stores.approvals.ask(question(expires=first.expires + 100)) == first


async def test_the_first_decision_counts_and_a_lost_reply_does_no_harm(stores: Stores) -> None:
    kept = await stores.approvals.ask(question())
    assert await decided(stores, kept, NO) is None
    assert await decided(stores, kept, NO) is None  # the same press, delivered again
    assert await decided(stores, kept, YES) is Refusal.DECIDED
    assert await stores.approvals.claim(kept) == NO


async def test_other_arguments_are_another_question(stores: Stores) -> None:
    """A yes to what somebody was shown is none to what is about to be done, and the other way."""
    kept = await stores.approvals.ask(question())
    shown = await decided(stores, kept, YES, sha256="xyz")
    assert shown is Refusal.CHANGED
    assert await decided(stores, kept, YES) is None
    claimed = await stores.approvals.claim(question(sha256="xyz"))
    assert claimed is not None
    assert not claimed.allows
    assert await stores.approvals.claim(kept) == YES
    again = await stores.approvals.claim(question(sha256="xyz"))
    assert again is not None
    assert not again.allows
    assert "asked by an older version: ask again" in again.comment  # C6: as after an upgrade


@pytest.mark.parametrize("user", ["U3", "", "U"])
async def test_only_who_may_decides(stores: Stores, user: str) -> None:
    kept = await stores.approvals.ask(question())
    forged = YES.model_copy(update={"by": user})
    assert await decided(stores, kept, forged) is Refusal.FORBIDDEN
    assert await stores.approvals.claim(kept) is None


async def test_nothing_can_be_decided_that_was_not_asked(stores: Stores) -> None:
    assert await decided(stores, question(), YES) is Refusal.UNKNOWN
    claimed = await stores.approvals.claim(question())
    assert claimed is not None
    assert not claimed.allows


async def test_a_decision_that_comes_too_late(stores: Stores) -> None:
    """Nor is anything done on a yes after its time."""
    late = await stores.approvals.ask(question(expires=int(time.time()) - 1))
    assert await decided(stores, late, YES) is Refusal.EXPIRED
    claimed = await stores.approvals.claim(late)
    assert claimed is not None
    assert claimed.verdict is Verdict.EXPIRED
    [each] = await stores.approvals.of_run("run_1")
    assert each.decision is not None
    assert each.decision.verdict is Verdict.EXPIRED


async def test_a_standing_approval(stores: Stores, redis: Redis) -> None:
    """It covers the like of it in this thread, asked for by the same person, for a while."""
    kept = await stores.approvals.ask(question(standing="same", standing_hours=2))
    assert await stores.approvals.standing(kept) is None
    yes = YES.model_copy(update={"verdict": Verdict.STANDING})
    assert await decided(stores, kept, yes) is None
    like_it = question(id="run_2:resp_1:call_1", sha256="other", standing="same")
    assert await stores.approvals.standing(like_it) == yes
    for other in ({"standing": "else"}, {"requester": "U2"}, {"thread_key": "T1:C1:2.0"}):
        assert await stores.approvals.standing(like_it.model_copy(update=other)) is None
    [key] = [key async for key in redis.scan_iter("bot:v1:standing:*")]
    assert 7_000 < await redis.ttl(key) <= 7_200


async def test_a_plain_yes_stands_for_nothing_else(stores: Stores) -> None:
    kept = await stores.approvals.ask(question(standing="same"))
    await decided(stores, kept, YES)
    assert await stores.approvals.standing(kept) is None


async def waiting(stores: Stores) -> tuple[Request, Approval]:
    """A run that has asked, at the head of its mailbox."""
    request = asked()
    await stores.mailbox.submit(request, event_id=request.id)
    lease, record = await stores.runs.start(request, "run_1")
    kept = await stores.approvals.ask(question(thread_key=request.thread_key))
    assert await stores.approvals.park(request, record.run_id, [kept], lease) is ParkResult.PARKED
    return request, kept


async def test_a_parked_thread_rests_until_somebody_decides(stores: Stores) -> None:
    """The same script that keeps the decision ends the rest, so that no crash comes between."""
    request, kept = await waiting(stores)
    assert await stores.mailbox.is_parked(request.thread_key)
    lease, record = await stores.runs.start(request, "run_2")
    assert (record.run_id, record.phase) == ("run_1", Phase.WAITING)
    assert not await stores.mailbox.is_parked(request.thread_key)  # somebody works on it
    assert await stores.approvals.park(request, "run_1", [kept], lease) is ParkResult.PARKED
    await decided(stores, kept, YES)
    assert not await stores.mailbox.is_parked(request.thread_key)
    assert await stores.approvals.park(request, "run_1", [kept], lease) is not ParkResult.PARKED


async def test_stop_ends_the_rest(stores: Stores) -> None:
    request, kept = await waiting(stores)
    assert await stores.signals.request_cancel(request.thread_key, request.id, "U1")
    assert not await stores.mailbox.is_parked(request.thread_key)
    lease = await stores.leases.take(request.thread_key)
    assert await stores.approvals.park(request, "run_1", [kept], lease) is not ParkResult.PARKED


async def test_who_holds_the_thread_no_more_parks_nothing(stores: Stores) -> None:
    """(reliability 2)"""
    request, kept = await waiting(stores)
    old = await stores.leases.take(request.thread_key)
    await stores.leases.take(request.thread_key)
    with pytest.raises(LeaseLost):
        await stores.approvals.park(request, "run_1", [kept], old)


async def test_what_waits_outlives_the_time_that_requests_are_kept(
    stores: Stores, redis: Redis
) -> None:
    """A question may be open for days: the request is kept for longer than that."""
    request = asked()
    await stores.mailbox.submit(request, event_id=request.id)
    lease, _ = await stores.runs.start(request, "run_1")
    far = int(time.time()) + 14 * 86_400
    kept = await stores.approvals.ask(question(thread_key=request.thread_key, expires=far))
    assert await stores.approvals.park(request, "run_1", [kept], lease) is ParkResult.PARKED
    for key in (f"request:{request.id}", f"mailbox:{request.thread_key}", "threads"):
        assert await redis.ttl(f"bot:v1:{key}") > 15 * 86_400
    assert 0 < await redis.ttl(f"bot:v1:parked:{request.thread_key}") <= 14 * 86_400


async def test_the_person_writes_instead(stores: Stores) -> None:
    """A new message of the one who asked answers what their run waits for; of others it does not,
    nor does the message that asked when Slack delivers it again."""
    request, kept = await waiting(stores)
    approvals = stores.approvals
    assert not await approvals.supersede(request, GONE, await pending_entry(stores))
    other = asked().model_copy(update={"user": "U2"})
    await stores.mailbox.submit(other, event_id=other.id)
    assert not await approvals.supersede(other, GONE, await pending_entry(stores))
    mine = asked("Forget it")
    await stores.mailbox.submit(mine, event_id=mine.id)
    assert await approvals.supersede(mine, GONE, await pending_entry(stores))
    assert await approvals.claim(kept) == GONE
    assert await decided(stores, kept, YES) is Refusal.DECIDED


async def test_what_cannot_be_read_is_set_aside(stores: Stores, redis: Redis) -> None:
    """A damaged question approves nothing, and harms no other run."""
    kept = await stores.approvals.ask(question())
    await decided(stores, kept, YES)
    await redis.hset("bot:v1:approvals:run_1", f"asked:{kept.id}", "{half")
    claimed = await stores.approvals.claim(kept)
    assert claimed is not None
    assert not claimed.allows
    with pytest.raises(CorruptValue):
        await stores.approvals.of_run("run_1")
    assert await stores.approvals.of_run("run_1") == []
