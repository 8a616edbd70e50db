"""A thread as the runner keeps it, with runs that follow a plan against the strict stand-in."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Iterator, Sequence
from contextlib import aclosing, asynccontextmanager, suppress
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import BaseModel

from bot.agent import prompts
from bot.agent.builtin.complete_task import ResponseType
from bot.agent.builtin.subagents import dispatch_subagent, with_subagents
from bot.agent.calls.call import Toolbox
from bot.agent.events import Event, Recorded, RunEnded, SavePoint
from bot.agent.handover import caller_after, caller_after_failure, first_state
from bot.agent.hooks.chain import (
    Approved,
    Block,
    Go,
    HookChain,
    Hooks,
    Permission,
    Prevent,
    Undecided,
    Verdict,
)
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.loop import run
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.agent.window import changes_in
from bot.core.answers import Answer
from bot.core.chain import CallerState, Item, LedgerEntry
from bot.core.context import RequestContext, bound_request, current_request
from bot.core.outcome import StopReason
from bot.core.request import Entry, Request
from bot.dev.model import ModelRequest, Reply, ResponsesServer, call, finish, text
from bot.dev.model.cache import PromptCache
from bot.dev.model.faults import Fault, Faults
from bot.dev.model.server import Received
from bot.features.effort.feature import Effort
from bot.features.evaluation.hook import Evaluation
from bot.model import ServerTraits
from bot.model.client import ResponsesModel, sdk_client
from bot.model.types import ModelResponse
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Changes, Provided, Tool, ToolError, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import Services
from tests.unit.agent.harness import ANSWER, MODELS, Cheap
from tests.unit.agent.turns import GOALS, Plan, Policy

HELPERS = dispatch_subagent.tool
_ANSWER = ResponseType(Answer, "summary")
PLAIN = Plan((), (), None, {})


@dataclass
class Piece:
    """What one worker did of a run, up to its end, a pause or its death: what was kept, changed,
    vetoed, asked about, launched, judged and sent back, and how often its end was told. `began` and `stopped` are numbers of
    requests that the service had received, when the worker began and when a person pressed Stop."""

    events: list[Event] = field(default_factory=list)
    kept: list[Recorded] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    vetoed: list[str] = field(default_factory=list)
    asked: list[str] = field(default_factory=list)
    launched: list[str] = field(default_factory=list)
    judged: list[BaseModel] = field(default_factory=list)
    blocked: int = 0
    closed: int = 0
    began: int = 0
    stopped: int | None = None

    @property
    def ended(self) -> RunEnded | None:
        last = self.events[-1] if self.events else None
        return last if isinstance(last, RunEnded) else None


@dataclass
class Mailbox:
    """What the person writes meanwhile: the turn in which it comes, and the words."""

    waiting: dict[str, int] = field(default_factory=dict)

    def due(self, turn: int) -> tuple[Item, ...]:
        """The messages that have come by then."""
        return tuple({"role": "user", "content": w} for w, n in self.waiting.items() if n <= turn)

    def keep(self, entry: LedgerEntry) -> None:
        """What was kept in the thread waits no longer."""
        if not entry.checkpoint:
            for item in entry.items:
                self.waiting.pop(str(item.get("content")), None)


@dataclass
class Planned(Hooks):
    """Does to one worker's piece of a run what its policy says, and notes what it was asked."""

    policy: Policy
    piece: Piece
    decided: frozenset[str]
    mailbox: Mailbox

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        return () if state.closing else self.mailbox.due(state.turn + state.sent_back)

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        if state.turn + state.sent_back not in self.policy.notes:
            return ()
        await asyncio.sleep(0)
        return (prompts.note("Noticed on the side."),)

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        key = current_request().idempotency_key
        if tool.name in self.policy.asks:
            return self._decided(tool, key)
        return self._vetoed(tool, key) if tool.name in self.policy.vetoes else None

    def _decided(self, tool: Tool, key: str) -> Permission:
        if key not in self.decided:
            self.piece.asked.append(key)
            return Undecided()
        return Approved() if self.policy.allows else self._vetoed(tool, key)

    def _vetoed(self, tool: Tool, key: str) -> str:
        self.piece.vetoed.append(key)
        return f"{tool.name} is not wanted here."

    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        wanted = self.policy.turns is not None and state.turn >= self.policy.turns
        return StopReason.STOP_HOOK if wanted else None

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        self.piece.judged.append(result)
        if state.sent_back < self.policy.blocks:
            self.piece.blocked += 1
            return Block("Look again.")
        return Prevent() if self.policy.prevents else Go()

    async def on_run_end(self, ended: RunEnded) -> None:
        self.piece.closed += 1


