"""A request's life between the mailbox and its one terminal message, on a real Redis."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.agent.events import MessagesJoined, ToolEnded, ToolStarted, TurnStarted
from bot.core import failpoints
from bot.core.audit_kinds import AuditKind
from bot.core.budgets import Pause
from bot.core.errors import LeaseLost, ModelErrorKind, StoreUnavailable
from bot.core.outcome import RunStatus, StopReason
from bot.dev.model import (
    ModelRequest,
    Reply,
    ResponsesServer,
    Script,
    call,
    calls,
    finish,
    held,
    respond,
    text,
)
from bot.runs.queue.requeue import Requeue
from bot.settings import ModelSettings
from bot.store import Stores
from bot.toolkit import Changes, current_request, tool
from tests.support.redis import asked
from tests.support.runs import MODEL, answer, bot_on, bot_with

THREAD = "T1:C1:1.0"
ADD = call("calculate", {"expression": "1+1"})


async def test_the_question_is_kept_before_the_model_hears_it(stores: Stores) -> None:
    """B5 I3: whatever happens in the call, the question is in the record and the run resumable."""
    seen: list[Any] = []

    async def brain(request: ModelRequest) -> Reply:
        seen.extend(await stores.ledger.entries(THREAD))
        run_id = await stores.runs.id_of(question.id)
        assert run_id
        seen.append(await stores.runs.state(run_id))
        return finish(answer())

    question = asked("How many?")
    async with bot_with(stores, brain) as bot:
        await bot.ask(question)
    entry, state = seen
    assert "How many?" in entry.items[0]["content"]
    assert "How many?" in state


async def test_the_outcome_is_complete_and_delivered_once(stores: Stores) -> None:
    """The answer with its totals; the request leaves the mailbox with it."""
    question = asked("1+1? See https://example.org/x.")
    async with bot_with(stores, Script([ADD, finish(answer())])) as bot:
        outcome = await bot.ask(question)
    assert bot.board.finished == [outcome]
    assert (outcome.status, outcome.note) == (RunStatus.SUCCESS, "")
    assert outcome.result == answer()
    assert outcome.links == {"https://example.org/x"}
    totals = outcome.totals
    assert (totals.model, totals.turns, totals.tool_calls) == ("gpt-5.4-mini", 2, 1)
    assert totals.cost is not None
    assert totals.cost > 0
    assert totals.input_tokens > 0
    assert await stores.mailbox.head(THREAD) is None
    assert await stores.runs.undelivered() == []


async def test_the_record_holds_the_conversation_in_order(stores: Stores) -> None:
    """B3 B4 B6: question, response with its usage, outputs, response, its acknowledgement."""
    async with bot_with(stores, Script([ADD, finish(answer())])) as bot:
        await bot.ask("1+1?")
    entries = await stores.ledger.entries(THREAD)
    kinds = [item.get("type", "message") for entry in entries for item in entry.items]
    assert [kind for kind in kinds if kind != "reasoning"] == [
        "message",
        "function_call",
        "function_call_output",
        "function_call",
        "function_call_output",
    ]
    billed = [entry.usage.input_tokens for entry in entries if entry.usage]
    assert len(billed) == 2
    assert all(billed)


async def test_the_thread_goes_on_with_its_chain_and_its_tools(stores: Stores) -> None:
    """B7: the next question sends only itself, to the response before; acquired tools stay."""
    script = Script(
        [call("acquire_tools", {"names": ["query_table"]}), finish(answer()), finish(answer())]
    )
    async with bot_with(stores, script) as bot:
        await bot.ask("First?")
        kept = await stores.caller_states.load(THREAD)
        await bot.ask("Second?")
    last = bot.api.requests[-1].body
    assert kept.previous_response_id == last["previous_response_id"]
    assert last["previous_response_id"] == bot.api.requests[-2].response_id
    assert bot.outputs() == ["Accepted."]
    assert "Second?" in bot.said()[0]
    assert not any("First?" in each for each in bot.said())
    assert kept.acquired == ("query_table",)
    assert "query_table" in bot.offered()
    assert "query_table" not in bot.offered(0)


async def test_tools_know_what_they_work_for(stores: Stores) -> None:
    """D9: who asks where, in which run and with which model, warm as it is called, and until when."""

    @tool(group="test", summary="Look round", core=True)
    async def look_round() -> str:
        """Look round."""
        here = current_request()
        asker = (here.team, here.channel, here.thread, here.user, here.request_id)
        room = here.turns_left > 0 and here.context_window > 0 and 0 < here.usage_ratio < 1
        return f"{asker} {here.model} {here.temperature} {room} {here.deadline < float('inf')}"

    script = Script([call("look_round", {}), finish(answer())])
    async with bot_with(stores, script, look_round.tool, model={"temperature": 0.3}) as bot:
        question = asked("Where am I?")
        await bot.ask(question)
        assert bot.api.requests[0].body["temperature"] == 0.3
    asker = ("T1", "C1", "1.0", question.user, question.id)
    assert bot.outputs() == [f"{asker} {MODEL} 0.3 True True"]


async def test_a_run_goes_on_where_the_process_died(stores: Stores) -> None:
    """I3, reliability 3: another process goes on from the save point; what was done is not redone."""
    question = asked("1+1?")
    script = Script([ADD, held(text("never heard"), asyncio.Event()), finish(answer())])
    async with ResponsesServer.open(brain=script) as api:
        async with bot_on(stores, api) as first:
            working = asyncio.create_task(first.ask(question))
            await api.until(lambda: len(api.requests) == 2 and api.requests[1].response_id)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
            assert first.board.finished == []
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, deaths=1)
    assert outcome.status is RunStatus.SUCCESS
    assert second.board.of(ToolStarted) == []
    assert second.board.of(TurnStarted)[0].turn == 2
    assert outcome.totals.tool_calls == 1
    [output] = second.outputs()
    assert output.startswith("result: 2\nexpression: 1+1\n")
    script.assert_done()


async def test_a_change_that_was_begun_is_not_made_again(stores: Stores) -> None:
    """Reliability 3: the process dies while a tool changes something; the next one tells the model
    that nobody knows how that went."""
    begun: list[str] = []

    @tool(group="test", summary="Pay", core=True, safety=Changes())
    async def pay(whom: str) -> str:
        """Pays."""
        begun.append(whom)
        await asyncio.Event().wait()
        return "paid"

    question = asked("Pay Ada.")
    script = Script([call("pay", {"whom": "Ada"}), finish(answer())])
    async with ResponsesServer.open(brain=script) as api:
        async with bot_on(stores, api, pay.tool) as first:
            working = asyncio.create_task(first.ask(question))
            await api.until(lambda: begun)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        async with bot_on(stores, api, pay.tool) as second:
            outcome = await second.ask(question, deaths=1)
    assert begun == ["Ada"]
    assert second.outputs()[0].startswith("Unknown: the bot was interrupted while this ran.")
    assert outcome.status is RunStatus.SUCCESS


async def test_a_process_that_stops_ends_what_it_is_changing(stores: Stores) -> None:
    """Reliability 7: nothing is left half done, or begun, that nobody would know the outcome of."""
    paid: list[str] = []

    @tool(group="test", summary="Pay", core=True, safety=Changes())
    async def pay(whom: str) -> str:
        """Pays."""
        first.runner.deps.draining.set()
        paid.append(whom)
        return f"paid {whom}"

    question = asked("Pay Ada and Ben.")
    both = calls(("pay", {"whom": "Ada"}), ("pay", {"whom": "Ben"}))
    async with ResponsesServer.open(brain=Script([both, finish(answer())])) as api:
        async with bot_on(stores, api, pay.tool) as first:
            with pytest.raises(Requeue):
                await first.ask(question)
            assert paid == ["Ada"]
        async with bot_on(stores, api, pay.tool) as second:
            outcome = await second.ask(question)
    assert second.outputs() == ["paid Ada", "paid Ben"]
    assert outcome.status is RunStatus.SUCCESS


@pytest.mark.parametrize("attempt", [2, 9])
async def test_what_was_accepted_is_the_answer_whoever_delivers_it(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, attempt: int
) -> None:
    """R1: the worker dies once a result was taken and before the run is finished. The next one ends
    it with that result, asks no model, and leaves what the person wrote meanwhile to the next run,
    which answers it; however often a worker had died before."""
    question, later = asked("How many?"), asked("And why?")
    script = Script([ADD, finish(answer("Two, to begin with.")), finish(answer("Because."))])
    async with ResponsesServer.open(brain=script) as api:
        async with bot_on(stores, api) as first:
            monkeypatch.setattr(failpoints, "_orders", tmp_path)
            (tmp_path / "run-finishing").write_text("raise")
            with pytest.raises(failpoints.FailpointRaised):
                await first.ask(question)
        await stores.mailbox.submit(later, event_id=later.id)
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, attempt=attempt)
            assert len(api.requests) == 2
            assert second.board.of(MessagesJoined) == []
            assert [each.text for each in await stores.mailbox.all_of(THREAD)] == ["And why?"]
            after = await second.ask(later)
    assert outcome.result == answer("Two, to begin with.")
    assert (outcome.status, outcome.totals.turns) == (RunStatus.SUCCESS, 2)
    assert after.result == answer("Because.")
    script.assert_done()


async def test_a_pause_is_the_end_also_for_who_goes_on(
    stores: Stores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """R1 C8: the bot was paused, its worker died, and the pause is over when another one tells."""

    async def brain(_: ModelRequest) -> Reply:
        await stores.pause.set(Pause(by="U9", name="Ada", at=datetime.now(UTC)))
        return ADD

    question = asked("How many?")
    async with ResponsesServer.open(brain=brain) as api:
        async with bot_on(stores, api) as first:
            monkeypatch.setattr(failpoints, "_orders", tmp_path)
            (tmp_path / "run-finishing").write_text("raise")
            with pytest.raises(failpoints.FailpointRaised):
                await first.ask(question)
        await stores.pause.clear()
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, attempt=2)
        assert len(api.requests) == 1
    assert (outcome.status, outcome.stop_reason) == (RunStatus.FAILED, StopReason.PAUSED)
    assert outcome.note.startswith("I was paused")


async def test_what_was_decided_is_delivered_by_the_next_process(stores: Stores) -> None:
    """Reliability 4: the terminal waits in the outbox; no model is asked for it again."""
    question = asked("1+1?")
    async with ResponsesServer.open(brain=Script([finish(answer())])) as api:
        async with bot_on(stores, api) as first:
            first.board.broken = 99
            working = asyncio.create_task(first.ask(question))
            while first.board.attempts == 0:  # noqa: ASYNC110 - a state of the test's own
                await asyncio.sleep(0.01)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        assert len(await stores.runs.undelivered()) == 1
        async with bot_on(stores, api) as second:
            outcome = await second.ask(question, deaths=1)
    assert second.board.finished == [outcome]
    assert outcome.result == answer()
    assert len(api.requests) == 1


async def test_a_delivery_that_fails_twice_is_done_once(stores: Stores) -> None:
    """Reliability 4: trouble in Slack costs seconds, not the answer."""
    async with bot_with(stores, Script([finish(answer())])) as bot:
        bot.board.broken = 2
        outcome = await bot.ask("1+1?")
    assert bot.board.attempts == 3
    assert bot.board.finished == [outcome]


async def test_a_request_that_was_delivered_is_left_alone(stores: Stores) -> None:
    """The promise: one terminal, however often the ticket comes."""
    question = asked("1+1?")
    async with bot_with(stores, Script([finish(answer())])) as bot:
        outcome = await bot.ask(question)
        again = await bot.ask(question, deaths=1)
    assert again == outcome
    assert bot.board.finished == [outcome]


async def test_who_lost_the_thread_writes_and_posts_nothing(stores: Stores) -> None:
    """Reliability 2: a newer run holds the thread; the old one ends without a word."""

    async def brain(request: ModelRequest) -> Reply:
        await stores.leases.take(THREAD)
        return finish(answer())

    async with bot_with(stores, brain) as bot:
        with pytest.raises(LeaseLost):
            await bot.ask("1+1?")
    assert bot.board.finished == []
    assert (await stores.caller_states.load(THREAD)).previous_response_id is None


async def test_stop_ends_a_run_and_the_thread_goes_on(stores: Stores) -> None:
    """H1: at once, with its own end; the next question works and knows that the first was left."""
    script = Script([held(text("never heard"), asyncio.Event()), finish(answer())])
    async with bot_with(stores, script) as bot:
        first = asked("First?")
        working = asyncio.create_task(bot.ask(first))
        await bot.api.until(lambda: bot.api.requests and bot.api.requests[0].response_id)
        assert await stores.signals.request_cancel(THREAD, first.id, "U1")
        outcome = await working
        await bot.ask("Second?")
    assert outcome.status is RunStatus.CANCELLED
    assert outcome.stop_reason is StopReason.CANCELLED_STREAMING
    assert outcome.note == "Stopped."
    assert "previous_response_id" not in bot.api.requests[1].body
    said = bot.said()
    assert "First?" in said[0]
    assert any("Second?" in each for each in said[1:])
    assert any("stopped this" in each for each in said)


async def test_a_change_under_way_at_stop_may_have_happened(stores: Stores) -> None:
    """H1c: the person and the audit log learn that nobody knows."""
    began = asyncio.Event()

    @tool(group="g", summary="Files", core=True, safety=Changes(), title="File {name}")
    async def file_it(name: str) -> str:
        "Files something."
        began.set()
        await asyncio.Event().wait()
        return name

    async with bot_with(stores, Script([call("file_it", {"name": "x"})]), file_it.tool) as bot:
        question = asked("File x")
        working = asyncio.create_task(bot.ask(question))
        await began.wait()
        assert await stores.signals.request_cancel(THREAD, question.id, "U1")
        outcome = await working
        log = [kept.entry async for kept in stores.audit.read("T1") if kept.entry]
    assert outcome.found == ("File x: this may be done already, so check first",)
    [called] = [each for each in log if each.kind is AuditKind.CALLED]
    assert (called.what, called.ok, called.unknown) == ("file_it", False, True)
    assert [each.unknown for each in bot.board.of(ToolEnded)] == [True]


async def test_a_stop_before_the_run_is_not_lost(stores: Stores) -> None:
    """H1: pressed while the request still waited; no model is asked."""
    question = asked("1+1?")
    await stores.mailbox.submit(question, event_id="E1")
    await stores.signals.request_cancel(THREAD, question.id, "U1")
    async with bot_with(stores, Script([])) as bot:
        outcome = await bot.ask(question)
    assert outcome.status is RunStatus.CANCELLED
    assert bot.api.requests == []


async def test_a_private_chain_is_for_one_person(stores: Stores) -> None:
    """Reliability 9: Ada goes on with hers in private; nothing of it is in what others can see, be
    it Ben who asks or Ada herself."""
    script = Script([finish(answer("The secret is 7.")), *[finish(answer())] * 4])
    async with bot_with(stores, script) as bot:
        await bot.ask("Tell me the secret", user="ADA", private=True)
        assert (await stores.caller_states.load(THREAD, "ADA")).bound_to == "ADA"
        await bot.ask("What was it?", user="BEN")
        await bot.ask("And then?", user="ADA")
        await bot.ask("And then?", user="ADA", private=True)
        await bot.ask("And mine?", user="BEN", private=True)
    secret, ben, ada, alone, other = bot.api.requests
    assert "previous_response_id" not in ben.body
    assert "secret" not in str(ben.body["input"])
    assert ada.body["previous_response_id"] == ben.response_id
    assert alone.body["previous_response_id"] == secret.response_id
    assert other.body["previous_response_id"] == ada.response_id


async def test_a_chain_that_is_rebuilt_holds_nothing_private_of_another(stores: Stores) -> None:
    """B8, reliability 9: also when the service has forgotten the chain and it is made anew."""
    script = Script([finish(answer("The secret is 7.")), finish(answer("Five.")), finish(answer())])
    async with bot_with(stores, script) as bot:
        await bot.ask("Tell me the secret", user="ADA", private=True)
        await bot.ask("How many?", user="BEN")
        bot.api.faults.fail("missing_parent_once", times=9)
        outcome = await bot.ask("And now?", user="BEN")
    assert outcome.status is RunStatus.SUCCESS
    rebuilt = str(bot.api.requests[-1].body["input"])
    assert "How many?" in rebuilt
    assert "secret" not in rebuilt


@pytest.mark.parametrize("kept", ["{half", '{"version": 99}', "[]", "\ud83d"])
async def test_a_state_that_cannot_be_read_starts_the_thread_afresh(
    stores: Stores, redis: Redis, kept: str
) -> None:
    """Reliability 8: set aside and reported; the person gets an answer, not an error."""
    await redis.set(f"bot:v1:caller-state:{THREAD}", kept.encode("utf-8", "replace"), ex=60)
    async with bot_with(stores, Script([finish(answer())])) as bot:
        outcome = await bot.ask("1+1?")
    assert outcome.status is RunStatus.SUCCESS
    assert await redis.exists(f"bot:quarantine:v1:caller-state:{THREAD}")


async def test_a_bug_of_ours_ends_in_one_clear_failure(
    stores: Stores, caplog: pytest.LogCaptureFixture
) -> None:
    """D3: logged with its trace; the person hears what to do, not what broke; the thread goes on."""

    def explode(_request: ModelRequest) -> Reply:
        bug = KeyError("internals")
        bot.board.shown = Explosive(bug)  # type: ignore[assignment]
        return ADD

    script = Script([respond(explode), finish(answer())])
    async with bot_with(stores, script) as bot:
        outcome = await bot.ask("1+1?")
        bot.board.shown = []
        again = await bot.ask("Again?")
    assert (outcome.status, outcome.stop_reason) == (RunStatus.FAILED, StopReason.INTERNAL_ERROR)
    assert "Please retry" in outcome.note
    assert "internals" not in outcome.model_dump_json()
    assert "internals" in caplog.text
    assert again.status is RunStatus.SUCCESS
    assert bot.board.finished == [outcome, again]


class Explosive:
    """What a defect of ours does to whoever touches it."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def append(self, _event: object) -> None:
        raise self.error


