"""One thread through whatever a model, its service, a person and a dying worker can do to it."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from contextlib import AsyncExitStack
from dataclasses import replace
from itertools import pairwise

from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

from bot.agent.events import Paused, RunEnded
from bot.agent.window import active_items, text_of, whole_pairs
from bot.core.answers import Answer
from bot.core.chain import Item
from bot.core.outcome import RunStatus, StopReason
from tests.unit.agent.thread import PLAIN, Piece, Thread
from tests.unit.agent.turns import PLANS, STUCK_PLANS, Plan

ORDERED = (
    "Rate limit reached", "Request too large", "You exceeded", "An error occurred",
    "Invalid prompt", "The requested model", "Previous response", "Your input exceeds",
    "Incorrect API key",
)  # fmt: skip
"""How the errors begin that a plan asks for; every other one is a request that was not valid."""


class Conversation(RuleBasedStateMachine):
    """Messages in one thread, each of them a run with its own plan.

    Which rules there are depends on no state: on a busy machine a run may end otherwise the second time,
    and Hypothesis wants to draw the same then.
    """

    def __init__(self) -> None:
        super().__init__()
        self.loop = asyncio.new_event_loop()  # a Runner writes out its coroutine for each signal
        self.stack = AsyncExitStack()
        self.crashed = False

    @initialize(
        mode=st.sampled_from(["chained", "chained", "stateless", "nothing is kept"]),
        stream=st.booleans(),
        window=st.sampled_from([272_000, 9_000, 4_000, 32_000, 1_000_000]),
    )
    def open(self, mode: str, stream: bool, window: int) -> None:
        thread = Thread.open(stateless=mode == "stateless", stream=stream, window=window)
        self.thread = self.loop.run_until_complete(self.stack.enter_async_context(thread))
        self.thread.api.chains.zero_data_retention = mode == "nothing is kept"

    @rule(plan=st.one_of(PLANS, PLANS, PLANS, PLANS, STUCK_PLANS))
    def a_message_comes_or_another_worker_takes_over(self, plan: Plan) -> None:
        if self.crashed:
            self.thread.follow(replace(plan, limits=self.thread.plan.limits))
        else:
            self.thread.begin(plan)
        self._work()

    @rule()
    def a_run_that_crashed_is_given_up(self) -> None:
        if self.crashed:
            self.thread.fail("I had to give up.")
        self.crashed = False

    @rule()
    def the_service_forgets(self) -> None:
        for response in self.thread.api.responses.values():
            response.kept = False

    @rule()
    def the_next_message_always_works(self) -> None:
        if self.crashed:
            self.thread.follow(PLAIN)
        else:
            self.thread.begin(PLAIN)
        ended = self._work().ended
        assert ended
        assert ended.status is RunStatus.SUCCESS or self.thread.pieces[1:], ended

    def teardown(self) -> None:
        try:
            if hasattr(self, "thread"):
                self.the_next_message_always_works()
        finally:
            self.loop.run_until_complete(self.stack.aclose())
            self.loop.close()

    def _work(self) -> Piece:
        thread, caller = self.thread, self.thread.caller
        piece = self.loop.run_until_complete(thread.work())
        self.crashed = piece.ended is None
        if self.crashed:
            assert thread.caller is caller
        check_requests(thread, piece)
        check_events(thread, piece)
        check_order(thread)
        check_budgets(thread)
        check_hooks(thread, piece)
        changed = [key for each in thread.pieces for key in (*each.changed, *each.launched)]
        assert len(set(changed)) == len(changed), "a change was made twice"
        for recorded in piece.kept:
            check_chain(thread, recorded.state.parent, recorded.state.pending)
        check_chain(thread, thread.caller.previous_response_id, thread.caller.pending)
        if piece.ended:
            check_end(thread, piece.ended)
            check_record(thread)
        return piece


def check_requests(thread: Thread, piece: Piece) -> None:
    """B2 H3 G4: no request was refused but as ordered; none was made after Stop; none holds what a
    stream said before it broke, or half a call."""
    for received in thread.api.requests[piece.began :]:
        sent = str(received.body["input"])
        assert not any(half in sent for half in ("So far it seems", "never whole", '"name":"ha'))
        if received.error and "fault" not in received.error:
            message = received.error["message"]
            assert message.startswith(ORDERED), (message, received.body["input"])
    if piece.stopped is not None:
        assert len(thread.api.requests) == piece.stopped, "a call was made after Stop"


def check_events(thread: Thread, piece: Piece) -> None:
    """One end, and last; B4: what was added is what was kept, by all workers together."""
    ends = [event for event in piece.events if isinstance(event, RunEnded)]
    assert len(ends) == (piece.ended is not None)
    if piece.ended:
        entries = [each.entry for each_piece in thread.pieces for each in each_piece.kept]
        kept = [i for e in entries if not (e.checkpoint or e.abandoned) for i in e.items]
        assert list(piece.ended.new_items) == kept


def check_order(thread: Thread) -> None:
    """B2 D5: each response that called is followed by one output a call, in their order."""
    kept = [each.entry for piece in thread.pieces for each in piece.kept]
    entries = [entry for entry in kept if not entry.abandoned]
    for entry, following in pairwise(entries):
        called = list(dict.fromkeys(ids(entry.items, "function_call")))
        if entry.response_id is None or not called:
            continue
        assert ids(following.items, "function_call_output") == called


def check_budgets(thread: Thread) -> None:
    """G1 H4: at most one call beyond a budget, and one more for each worker that died; a result
    that was sent back costs no turn."""
    limits, died = thread.plan.limits, len(thread.pieces) - 1
    kept = [each for piece in thread.pieces for each in piece.kept if each.entry.usage]
    free = sum(piece.blocked for piece in thread.pieces)
    assert len(kept) <= limits.get("turns", 20) + died + free
    spent, beyond = 0, 0
    for each in kept:
        beyond += spent >= limits.get("tokens", 100_000)
        assert each.entry.usage
        spent += each.entry.usage.input_tokens - each.entry.usage.cached_tokens
        spent += each.entry.usage.output_tokens
    assert beyond <= 1 + died, "more than one call beyond the tokens"


def check_hooks(thread: Thread, piece: Piece) -> None:
    """H4 D6: an end is told once; only valid results are judged; what was vetoed, or not decided
    about, is not done; a run that asks is paused, and that is all that comes of it."""
    assert piece.closed == (piece.ended is not None)
    assert all(isinstance(result, Answer) for result in piece.judged)
    assert not set(piece.vetoed) & {*piece.changed, *piece.launched}
    assert not set(piece.asked) & {*piece.changed, *piece.launched}
    asked = [key for each in thread.pieces for key in each.asked]
    assert set(piece.launched) <= set(asked), "launched without a yes"
    pauses = [event for event in piece.events if isinstance(event, Paused)]
    assert len(pauses) <= 1
    if pauses:
        assert isinstance(piece.events[-1], Paused)
        assert {key.split(":")[-1] for key in piece.asked} >= set(pauses[0].call_ids)
    # What a worker accepted before it died is not judged again by the hooks of the next one.
    if piece.judged and piece.ended and piece.ended.stop_reason is StopReason.COMPLETED:
        assert piece.ended.state.sent_back >= thread.plan.policy.blocks
        assert not thread.plan.policy.prevents


def check_chain(thread: Thread, parent: str | None, pending: Sequence[Item]) -> None:
    """B2 B7: every call of the parent is answered by what is sent next, and nothing else is."""
    waiting = dict.fromkeys(thread.api.responses[parent].open) if parent else {}
    for item in pending:
        if item.get("type") == "function_call":
            waiting[item["call_id"]] = None
        elif item.get("type") == "function_call_output":
            assert item["call_id"] in waiting, "an output without its call"
            del waiting[item["call_id"]]
    assert not waiting, "the chain names calls without outputs"


def check_record(thread: Thread) -> None:
    """B4 B8: the next question meets the same conversation on the chain and in our own record, from
    which a lost chain is rebuilt, and which a service without chains is sent."""
    caller = thread.caller
    if caller.stateless:
        return
    parent = caller.previous_response_id
    kept = thread.api.conversation(parent) if parent else ()
    assert said([*kept, *caller.pending]) == said(active_items(thread.ledger))


def said(items: Iterable[Item]) -> list[tuple[str, ...]]:
    """What a model reads of the items; a call without a name has one in our record, as no service
    takes it back without."""
    return [
        (item["role"], text_of(item))
        if "role" in item
        else (
            str(item["type"]),
            str(item.get("name") or ("unnamed" if "name" in item else None)),
            *(str(item.get(key)) for key in ("arguments", "output")),
        )
        for item in whole_pairs(tuple(items))
        if item.get("type") != "reasoning"
    ]


def check_end(thread: Thread, ended: RunEnded) -> None:
    """C7 B5: success only with a result that the model gave, having read the question, which is on
    its chain or, where the last response was cut behind the result, is sent with the next request."""
    success = ended.stop_reason is StopReason.COMPLETED
    assert (ended.status is RunStatus.SUCCESS) == success
    if not success:
        return
    assert ended.result is not None
    parent = ended.state.parent
    read = [*(thread.api.conversation(parent) if parent else ()), *ended.state.pending]
    assert any(item.get("content") == thread.question for item in read), "the question got lost"


def ids(items: Iterable[Item], kind: str) -> list[str]:
    return [item["call_id"] for item in items if item.get("type") == kind]


TestConversation = Conversation.TestCase
if settings.get_current_profile_name() != "heavy":
    TestConversation.settings = settings(
        max_examples=30,
        stateful_step_count=12,
        phases=[Phase.explicit, Phase.reuse, Phase.generate],  # shrinking takes minutes: heavy
        suppress_health_check=[HealthCheck.too_slow],
    )
