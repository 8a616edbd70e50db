"""The real runner, as `bot.app.run_setup` makes it, with a scripted model service and a surface that remembers."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from typing import Any

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.model import ResponsesServer
from bot.runs.runner import Runner
from bot.store import Stores
from bot.testing.conversation import MemoryConversation
from bot.testing.scripted import MODEL as MODEL
from bot.testing.scripted import scripted_runner
from bot.testing.surface import RecordingSurface
from bot.toolkit import Tool
from tests.support.redis import asked


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
        "corrects": None,
    }
    return {"summary": summary, **empty, **changes}


@dataclass
class Board(RecordingSurface):
    """A surface on which the first `broken` attempts to put up an answer fail."""

    attempts: int = 0
    broken: int = 0

    async def finish(self, outcome: Outcome) -> None:
        self.attempts += 1
        if self.attempts <= self.broken:
            raise ConnectionError("Slack is not there")
        await super().finish(outcome)


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

    def change_frontend(self, **changes: Any) -> None:
        """Change what its surroundings allow."""
        frontend = replace(self.runner.deps.frontend, **changes)
        self.runner = self.runner.with_deps(frontend=frontend)

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
    opened = scripted_runner(
        stores, api, conversation, board, tools=tools, dry_run=dry_run, **settings
    )
    async with opened as runner:
        yield Bot(api, runner, stores, board, conversation)


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