async def test_a_save_point_that_cannot_be_read_ends_in_one_clear_failure(
    stores: Stores, redis: Redis
) -> None:
    """Reliability 8: never a crash that comes back with every attempt."""
    question = asked("1+1?")
    lease, record = await stores.runs.start(question, "run_1")
    await stores.runs.save_point(record.run_id, "{half", lease)
    async with bot_with(stores, Script([])) as bot:
        outcome = await bot.ask(question, deaths=1)
    assert outcome.stop_reason is StopReason.INTERNAL_ERROR
    assert bot.board.finished == [outcome]


async def test_trouble_with_redis_is_not_the_end_of_a_request(stores: Stores, redis: Redis) -> None:
    """Reliability 8: nothing can be kept, so nothing is said; the next attempt answers."""
    question = asked("1+1?")

    async def brain(_request: ModelRequest) -> Reply:
        await redis.config_set("maxmemory", 1)
        return finish(answer())

    async with bot_with(stores, brain) as bot:
        try:
            with pytest.raises(StoreUnavailable):
                await bot.ask(question)
        finally:
            await redis.config_set("maxmemory", 0)
        assert bot.board.finished == []
        bot.api.brain = Script([finish(answer())])
        outcome = await bot.ask(question, deaths=1)
    assert outcome.status is RunStatus.SUCCESS
    assert bot.board.finished == [outcome]