@dataclass
class Thread:
    """A thread as the runner keeps it, and the one service that all its runs speak to."""

    api: ResponsesServer
    model: ResponsesModel
    window: int
    stateless: bool
    artifacts: MemoryArtifacts = field(default_factory=MemoryArtifacts)
    ledger: list[LedgerEntry] = field(default_factory=list)
    caller: CallerState = field(default_factory=CallerState)
    saved: str = ""
    runs: int = 0
    question: str = ""
    plan: Plan = PLAIN
    replies: list[Reply] = field(default_factory=list)
    pieces: list[Piece] = field(default_factory=list)
    interrupt: Interrupt = field(default_factory=Interrupt)
    worker: asyncio.Task[None] | None = None
    asked: int = 0
    judged: int = 0
    decided: frozenset[str] = frozenset()
    mailbox: Mailbox = field(default_factory=Mailbox)
    snapshots: list[Snapshot] = field(default_factory=list)

    @classmethod
    @asynccontextmanager
    async def open(cls, *, stateless: bool, stream: bool, window: int) -> AsyncGenerator[Thread]:
        threads: list[Thread] = []
        windows = dict.fromkeys(MODELS, window)
        async with (
            ResponsesServer.open(brain=lambda r: threads[0].reply(r), windows=windows) as api,
            sdk_client(api.api_key, api.url, max_retries=0) as client,
        ):
            api.faults = Helpers()
            traits = ServerTraits(stateless=stateless)
            model = ResponsesModel(client, traits=traits, stream=stream)
            threads.append(cls(api, model, window, stateless))
            yield threads[0]

    def begin(self, plan: Plan) -> None:
        """A person asks, and what they asked is kept (B5)."""
        self.runs += 1
        self.question = f"Question {self.runs}?"
        self.pieces = []
        asked: Item = {"role": "user", "content": self.question}
        state = first_state(self.caller, asked)
        self.ledger.append(LedgerEntry(run_id=f"run_{self.runs}", items=(asked,)))
        self.saved = state.model_dump_json()
        self.follow(plan)

    def follow(self, plan: Plan) -> None:
        """From here on the model, its service and the person do as `plan` says."""
        self.plan, self.replies, self.asked, self.judged = plan, list(plan.replies), 0, 0
        self.mailbox = Mailbox({f"And no. {n}?": t for n, t in enumerate(plan.policy.joins)})
        self.api.faults.clear()
        for fault in plan.faults:
            self.api.faults.fail(
                fault.kind, fault.times, fault.where, skip=fault.skip, saying=fault.saying
            )

    async def work(self) -> Piece:
        """One worker takes up the run where it was saved, to its end or its own."""
        piece = Piece(began=len(self.api.requests))
        self.pieces.append(piece)
        self.interrupt = Interrupt()
        self.worker = asyncio.create_task(self._work(piece))
        await asyncio.wait([self.worker])
        if not self.worker.cancelled():
            self.worker.result()
        if piece.ended:
            model = self._context().model
            after = caller_after(piece.ended, CallerState(), model=model, bound_to=None)
            if after.state is None:
                self.fail("I could not do this.")
                return piece
            self.caller = after.state
            if after.added:
                self.ledger.append(LedgerEntry(run_id=f"run_{self.runs}", items=after.added))
        return piece

    def fail(self, note: str) -> None:
        """The run leaves nothing but words, as the runner writes them."""
        run_id = f"run_{self.runs}"
        own = [entry for entry in self.ledger if entry.run_id == run_id]
        changes = changes_in(own, lambda name: name == "change")
        self.caller, entry = caller_after_failure(
            self.caller, [self.question], note, changes, run_id=run_id, bound_to=None
        )
        self.ledger.append(entry)

    async def _work(self, piece: Piece) -> None:
        state = LoopState.model_validate_json(self.saved)
        with bound_request(self._context()):
            async with aclosing(run(state, self._parts())) as events:
                async for event in events:
                    piece.events.append(event)
                    if self._meets("before_event", len(piece.events)):
                        return
                    if isinstance(event, Recorded):
                        piece.kept.append(event)
                        self.ledger.append(event.entry)
                        self.mailbox.keep(event.entry)
                    if isinstance(event, Recorded | SavePoint):
                        self.saved = event.state.model_dump_json()
                        self.snapshots.append(self._snapshot())
                    if self._meets("after_event", len(piece.events)):
                        return

    def _meets(self, where: str, n: int) -> bool:
        """Whether the worker dies here; a Stop is passed on."""
        trouble = self.plan.trouble
        if trouble is None or trouble.where != where or trouble.n != n:
            return False
        piece = self.pieces[-1]
        if trouble.kind == "crash":
            return not piece.ended
        if not piece.ended:
            piece.stopped = len(self.api.requests)
            self.interrupt.request()
        return False

    def meets_inside(self, where: str, n: int) -> bool:
        """Whether trouble has come by then; the worker is cancelled if it is to die of it."""
        if self._meets(where, n) and self.worker:
            self.worker.cancel()
        return self.interrupt.requested or bool(self.worker and self.worker.cancelling())

    def _snapshot(self) -> Snapshot:
        return Snapshot(
            saved=self.saved,
            ledger=list(self.ledger),
            replies=list(self.replies),
            asked=self.asked,
            judged=self.judged,
            decided=self.decided,
            mailbox=deepcopy(self.mailbox),
            faults=deepcopy(self.api.faults),
            cache=deepcopy(self.api.cache),
            traits=deepcopy(self.model.traits),
            requests=len(self.own_requests()),
        )

    def go_back(self, to: Snapshot) -> None:
        """As if the worker had died right after that save point, and nothing had come since."""
        self.saved, self.ledger, self.replies = to.saved, list(to.ledger), list(to.replies)
        self.asked, self.judged, self.decided = to.asked, to.judged, to.decided
        self.mailbox, self.pieces = deepcopy(to.mailbox), []
        self.api.faults, self.api.cache = deepcopy(to.faults), deepcopy(to.cache)
        self.model.traits = deepcopy(to.traits)
        if isinstance(self.api.faults, Helpers):
            self.api.faults.calls.clear()

    def own_requests(self) -> list[Received]:
        """The requests of the run itself: what helpers do is done again."""
        return [each for each in self.api.requests if not _is_helpers(each.body)]

    def reply(self, request: ModelRequest) -> Reply:
        """What the model says: as planned, or else the result."""
        if _is_helpers(request.body):
            return Helpers.reply(request)
        if any(each["name"] == "judge" for each in request.tools):
            self.judged += 1
            return call("judge", {**_JUDGED, "completed": self.judged % 3 == 0})
        self.asked += 1
        self.meets_inside("reply", self.asked)
        if not request.tools:
            return text("They talked.") if self.asked % 2 else text("", disobey=True)
        return self.replies.pop(0) if self.replies else finish(ANSWER)

    def _context(self) -> RequestContext:
        request = Request(
            entry=Entry.MENTION, team="T1", channel="C1", thread="1.0", ts=f"{self.runs}.0",
            user="U1", text=self.question,
        )  # fmt: skip
        return RequestContext(request=request, run_id=f"run_{self.runs}", model=MODELS[0])

    def _parts(self) -> LoopDeps:
        async def history() -> list[LedgerEntry]:
            return list(self.ledger)

        parts = LoopDeps(
            model=self.model,
            models=MODELS,
            prices=Cheap(self.window),
            toolbox=Toolbox(_TOOLS, {Thread: self}, self.artifacts),
            response_type=_ANSWER,
            limits=Limits(**self.plan.limits, turn_seconds=self.plan.seconds),
            interrupt=self.interrupt,
            context=self._context(),
            history=history,
            hooks=HookChain(tuple(self._hooks())),
            traits=self.model.traits,
            parent_pause=0.0,
        )
        return with_subagents(parts)

    def _hooks(self) -> Iterator[Hooks]:
        """By now, somebody has decided about all that a former worker asked for."""
        policy = self.plan.policy
        self.decided |= {key for piece in self.pieces[:-1] for key in piece.asked}
        yield Planned(policy, self.pieces[-1], self.decided, self.mailbox)
        if policy.effort is not None:
            yield Effort(policy.effort)
        if policy.tries is not None:
            yield Evaluation(lambda: self.question, self.model, MODELS[0], tries=policy.tries)


