"""A whole run with a scripted model: the real loop, runner and Redis, without Slack or a key."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr

from bot.agent.events import Event, FromSubagent, ToolProgress
from bot.app.features import all_features
from bot.app.run_setup import open_runner, redis_and_stores
from bot.core.answers import Answer
from bot.core.approvals import Decision, Verdict
from bot.core.ids import new_id
from bot.core.outcome import Outcome
from bot.core.request import Entry, Request
from bot.dev.model import Reply, ResponsesServer, Script, call, calls, finish, text
from bot.features import Feature
from bot.runs.runner import Runner
from bot.settings import Settings
from bot.store import Stores
from bot.testing.conversation import MemoryConversation
from bot.testing.pressing import PLACE, Pressed, press_button
from bot.testing.surface import RecordingSurface
from bot.testing.tools import check_services, tool_of
from bot.toolkit import FileReaders, Tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.tool import ToolFunction

MODEL = "gpt-5.4-mini"

__all__ = ["ScriptedRun", "call", "calls", "finish", "scripted_run", "scripted_runner", "text"]


@dataclass(frozen=True, slots=True)
class ScriptedRun:
    """A run that has ended: its outcome, its events, and the tool outputs that the model read.

    - `told`: for each request to the model, what it was told: instructions and messages.
    - `pressed`: what the asker got for a press, if there was one.
    """

    outcome: Outcome
    events: Sequence[Event]
    outputs: Sequence[str]
    called: Sequence[str]
    told: Sequence[str]
    pressed: Pressed | None = None

    @property
    def answer(self) -> Answer:
        """The answer. Raises ValueError when the run has none."""
        if self.outcome.result is None:
            raise ValueError(f"the run has no answer: {self.outcome.note}")
        return Answer.model_validate(self.outcome.result)

    @property
    def progress(self) -> Sequence[str]:
        """The lines that people saw while tools ran: for each call the newest, one a second."""
        events = (
            event.event if isinstance(event, FromSubagent) else event for event in self.events
        )
        return [event.line for event in events if isinstance(event, ToolProgress)]


async def scripted_run(
    question: str,
    replies: Sequence[Reply],
    *,
    tools: Sequence[Tool | ToolFunction[Any]] = (),
    services: Mapping[Any, object] = MappingProxyType({}),
    features: Sequence[Feature] = (),
    conversation: MemoryConversation | None = None,
    approve: bool = True,
    time_zone: str = "UTC",
    press: str = "",
) -> ScriptedRun:
    """Ask `question` of a model that gives `replies` in order; `tools` are offered to it, and
    `features` take part besides the bot's own. The asker is in `time_zone`, such as "Asia/Tokyo".

    With `press`, the id of a button of `features`, they press it under the answer, in a local
    workspace.

    Without `tools`, it can acquire all tools of the bot. Calls that need approval are approved or, if
    not `approve`, denied. Raises AssertionError when the run asks for more or fewer replies.
    """
    conversation = conversation or MemoryConversation()
    offered = [replace(tool_of(function), core=True) for function in tools]
    verdict = Verdict.APPROVED if approve else Verdict.DENIED
    surface = RecordingSurface(lambda each: Decision(verdict=verdict, by=each.requester))
    name, script = new_id("run"), Script(replies)
    request = Request(
        entry=Entry.HEADLESS,
        team="T1",
        channel="C1",
        thread=name,
        ts=name,
        user="U1",
        text=question,
        files=tuple(ref for ref, _ in conversation.files.values()),
        time_zone=time_zone,
    )
    pressed = None
    async with (
        ResponsesServer.open(brain=script) as api,
        redis_and_stores(Settings(redis_url=None), data_dir=None) as (url, stores),
        scripted_runner(
            stores,
            api,
            conversation,
            surface,
            tools=offered,
            services=services,
            features=features,
        ) as runner,
    ):
        if press:
            request = request.model_copy(update=PLACE)
        await stores.mailbox.submit(request, event_id=request.id)
        outcome = await runner.answer(request)
        if press:
            pressed = await press_button(press, features, request, outcome, url, stores)
    script.assert_done()
    items = [item for request in api.requests for item in request.body["input"]]
    outputs = [item["output"] for item in items if item.get("type") == "function_call_output"]
    told = [_told(request.body) for request in api.requests]
    return ScriptedRun(outcome, surface.shown, outputs, surface.called, told, pressed)


def _told(body: Mapping[str, Any]) -> str:
    """Return the instructions and the messages of a request."""
    messages = [item["content"] for item in body["input"] if "content" in item]
    return "\n\n".join([body["instructions"], *map(str, messages)])


@asynccontextmanager
async def scripted_runner(
    stores: Stores,
    api: ResponsesServer,
    conversation: MemoryConversation,
    surface: RecordingSurface,
    *,
    tools: Sequence[Tool] = (),
    services: Mapping[Any, object] = MappingProxyType({}),
    features: Sequence[Feature] = (),
    dry_run: bool = False,
    **settings: Any,
) -> AsyncGenerator[Runner]:
    """Open a runner on these stores and this model server; `settings` are fields of `Settings`.

    With `tools`, it has these instead of the bot's. No provider opens a client, and no
    package brings features: pass clients in `services`, and `features`. Everybody may approve calls.
    """
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
            surface.open,
            dry_run=dry_run,
            may_decide=_anybody,
            may_administer=_anybody,
            services=services,
            providers=(),
            features=all_features(configured, packages=features),
        ) as runner,
    ):
        toolbox = runner.deps.toolbox
        if tools:
            of_runs: dict[type, object] = {FileReaders: FileReaders()}  # each run makes its own
            for function in tools:
                check_services(function, {**toolbox.services, **of_runs})
            toolbox = replace(toolbox, catalogue=Catalogue.of(tools))
        yield runner.with_deps(toolbox=toolbox)


async def _anybody(_user: str) -> bool:
    """Return True: everybody may approve calls and is an admin."""
    return True