async def test_what_kills_its_workers_is_given_up(stores: Stores) -> None:
    """R2, reliability 17: three workers died under it since its last save point. The end says what it
    had done, and of what nobody knows whether it was done; the next question sees that."""
    begun = asyncio.Event()

    @tool(group="test", summary="Pay", core=True, safety=Changes())
    async def pay_ada() -> str:
        """Pays."""
        begun.set()
        await asyncio.Event().wait()
        return "paid"

    @tool(group="test", summary="Look", core=True, title="Look at the books")
    async def look() -> str:
        """Looks."""
        return "Ada is owed 5."

    question = asked("Pay Ada.")
    script = Script([call("look", {}), call("pay_ada", {}), finish(answer())])
    async with bot_with(stores, script, pay_ada.tool, look.tool) as bot:
        working = asyncio.create_task(bot.ask(question))
        await begun.wait()
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        outcome = await bot.ask(question, deaths=3)
        assert len(bot.api.requests) == 2
        assert (await bot.ask("And now?")).status is RunStatus.SUCCESS
    assert (outcome.status, outcome.stop_reason) == (RunStatus.FAILED, StopReason.INTERNAL_ERROR)
    assert "What I did: Look at the books." in outcome.note
    assert "I do not know whether this was done, so check first: pay ada." in outcome.note
    assert outcome.totals.turns == 2
    said = bot.said()
    assert said[0] == "Pay Ada."
    assert "pay_ada({}) → outcome unknown" in said[1]  # the model must not do it again
    assert said[2] == outcome.note
    assert "And now?" in said[3]