def _small_tools() -> Catalogue:
    """Make the tools of all threads, once: each call gets its own thread."""

    @tool(group="g", summary="Adds", core=True, title="{a} + {b}")
    async def add(a: int, b: int = 1) -> int:
        "Adds."
        if b < 0:
            raise ToolError("b must not be negative.")
        return a + b

    @tool(group="g", summary="Big", core=True)
    async def big(lines: int) -> str:
        "Large output."
        return "\n".join(f"line {n} of what was found" for n in range(lines))

    @tool(group="g", summary="Fails", core=True)
    async def fail(how: str) -> str:
        "Fails."
        raise ToolError("Not so.") if how == "tool" else RuntimeError("a bug")

    @tool(group="g", summary="Slow", core=True, timeout=0.01)
    async def slow() -> str:
        "Never ends."
        await asyncio.Event().wait()
        return "never"

    @tool(group="g", summary="Changes", core=True, safety=Changes())
    async def change(thread: Provided[Thread], name: str = "all") -> str:
        "Changes something."
        thread.pieces[-1].changed.append(current_request().idempotency_key)
        return f"changed {name}"

    @tool(group="g", summary="Launches", core=True, safety=Changes(sensitive=True))
    async def launch(thread: Provided[Thread]) -> str:
        "Launches."
        thread.pieces[-1].launched.append(current_request().idempotency_key)
        return "launched"

    @tool(group="g", summary="Where trouble comes", core=True, timeout=5)
    async def meddle(thread: Provided[Thread]) -> str:
        "Waits for the end if trouble comes."
        if thread.meets_inside("tool", 1):
            await asyncio.Event().wait()
        return "nothing came"

    @tool(group="g", summary="Quits", core=True, title=lambda _: str(1 / 0))
    def quit() -> str:
        "Ends its thread."
        raise SystemExit

    @tool(group="g", summary="Holds on", core=True, timeout=0.01)
    async def stubborn() -> str:
        "Does not mind being cancelled once."
        with suppress(asyncio.CancelledError):
            await asyncio.Event().wait()
        return "never"

    async def more(services: Services) -> str:
        return "extra is for extras."

    @tool(group="rare", summary="Something extra", on_acquired=more)
    async def extra(what: str) -> str:
        "Extra."
        return f"extra {what}"

    made = (add, big, fail, slow, change, launch, meddle, quit, stubborn, extra)
    return Catalogue.of(each.tool for each in made).with_own(replace(HELPERS, core=True))


