"""Hooks: the edges of the loop, where all policy lives.

Subclass `Hooks` and override the methods you need. Hooks run in the order in which they are listed.
Unless a contract below says otherwise, a hook may await, which delays the run, and must not raise:
an exception ends the run as a bug of ours.
"""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import AsyncGenerator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from pydantic import BaseModel
from pydantic_core import from_json
from typing_extensions import override

from bot.agent.events import RunEnded
from bot.agent.state import LoopState
from bot.core.approvals import ApprovalRecord, Ask, Decision, exact_arguments
from bot.core.approvals import Verdict as ApprovalVerdict
from bot.core.chain import NO_USAGE, Item, Usage
from bot.core.errors import ToolError
from bot.core.outcome import StopReason
from bot.model.types import ModelRequest, ModelResponse
from bot.services.given_schema import validated
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.toolkit.tool import Services, Tool, ToolResult

log = logging.getLogger(__name__)

_WRONG_ARGUMENTS = "Not done: a check of {name} changed its arguments to such as it does not take."
_BY_HANDLE = '"handle"'  # of a table whose rows are filled in
_NOTICE_SECONDS, _CANCEL_SECONDS = 10.0, 1.0


@dataclass(frozen=True, slots=True)
class Go:
    """A result is accepted; `instead` replaces it. `usage` is that of judging it."""

    instead: BaseModel | None = None
    usage: Usage = NO_USAGE


@dataclass(frozen=True, slots=True)
class Block:
    """A result is sent back: `message` is the output of its call, and the run goes on. The hook
    finds its `memory` (JSON) in `LoopState.hooks` under its name when it is asked again, on
    whatever worker. `best` is the best result so far, by default the one sent back: a run that
    gets no other ends with it."""

    message: str
    usage: Usage = NO_USAGE
    memory: dict[str, Any] = field(default_factory=dict)
    best: BaseModel | None = None


@dataclass(frozen=True, slots=True)
class Prevent:
    """The run ends here for `reason`, with the result marked partial."""

    reason: StopReason = StopReason.STOP_HOOK
    instead: BaseModel | None = None
    usage: Usage = NO_USAGE


Verdict = Go | Block | Prevent


@dataclass(frozen=True, slots=True)
class Approved:
    """A sensitive call may be made: the user `by` approved it, or no approval is needed. `answers`
    are what the call asked people before and what they decided."""

    by: str = ""
    answers: tuple[ApprovalRecord, ...] = ()

    def and_also(self, other: Approved) -> Approved:
        """Return what this and a later hook say together."""
        return Approved(other.by or self.by, (*self.answers, *other.answers))


@dataclass(frozen=True, slots=True)
class Undecided:
    """A call waits for a decision of people; the run pauses, and asks again when it resumes."""


@dataclass(frozen=True, slots=True)
class FilledIn:
    """What the model wrote, with its references filled in: `value` is the same JSON with other texts.
    `notes` say what was filled in, `faults` which references lead nowhere."""

    value: Any
    notes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Addition:
    """What a hook adds to an output: text, and addresses among its sources that nobody may link to."""

    text: str = ""
    unlinked: frozenset[str] = frozenset()


Permission = str | BaseModel | Approved | Undecided | None
"""A text vetoes a call and is its output; a model replaces its arguments, about which all other hooks
are asked then; None says nothing against it, which is not enough for one that is sensitive."""


class Hooks:
    """The base class of hooks: every method does nothing.

    Sub-agents get only `inherited` hooks. A hook with a memory has a `name`, which is stored, and
    keeps the memory in `LoopState.hooks`, because attributes are lost when another worker resumes
    the run. The part under `FOR_THREAD` passes to the next run of the thread."""

    inherited: ClassVar[bool] = True
    name: ClassVar[str] = ""

    binds: bool = False
    """Whether `before_tool` replaces arguments only by others that mean the same, and returns those as
    they are: such a hook is not asked again about its own."""

    async def on_run_start(self, state: LoopState) -> None:
        """Run before the first call."""

    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        """Return the request to send. It must keep every `function_call_output` of the input."""
        return request

    async def on_turn_start(self, state: LoopState) -> Sequence[Item]:
        """Return messages to send with the next call. Runs after the guards; the messages are kept
        before the call, all in one entry."""
        return ()

    def named(self, state: LoopState) -> Collection[str]:
        """Return the names of skills that people ask for in the messages that `on_turn_start` just
        returned: they are acquired with these."""
        return ()

    async def after_response(self, state: LoopState, response: ModelResponse) -> Sequence[Item]:
        """Return messages for the next request. Starts when a response is recorded, runs beside its
        tools, and is cancelled with the run."""
        return ()

    def fill(self, value: Any, tool: Tool | None) -> FilledIn:
        """Fill in the references in what the model wrote (JSON): the arguments of a call of `tool`,
        before they are validated, or a result or a draft of it, without a tool. Must not raise."""
        return FilledIn(value)

    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        """Say whether the call may be made. Runs in the call's own task, before anything is kept or
        shown of it; `current_request().idempotency_key` names the call, also when it is asked for
        again: after a pause or a crash, and when another hook has replaced the arguments. What it
        then makes of them itself does not count, because it has replaced them once."""
        return None

    async def after_tool(
        self, tool: Tool, arguments: BaseModel, result: ToolResult
    ) -> str | Addition:
        """Return what is added to the output; a text is added alone. Runs in the call's own task."""
        return ""

    def memory(self, state: LoopState) -> dict[str, Any]:
        """Return what the hook must remember (JSON), which is saved with `state`: at each save point,
        and at the end of the run. {} for nothing, and before `on_run_start`."""
        return {}

    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        """Return a reason to end the run with one last call, as a guard does; None to go on."""
        return None

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        """Judge a valid result. Blocking it costs no turn."""
        return Go()

    async def on_failure(self, ended: RunEnded) -> None:
        """Handle that the model service ended the run. The outcome cannot be changed."""

    async def on_run_end(self, ended: RunEnded) -> None:
        """Handle the end of the run, after everything else."""