async def test_an_outcome_survives_more_deaths_than_work_does(stores: Stores) -> None:
    """R1, R2: Slack is away and a host kills workers that wait for it; what was decided is kept."""
    question = asked("1+1?")
    async with bot_with(stores, Script([finish(answer())])) as bot:
        bot.board.broken = 1
        working = asyncio.create_task(bot.ask(question))
        while not bot.board.attempts:  # noqa: ASYNC110 - a state of the test's own
            await asyncio.sleep(0.01)
        working.cancel()
        await asyncio.gather(working, return_exceptions=True)
        outcome = await bot.ask(question, deaths=9)
    assert outcome.result == answer()
    assert bot.board.finished == [outcome]


async def test_an_outcome_that_kills_whoever_posts_it_is_replaced_then_left(stores: Stores) -> None:
    """R2: by the plain failure; where workers die of that as well the thread goes on without."""
    question = asked("1+1?")
    async with bot_with(stores, Script([finish(answer())] * 2)) as bot:
        for deaths in (0, 10):
            bot.board.attempts, bot.board.broken = 0, 99
            working = asyncio.create_task(bot.ask(question, deaths=deaths))
            while not bot.board.attempts:  # noqa: ASYNC110 - a state of the test's own
                await asyncio.sleep(0.01)
            working.cancel()
            await asyncio.gather(working, return_exceptions=True)
        outcome = await bot.ask(question, deaths=10)
        assert outcome.stop_reason is StopReason.INTERNAL_ERROR
        assert bot.board.finished == []
        assert await stores.mailbox.head(THREAD) is None