_TOOLS = _small_tools()


@dataclass(frozen=True)
class Snapshot:
    """All that goes on from a save point: what was kept, and where the model, its service and the
    person were then, what was known of the service; `requests` were made until then."""

    saved: str
    ledger: list[LedgerEntry]
    replies: list[Reply]
    asked: int
    judged: int
    decided: frozenset[str]
    mailbox: Mailbox
    faults: Faults
    cache: PromptCache
    traits: ServerTraits
    requests: int


@dataclass
class Helpers(Faults):
    """What helpers say and which faults they meet: it hangs on the goal and on what was done for it
    alone, since a helper that was interrupted begins again. All other faults are those of the run."""

    calls: dict[tuple[str, int], int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        super().__init__()

    def take(self, request: ModelRequest) -> Fault | None:
        if not _is_helpers(request.body):
            return super().take(request)
        if _is_helpers_summary(request.body):
            return None
        goal, turn = _goal(request), _turns(request)
        self.calls[goal, turn] = call = self.calls.get((goal, turn), 0) + 1
        is_first_model = request.model == MODELS[0]
        meets = Faults()
        if goal == "Break off." and call % 2:  # the next try goes well
            meets.fail("cut", saying=text("What is never whole"))
        elif goal == "Fall back." and turn == 1 and is_first_model:
            meets.fail("overloaded")
        elif goal == "Overflow." and turn == 1:
            meets.fail("context_length")
        elif goal == "Be refused." and turn == 1:
            meets.fail("invalid_prompt")
        return meets.take(request)

    @staticmethod
    def reply(request: ModelRequest) -> Reply:
        """A helper adds, after a call that fails if it stumbles, then reports; or talks."""
        if _is_helpers_summary(request.body):
            return text("It was looking.")
        goal, turn = _goal(request), _turns(request)
        if goal == "Talk.":
            return text("It is three.", disobey=True)
        if goal == "Stumble." and turn == 0:
            return call("fail", {"how": "tool"})
        done = 2 if goal == "Stumble." else 1
        return call("add", {"a": 7, "b": 2}) if turn < done else finish(_REPORT)


def _goal(request: ModelRequest) -> str:
    return next(goal for goal in GOALS if goal in request.text)


def _turns(request: ModelRequest) -> int:
    """Turns of a helper that brought an output."""
    return sum(item.get("type") == "function_call_output" for item in request.items)


_JUDGED = {"confidence": "medium", "issues": ["No source."], "suggestion": "Read it."}
_REPORT = {"summary": "It is nine.", "findings": [], "gaps": []}


def _is_helpers(body: dict[str, Any]) -> bool:
    return "You are a helper" in body.get("instructions", "") or _is_helpers_summary(body)


def _is_helpers_summary(body: dict[str, Any]) -> bool:
    """Whether a helper's conversation is summarised: what it adds up nobody else does."""
    return not body.get("tools") and '"a":7' in str(body["input"][0].get("content"))
