"""What is measured: one question that takes nine calls to the model, on the bot as its own builder
composes it, with the shipped tools and one more that does next to nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from pydantic import SecretStr
from typing_extensions import override

from bot.agent.builtin.complete_task import ResponseType
from bot.agent.events import Event
from bot.agent.interrupt import Interrupt
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.app.run_setup import open_runner
from bot.cli.console import anybody
from bot.core.answers import Answer
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.chain import LedgerEntry
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Entry, Request
from bot.model import Model
from bot.runs.policy.channels import ChannelSettings
from bot.runs.runner import Runner
from bot.runs.surface import PostedMessages
from bot.settings import Settings
from bot.store import Mailbox, Phase, RunRecord, Stores, open_stores
from bot.store.connection import Retention
from bot.store.embedded import embedded_redis
from bot.testing.conversation import MemoryConversation
from bot.toolkit import tool

MODEL = "gpt-5.4-mini"
QUESTION = "How many?"
TURNS = 9
AT_ONCE = 50
_numbers = count(1)


@tool(group="bench", summary="Adds two whole numbers")
async def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


TOOLS: list[dict[str, Any]] = [
    add.tool.definition(),
    ResponseType(Answer, Answer.text_field).definition,
]
"""What the bare loop offers: nothing that the question does not need."""


def request() -> Request:
    """A new question, in a thread of its own."""
    name = f"{next(_numbers)}.0"
    return Request(
        entry=Entry.MENTION, team="T", channel="C", thread=name, ts=name, user="U", text=QUESTION
    )


class _Unwatched:
    """A surface that nobody looks at; it takes whole answers only."""

    async def show(self, event: Event) -> None: ...

    async def ask(
        self, approvals: Sequence[Approval], *, meanwhile: bool = False
    ) -> Sequence[tuple[Approval, Decision]]:
        return []

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None: ...

    async def finish(self, outcome: Outcome) -> None:
        assert outcome.status is RunStatus.SUCCESS
        assert outcome.totals.turns == TURNS

    @asynccontextmanager
    async def opened(self, _request: Request, _post: PostedMessages) -> AsyncGenerator[_Unwatched]:
        yield self


class _NobodyElse(Mailbox):
    """The mailbox, known to hold no other request: what a run asks it at each save point is at hand."""

    @override
    async def waiting_behind(self, request: Request, most: int) -> list[Request]:
        return []

    @override
    async def obsolete(self, requests: Sequence[Request]) -> list[Request]:
        return []


@dataclass(frozen=True)
class Composition:
    """The bot with default settings on a Redis of its own, and a surface that nobody looks at."""

    runner: Runner
    stores: Stores

    async def answer(self) -> None:
        """Answer a question as a worker does: from the mailbox to its delivery."""
        asked = request()
        await self.stores.mailbox.submit(asked, event_id=asked.id)
        await self.runner.answer(asked)

    async def parts(self, model: Model | None = None) -> LoopDeps:
        """Return what the runner gives to the loop for a new question: everything but Redis, which is
        measured with the runner. What hooks look up there before each call is at hand."""
        asked, interrupt = request(), Interrupt()
        mailbox = _NobodyElse(self.stores.redis, Retention())
        stores = replace(self.stores, mailbox=mailbox)
        deps = replace(self.runner.deps, stores=stores)
        record = RunRecord("run_bench", asked.id, asked.thread_key, Phase.RUNNING)
        here = ChannelSettings()
        steering = await deps.steering(asked, record, here, interrupt)
        models = deps.models.models("")
        parts = await deps.loop_deps(
            deps.context(asked, record.run_id, models),
            interrupt,
            here,
            deps.spending(asked, record.run_id, here, interrupt, _Unwatched().show),
            steering,
            deps.parts_for(asked, here),
            models,
        )
        # The runner would have kept the question; the loop alone reads it from here.
        return replace(parts, model=model or deps.model, history=_history)


@asynccontextmanager
async def composed(
    url: str, key: str, *, stream: bool, stateless: bool = False
) -> AsyncGenerator[Composition]:
    """Build the bot as `bot.app.run_setup` builds it; the model service at `url` is not part of it."""
    settings = Settings(
        openai_api_key=SecretStr(key),
        openai_base_url=url,
        openai_model=MODEL,
        model={"stateless": stateless},
    )
    async with (
        embedded_redis(None) as redis,
        open_stores(redis, concurrency=AT_ONCE) as stores,
        stores.signals.listening(),
        open_runner(
            settings,
            stores,
            MemoryConversation(),
            _Unwatched().opened,
            stream=stream,
            may_decide=anybody,
            may_administer=anybody,
        ) as works,
    ):
        toolbox = works.deps.toolbox
        catalogue = toolbox.catalogue.joined_by([add.tool])
        works = works.with_deps(toolbox=replace(toolbox, catalogue=catalogue))
        yield Composition(works, stores)


def first_state() -> LoopState:
    """Return the question, on a new chain."""
    return LoopState(pending=({"role": "user", "content": QUESTION},))


async def _history() -> list[LedgerEntry]:
    """Return the ledger of a thread in which the question was just asked."""
    return [LedgerEntry(run_id="run_bench", items=first_state().pending)]