@pytest.mark.parametrize(
    ("fault", "kind", "said"),
    [
        ("quota", ModelErrorKind.QUOTA, "quota is used up"),
        ("invalid_prompt", ModelErrorKind.POLICY, "Put it another way"),
        (401, ModelErrorKind.AUTHENTICATION, "does not accept my key"),
    ],
)
@pytest.mark.parametrize("stateless", [False, True])
async def test_a_failure_of_the_service_is_said_and_the_next_question_sees_it(
    stores: Stores, fault: Any, kind: ModelErrorKind, said: str, stateless: bool
) -> None:
    """C8, R11: a sentence and what to do. The question is kept, once however often it fails, and on
    the chain as it was; but not what the service would refuse again."""
    settings = {"model": ModelSettings(stateless=stateless)}
    async with bot_with(stores, Script([finish(answer())] * 2), **settings) as bot:
        await bot.ask("First?")
        before = await stores.caller_states.load(THREAD)
        bot.api.faults.fail(fault, times=9)
        outcome = await bot.ask("Second?")
        again = await bot.ask("Second?")
        bot.api.faults.clear()
        assert (await bot.ask("Third?")).status is RunStatus.SUCCESS
    assert (
        (outcome.status, outcome.error) == (again.status, again.error) == (RunStatus.FAILED, kind)
    )
    assert said in outcome.note
    heard = "\n".join(map(str, bot.said()))
    assert heard.count(outcome.note) == 1
    assert heard.count("Second?") == (kind is not ModelErrorKind.POLICY)
    if not stateless:
        assert bot.api.requests[-1].body["previous_response_id"] == before.previous_response_id
    assert heard.index(outcome.note) < heard.index("Third?")


