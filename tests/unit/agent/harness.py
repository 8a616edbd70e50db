"""Runs the real loop with a few small tools against the stand-in Responses API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Annotated, Any

from pydantic import Field

from bot.agent.builtin.complete_task import ResponseType
from bot.agent.calls.call import Toolbox
from bot.agent.events import Event, Recorded, RunEnded, SavePoint
from bot.agent.hooks.chain import HookChain, Hooks
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.loop import run
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.core.answers import Answer, Source
from bot.core.chain import Item, LedgerEntry, Usage
from bot.core.context import RequestContext, current_request
from bot.core.request import Entry, Request
from bot.dev.model import ResponsesServer
from bot.model import ServerTraits
from bot.model.client import ResponsesModel, sdk_client
from bot.testing.artifacts import MemoryArtifacts
from bot.toolkit import Changes, ToolError, ToolResult, tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import Services

ANSWER: dict[str, Any] = {
    "summary": "Two.",
    "key_points": [],
    "table": None,
    "charts": [],
    "sources": [],
    "gaps": [],
    "follow_ups": [],
    "confidence": "high",
    "corrects": None,
}


MODELS = ("gpt-5.4-mini", "gpt-5.4")


@dataclass
class Cheap:
    """A dollar per million tokens of input, whatever the model."""

    tokens: int = 272_000

    def window(self, model: str) -> int:
        return self.tokens

    def cost(self, model: str, usage: Usage) -> float:
        return usage.input_tokens / 1_000_000


@dataclass
class Gate:
    """Lets a test hold tools in mid-run and see what ran, in order."""

    open: asyncio.Event = field(default_factory=asyncio.Event)
    log: list[str] = field(default_factory=list)
    running: int = 0
    most: int = 0
    entered: asyncio.Event = field(default_factory=asyncio.Event)


async def tell_more(services: Services) -> str:
    return "extra tells things; use it for extras."


def small_tools(gate: Gate) -> Catalogue:
    @tool(group="math", summary="Adds", core=True, title="{a} + {b}")
    async def add(a: int, b: Annotated[int, Field(ge=0)] = 1) -> int:
        "Adds."
        gate.log.append(f"add {a} {b}")
        return a + b

    @tool(group="math", summary="Waits", core=True)
    async def wait(name: str) -> str:
        "Waits until the test opens the gate."
        gate.log.append(f"begin {name}")
        gate.running += 1
        gate.most = max(gate.most, gate.running)
        gate.entered.set()
        try:
            await gate.open.wait()
        finally:
            gate.running -= 1
            gate.log.append(f"end {name}")
        return name

    @tool(group="math", summary="Changes", core=True, safety=Changes(), title="Change {name}")
    async def change(name: str) -> str:
        "Changes something."
        gate.log.append(f"change {name}")
        return f"changed {name}"

    @tool(group="math", summary="Rebuilds", core=True, safety=Changes(), title="Rebuild {name}")
    async def rebuild(name: str) -> str:
        "Changes something, and takes as long as the test wants."
        gate.log.append(f"rebuild {name}")
        gate.entered.set()
        await gate.open.wait()
        return f"rebuilt {name}"

    @tool(group="math", summary="Fails", core=True)
    async def fail(how: str) -> str:
        "Fails."
        if how == "tool":
            raise ToolError("Use another column: price.")
        raise RuntimeError("secret internals")

    @tool(group="math", summary="Slow", core=True, timeout=0.05)
    async def slow() -> str:
        "Never ends."
        await asyncio.Event().wait()
        return "never"

    @tool(group="math", summary="Blocks", core=True)
    def context_of() -> str:
        "Runs in a thread."
        seen = current_request()
        return f"{seen.user} {seen.turns_left} {seen.idempotency_key}"

    @tool(group="math", summary="Tells its room", core=True)
    async def room() -> int:
        "How large an output may be."
        return current_request().max_response_size

    @tool(group="math", summary="Big", core=True, narrowing=("lines",))
    async def big(lines: int) -> ToolResult:
        "Large output."
        return ToolResult(
            "\n".join(f"line {n}" for n in range(lines)),
            sources=(Source(title="Big", url="https://big.example/x", supports="all"),),
        )

    @tool(group="math", summary="Launches", core=True, safety=Changes(sensitive=True))
    async def launch() -> str:
        "Launches."
        gate.log.append("launched")
        return "launched"

    @tool(
        group="rare",
        summary="Something extra",
        on_acquired=tell_more,
        replaces={"former": "what it was."},
    )
    async def extra(what: str) -> str:
        "Extra."
        return f"extra {what}"

    made = (add, wait, change, rebuild, fail, slow, context_of, room, big, launch, extra)
    return Catalogue.of(each.tool for each in made)


@dataclass
class Bench:
    """One place to run: a server, tools, and the store of what the loop recorded."""

    api: ResponsesServer
    parts: LoopDeps
    gate: Gate
    artifacts: MemoryArtifacts
    events: list[Event] = field(default_factory=list)
    saved: list[Recorded] = field(default_factory=list)
    states: list[LoopState] = field(default_factory=list)

    async def run(self, question: str = "1+1?", state: LoopState | None = None) -> RunEnded:
        """The whole run; keeps what is to be kept."""
        async for event in self.stream(question, state):
            if isinstance(event, RunEnded):
                return event
        raise AssertionError("a run must end with RunEnded")

    async def stream(
        self, question: str = "1+1?", state: LoopState | None = None
    ) -> AsyncGenerator[Event]:
        state = state or LoopState()
        asked: Item = {"role": "user", "content": question}
        begun: dict[str, Any] = {"turn": 0, "elapsed": 0.0, "ending": None, "done": ()}
        begun |= {"task": asked, "pending": (*state.pending, asked)}
        state = state.model_copy(update=begun)
        entry = LedgerEntry(run_id="run_1", items=(asked,))
        self.saved.append(Recorded(state, entry))
        async with aclosing(run(state, self.parts)) as events:
            async for event in events:
                self.events.append(event)
                self._keep(event)
                yield event

    async def resume(self) -> RunEnded:
        """Go on from what was kept last, as another worker would."""
        async with aclosing(run(self.states[-1], self.parts)) as events:
            async for event in events:
                self.events.append(event)
                self._keep(event)
                if isinstance(event, RunEnded):
                    return event
        raise AssertionError("a run must end with RunEnded")

    def _keep(self, event: Event) -> None:
        if isinstance(event, Recorded):
            self.saved.append(event)
        if isinstance(event, Recorded | SavePoint):
            self.states.append(event.state)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.events if isinstance(event, kind)]

    def outputs(self, request: int = -1) -> dict[str, str]:
        """call_id → output, as a request carried them."""
        items = self.api.requests[request].body["input"]
        return {i["call_id"]: i["output"] for i in items if i.get("type") == "function_call_output"}


@asynccontextmanager
async def bench(
    brain: Callable[..., Any],
    *,
    stream: bool = True,
    dry_run: bool = False,
    stateless: bool = False,
    hooks: tuple[Hooks, ...] = (),
    before: tuple[LedgerEntry, ...] = (),
    window: int = 272_000,
    **limits: Any,
) -> AsyncGenerator[Bench]:
    """A bench whose model follows `brain`; `before` is what the thread's ledger holds already."""
    gate, artifacts = Gate(), MemoryArtifacts()
    traits = ServerTraits(stateless=stateless)
    kept: list[Recorded] = []

    async def history() -> list[LedgerEntry]:
        return [*before, *(each.entry for each in kept)]

    request = Request(
        entry=Entry.MENTION, team="T1", channel="C1", thread="1.0", ts="1.0", user="U1", text="1+1?"
    )
    async with (
        ResponsesServer.open(brain=brain) as api,
        sdk_client(api.api_key, api.url, max_retries=0) as client,
    ):
        parts = LoopDeps(
            model=ResponsesModel(client, traits=traits, stream=stream),
            models=MODELS,
            prices=Cheap(window),
            toolbox=Toolbox(small_tools(gate), {}, artifacts),
            response_type=ResponseType(Answer, "summary"),
            limits=Limits(**limits),
            interrupt=Interrupt(),
            history=history,
            hooks=HookChain(hooks),
            traits=traits,
            parent_pause=0.0,
            context=RequestContext(
                request=request, run_id="run_1", model="gpt-5.4-mini", dry_run=dry_run
            ),
        )
        yield Bench(api, parts, gate, artifacts, saved=kept)


def with_interrupt(place: Bench) -> None:
    """A fresh Interrupt, for the next run."""
    place.parts = replace(place.parts, interrupt=Interrupt())