class Asker:
    """Asks the asker of a run for what a call turned out to need. This one reaches nobody."""

    async def wait_for(self, tool: Tool, ask: Ask) -> str | Undecided:
        """Have the asker decide before the call is made again; it was not made. A text is the output
        of the call. Runs in the call's own task, once more after each pause, unless the call then
        needs nothing more."""
        return f"Not done: {tool.name} needs its asker ({ask.title}), who cannot be asked here."

    async def ask(self, tool: Tool, ask: Ask, tell: Callable[[bool], None]) -> Decision:
        """Return what the asker decides during the call. `tell` shows the question (False), and that it
        is answered (True). Runs in the call's own task."""
        return Decision(verdict=ApprovalVerdict.DENIED)


class ToolCheck(Hooks):
    """Has a tool check its call, and bind names in it to ids: nobody is asked to approve a call that
    could not succeed. `services` are those of the run's tools."""

    binds = True

    def __init__(self, services: Services) -> None:
        self._services = services

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        try:
            return await tool.checked(arguments, self._services)
        except ToolError as error:
            return redacted(without_invisible(f"Not done: {error}"))
        except Exception:  # nothing unchecked is approved: names may not be bound to ids
            log.exception("a call was not checked", extra={"tool": tool.name})
            return f"Not done: {tool.name} could not be checked now."


