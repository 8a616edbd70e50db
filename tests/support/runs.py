"""The real runner, as `bot.app.run_setup` makes it, with a scripted model service and a surface that remembers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any

from pydantic import SecretStr

from bot.agent.events import Event
from bot.app.run_setup import open_runner
from bot.cli.console import anybody
from bot.core.approvals import Approval, ApprovalRecord, Decision
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.model import ResponsesServer
from bot.runs.runner import Runner
from bot.runs.surface import OpenSurface, PostedMessages
from bot.settings import Settings
from bot.store import Stores
from bot.testing.conversation import MemoryConversation
from bot.toolkit import Tool
from bot.toolkit.catalogue import Catalogue
from tests.support.redis import asked

MODEL = "gpt-5.4-mini"


def answer(summary: str = "Two.", **changes: Any) -> dict[str, Any]:
    """What a model gives to `complete_task`."""
    empty: dict[str, Any] = {
        "key_points": [],
        "table": None,
        "charts": [],
        "sources": [],
        "gaps": [],
        "follow_ups": [],
        "confidence": "high",
    }
    return {"summary": summary, **empty, **changes}


@dataclass
class Board:
    """A surface: all that was shown, and each terminal that was put up. `broken` attempts fail.
    `asked` are questions to people; with `answers` they are decided at once."""

    shown: list[Event] = field(default_factory=list)
    finished: list[Outcome] = field(default_factory=list)
    attempts: int = 0
    asked: list[Approval] = field(default_factory=list)
    settled: list[ApprovalRecord] = field(default_factory=list)
    answers: Callable[[Approval], Decision] | None = None
    broken: int = 0

    async def show(self, event: Event) -> None:
        self.shown.append(event)

    async def ask(self, approvals: Sequence[Approval]) -> Sequence[tuple[Approval, Decision]]:
        self.asked += approvals
        return [(each, self.answers(each)) for each in approvals] if self.answers else []

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        self.settled += asked

    async def finish(self, outcome: Outcome) -> None:
        self.attempts += 1
        if self.attempts <= self.broken:
            raise ConnectionError("Slack is not there")
        self.finished.append(outcome)

    def of(self, kind: type[Any]) -> list[Any]:
        return [event for event in self.shown if isinstance(event, kind)]

    def opens(self) -> OpenSurface:
        @asynccontextmanager
        async def open_surface(_request: Request, _post: PostedMessages) -> AsyncGenerator[Board]:
            yield self

        return open_surface


@dataclass
class Bot:
    """A bot without Slack: `ask` it, look at what the model service got and what people saw."""

    api: ResponsesServer
    runner: Runner
    stores: Stores
    board: Board
    conversation: MemoryConversation

    async def ask(self, question: str | Request, *, deaths: int = 0, **details: Any) -> Outcome:
        """A question in the one thread, taken in and worked on as the engine does it."""
        request = question if isinstance(question, Request) else asked(question)
        request = request.model_copy(update=details)
        await self.stores.mailbox.submit(request, event_id=request.id)
        return await self.runner.answer(request, deaths)

    def outputs(self, request: int = -1) -> list[str]:
        """What tools returned to the model, as a request carried it."""
        items = self.api.requests[request].body["input"]
        return [i["output"] for i in items if i.get("type") == "function_call_output"]

    def offered(self, request: int = -1) -> list[str]:
        """The names of the tools that a request carried."""
        return [each["name"] for each in self.api.requests[request].body["tools"]]

    def said(self, request: int = -1) -> list[str]:
        """The messages that a request carried: people's, and ours to the model."""
        items = self.api.requests[request].body["input"]
        return [i["content"] for i in items if "content" in i]


@asynccontextmanager
async def bot_on(
    stores: Stores,
    api: ResponsesServer,
    *tools: Tool,
    dry_run: bool = False,
    **settings: Any,
) -> AsyncGenerator[Bot]:
    """A bot on these stores and this model service; `tools` instead of the real ones, if given."""
    board, conversation = Board(), MemoryConversation()
    configured = Settings(
        openai_api_key=SecretStr(api.api_key),
        openai_base_url=api.url,
        **{"openai_model": MODEL, **settings},
    )
    async with (
        stores.signals.listening(),
        open_runner(
            configured,
            stores,
            conversation,
            board.opens(),
            dry_run=dry_run,
            may_decide=anybody,
            may_administer=anybody,
        ) as works,
    ):
        if tools:
            toolbox = replace(works.deps.toolbox, catalogue=Catalogue.of(tools))
            works = works.with_deps(toolbox=toolbox)
        yield Bot(api, works, stores, board, conversation)


@asynccontextmanager
async def bot_with(
    stores: Stores, brain: Callable[..., Any], *tools: Tool, **settings: Any
) -> AsyncGenerator[Bot]:
    """A bot with a model service of its own that follows `brain`."""
    async with (
        ResponsesServer.open(brain=brain) as api,
        bot_on(stores, api, *tools, **settings) as bot,
    ):
        yield bot