async def test_a_question_that_failed_in_private_stays_private(stores: Stores) -> None:
    """R11, reliability 9: Ada's next private question sees it, Ben's and her public one do not."""
    script = Script([finish(answer())] * 3)
    async with bot_with(stores, script) as bot:
        bot.api.faults.fail("quota", times=3)
        await bot.ask("My secret?", user="ADA", private=True)
        bot.api.faults.clear()
        for user, private in (("BEN", False), ("ADA", False), ("ADA", True)):
            await bot.ask("And now?", user=user, private=private)
    seen = ["My secret?" in str(each.body["input"]) for each in bot.api.requests[-3:]]
    assert seen == [False, False, True]


async def test_a_question_that_a_bug_of_ours_ended_is_seen_by_the_next(stores: Stores) -> None:
    """R11: in the middle of its work, its calls unanswered; the chain stays valid (B2)."""

    def explode(_request: ModelRequest) -> Reply:
        bot.board.shown = Explosive(KeyError("internals"))  # type: ignore[assignment]
        return ADD

    async with bot_with(stores, Script([respond(explode), finish(answer())])) as bot:
        failed = await bot.ask("First?")
        bot.board.shown = []
        assert (await bot.ask("Second?")).status is RunStatus.SUCCESS
    assert bot.said()[:2] == ["First?", failed.note]