@dataclass(frozen=True, slots=True)
class HookChain:
    """Several hooks as one. Raises ValueError for two whose memory has the same name."""

    hooks: tuple[Hooks, ...] = ()
    _doing: dict[str, tuple[Hooks, ...]] = field(default_factory=dict, init=False, compare=False)

    def __post_init__(self) -> None:
        names = [hook.name for hook in self.hooks if hook.name]
        if twice := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"two hooks have one name: {', '.join(sorted(twice))}")

    def _that(self, *methods: str) -> tuple[Hooks, ...]:
        """Return the hooks that do something in one of `methods`, in order: the others cost nothing."""
        key = methods[0]
        if key not in self._doing:
            self._doing[key] = tuple(
                hook
                for hook in self.hooks
                if any(getattr(type(hook), name) is not getattr(Hooks, name) for name in methods)
            )
        return self._doing[key]

    async def on_run_start(self, state: LoopState) -> None:
        for hook in self._that("on_run_start"):
            await hook.on_run_start(state)

    async def transform_context(self, request: ModelRequest) -> ModelRequest:
        for hook in self._that("transform_context"):
            request = await hook.transform_context(request)
        return request

    async def on_turn_start(self, state: LoopState) -> tuple[Item, ...]:
        notes = [await hook.on_turn_start(state) for hook in self._that("on_turn_start")]
        return tuple(item for items in notes for item in items)

    def named(self, state: LoopState) -> tuple[str, ...]:
        return tuple(name for hook in self.hooks for name in hook.named(state))

    @asynccontextmanager
    async def after_response(
        self, state: LoopState, response: ModelResponse
    ) -> AsyncGenerator[asyncio.Task[tuple[Item, ...]] | None]:
        """Ask the hooks concurrently with the body, which awaits their messages or leaves them to be
        cancelled; None without such hooks. An exception is logged, and there are no messages then."""
        hooks = self._that("after_response")
        if not hooks:
            yield None
            return

        async def messages() -> tuple[Item, ...]:
            try:
                notes = [await hook.after_response(state, response) for hook in hooks]
            except Exception:
                log.exception("an after-response hook failed")
                return ()
            return tuple(item for items in notes for item in items)

        task = asyncio.create_task(messages())
        try:
            yield task
        finally:
            await _abandon({task})

    def fill(self, value: Any, tool: Tool | None = None) -> FilledIn:
        """Return what the model wrote with its references filled in by each hook."""
        notes, faults = list[str](), list[str]()
        for hook in self._that("fill"):
            try:
                filled = hook.fill(value, tool)
            except Exception:
                log.exception("references were not filled in")
                filled = FilledIn(value, faults=("references cannot be filled in now",))
            value = filled.value
            notes += filled.notes
            faults += filled.faults
        return FilledIn(value, tuple(notes), tuple(faults))

    def filled_json(self, text: str) -> tuple[str, tuple[str, ...]]:
        """Return JSON of the model with its references filled in, and notes on them; what is not
        JSON as it is."""
        if "{{" not in text and _BY_HANDLE not in text:
            return text, ()
        try:
            filled = self.fill(from_json(text))
        except ValueError:
            return text, ()
        return json.dumps(filled.value, ensure_ascii=False), filled.notes

    def filled_text(self, text: str) -> str:
        """Return a text of the model with its references filled in."""
        return str(self.fill(text).value) if "{{" in text else text

    async def before_tool(
        self, tool: Tool, arguments: BaseModel
    ) -> tuple[BaseModel, str | Approved | Undecided | None]:
        """Return the arguments to make the call with, and the first veto or undecided verdict, else what
        the hooks approve, if anything. So people are asked for one thing at a time.

        Every hook decides about the arguments that the call is made with: where one replaces them, all
        are asked again, and each replaces them once.
        """
        replaced = set[int]()
        while True:
            verdict: Approved | None = None
            for place, hook in enumerate(self._that("before_tool")):
                permission = await hook.before_tool(tool, arguments)
                match permission:
                    case None:
                        continue
                    case str() | Undecided():
                        return arguments, permission
                    case Approved():
                        verdict = verdict.and_also(permission) if verdict else permission
                    case BaseModel() if hook.binds:
                        arguments = permission
                    case BaseModel() if place not in replaced and permission != arguments:
                        replaced.add(place)
                        try:
                            arguments = await _as_of_model(tool, permission)
                        except ValueError:
                            log.exception("a hook replaced arguments", extra={"tool": tool.name})
                            return arguments, _WRONG_ARGUMENTS.format(name=tool.name)
                        break
                    case _:  # arguments that it has replaced before
                        pass
            else:
                return arguments, verdict

    async def after_tool(
        self, tool: Tool, arguments: BaseModel, result: ToolResult
    ) -> tuple[str, frozenset[str]]:
        """Return the text of an output with the additions of the hooks, and the sources that nobody may
        link to. A hook that raises adds nothing, because the call was made; then no source may be
        linked to."""
        texts, unlinked = [result.content], frozenset[str]()
        for hook in self._that("after_tool"):
            try:
                addition = await hook.after_tool(tool, arguments, result)
            except Exception:
                log.exception("an after-tool hook failed", extra={"tool": tool.name})
                addition = Addition(unlinked=result.addresses)
            if isinstance(addition, Addition):
                unlinked |= addition.unlinked
                addition = addition.text
            if addition:
                texts.append(addition)
        return "\n".join(texts), unlinked

    def memory(self, state: LoopState) -> dict[str, Any]:
        """Return what the hooks must remember with `state`, by their names."""
        memories = {hook.name: hook.memory(state) for hook in self._that("memory")}
        return {name: memory for name, memory in memories.items() if memory}

    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        for hook in self._that("should_stop_after_turn"):
            if reason := await hook.should_stop_after_turn(state):
                return reason
        return None

    async def on_stop(self, state: LoopState, result: BaseModel) -> Verdict:
        """Return the first objection, or the result as the hooks left it."""
        usage = NO_USAGE
        for hook in self._that("on_stop"):
            verdict = await hook.on_stop(state, result)
            usage += verdict.usage
            if isinstance(verdict, Block):
                memory = {hook.name: verdict.memory} if verdict.memory else {}
                best = verdict.best or result
                return replace(verdict, usage=usage, memory=memory, best=best)
            if isinstance(verdict, Prevent):
                return replace(verdict, usage=usage)
            result = verdict.instead or result
        return Go(result, usage)

    async def on_end(self, ended: RunEnded) -> None:
        """Call `on_failure` if it applies, then `on_run_end`, of all hooks at once. Exceptions are
        logged, and what takes too long is abandoned, so that no hook loses or delays an answer."""

        async def notify(hook: Hooks) -> None:
            try:
                if ended.error:
                    await hook.on_failure(ended)
                await hook.on_run_end(ended)
            except Exception:
                log.exception("a hook failed at the end of a run")

        hooks = self._that("on_failure", "on_run_end")
        tasks = {asyncio.create_task(notify(hook)) for hook in hooks}
        if tasks:
            try:
                _, late = await asyncio.wait(tasks, timeout=_NOTICE_SECONDS)
                if late:
                    log.warning("a hook took too long at the end of a run")
            finally:
                await _abandon(tasks)


async def _as_of_model(tool: Tool, arguments: BaseModel) -> BaseModel:
    """Return the arguments of a hook as if the model had written them: what leaves the bot is in the form
    that people are shown. Raises ValueError."""
    values = arguments.model_dump(mode="json", warnings=False)
    return await validated(tool.arguments, exact_arguments(values) if tool.is_outward else values)


async def _abandon(tasks: Collection[asyncio.Task[Any]]) -> None:
    """Cancel the tasks, and wait for them as long as a hook may take to put its things away."""
    for task in tasks:
        task.cancel()
    if tasks:
        await asyncio.wait(tasks, timeout=_CANCEL_SECONDS)
