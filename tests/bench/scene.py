"""What is measured: one question that takes nine calls to the model, on the bot as its own builder
composes it, with the shipped tools and one more that does next to nothing."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from functools import cache
from itertools import count
from typing import Any

from cachetools import TTLCache
from pydantic import SecretStr
from typing_extensions import override

from bot.agent.builtin.complete_task import ResponseType
from bot.agent.events import Event, RunEnded
from bot.agent.loop_deps import LoopDeps
from bot.agent.state import LoopState
from bot.app.run_setup import open_runner
from bot.cli.console import anybody
from bot.core.answers import Answer
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.chain import LedgerEntry, SavedArtifact
from bot.core.context import current_request
from bot.core.outcome import Outcome, RunStatus
from bot.core.request import Entry, Request
from bot.model import Model
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.runs.runner import Runner
from bot.runs.surface import PostedMessages
from bot.settings import ChannelTable, Settings
from bot.store import Mailbox, Stores, open_stores
from bot.store.connection import Retention
from bot.store.embedded import embedded_redis
from bot.testing.conversation import MemoryConversation
from bot.toolkit import Reads, tool

MODEL = "gpt-5.4-mini"
QUESTION = "How many?"
TURNS = 9
AT_ONCE = 50
_numbers = count(1)


_HEAD = (
    "handle: {handle} · {rows} rows × 3 columns · source: sales.csv\n"
    "columns: region VARCHAR, units BIGINT, revenue DOUBLE\nregion,units,revenue\n"
)
_NAMES = ("North", "South", "East", "West", "Centre", "Coast", "Hills", "Lakes", "Plains", "Delta")


@cache
def table(characters: int, call: int = 0) -> str:
    """Return an output of about so many characters: a table as tools show it, another in each call."""
    rows = list[str]()
    while sum(map(len, rows)) < characters - len(_HEAD):
        number = len(rows)
        name = _NAMES[number % len(_NAMES)] + (f" {number}" if number >= len(_NAMES) else "")
        units, revenue = 4239 + 7 * number + 311 * call, 220919.5 - 913.25 * number - 17.75 * call
        rows.append(f"{name},{units},{revenue}")
    return _HEAD.format(handle=_handle(call), rows=len(rows)) + "\n".join(rows)


def _handle(call: int) -> str:
    return f"tbl_bench{call + 1:03}"


@tool(group="bench", summary="Look up rows", safety=Reads())
async def look_up(characters: int) -> str:
    """Look up rows: so many characters of them."""
    context = current_request()
    thread = context.request.thread
    call = _calls[thread] = _calls.get(thread, -1) + 1
    context.artifacts.saved[_handle(call)] = SavedArtifact(handle=_handle(call), sha256="")
    return table(characters, call)


_calls = TTLCache[str, int](1_000, 600)
"""The number of calls by thread."""


ANSWER = {
    "summary": "North sold {{tbl_bench001.units[region=North]}} units for "
    "{{tbl_bench001.revenue[region=North]}}, South {{tbl_bench001.units[region=South]}} for "
    "{{tbl_bench001.revenue[region=South]}}.",
    "key_points": [
        "East: {{tbl_bench001.units[region=East]}} for {{tbl_bench001.revenue[region=East]}}.",
        "North is 913.25 above South, at 220,919.50 and 220,006.25; East has 4,253 units.",
    ],
    "table": None,
    "charts": [],
    "sources": [],
    "gaps": [],
    "follow_ups": [],
    "confidence": "high",
}
"""Six figures by reference and four that are typed, one of them a difference."""

REFERENCES = 6

TOOLS: list[dict[str, Any]] = [
    look_up.tool.definition(),
    ResponseType(Answer, Answer.text_field).definition,
]
"""What the other contenders offer: nothing that the question does not need."""

CALLS = 24
"""Of the tool, in a run."""


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
        assert outcome.traced
        assert sum(bool(item.reference) for item in outcome.traced.items) == REFERENCES

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
class Parts:
    """What the loop is given for one run, and what features add to the run."""

    loop: LoopDeps
    run_parts: tuple[RunPart, ...]


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

    async def parts(self, model: Model | None = None) -> Parts:
        """Return what the runner gives to the loop for a new question: everything but Redis, which is
        measured with the runner. What hooks look up there before each call is at hand."""
        asked = request()
        mailbox = _NobodyElse(self.stores.redis, Retention())
        deps = replace(self.runner.deps, stores=replace(self.stores, mailbox=mailbox))
        run = Run.of_job(deps, asked, ChannelTable(), "run_bench")
        loop = await run.loop_deps()
        # The runner would have kept the question; the loop alone reads it from here.
        loop = replace(loop, model=model or deps.model, history=_history)
        return Parts(loop, run.parts)


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
        open_stores(redis) as stores,
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
        catalogue = toolbox.catalogue.joined_by([look_up.tool])
        works = works.with_deps(toolbox=replace(toolbox, catalogue=catalogue))
        yield Composition(works, stores)


def outcome(ended: RunEnded) -> Outcome:
    """Return the outcome of a run of the loop alone, before features complete it."""
    return Outcome(run_id="run_bench", status=ended.status, stop_reason=ended.stop_reason)


def first_state() -> LoopState:
    """Return the question, on a new chain."""
    return LoopState(pending=({"role": "user", "content": QUESTION},))


async def _history() -> list[LedgerEntry]:
    """Return the ledger of a thread in which the question was just asked."""
    return [LedgerEntry(run_id="run_bench", items=first_state().pending)]
