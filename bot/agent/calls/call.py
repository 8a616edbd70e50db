"""Execution of one call: validate its arguments, ask for permission, run the tool, fit the output."""

from __future__ import annotations

import asyncio
import hashlib
import logging
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from pydantic import BaseModel, ValidationError
from pydantic_core import from_json, to_json

from bot.agent.builtin.acquire_tools import acquire
from bot.agent.builtin.complete_task import describe_errors
from bot.agent.builtin.shared_budget import ParentRun, SharedBudget
from bot.agent.calls.outputs import CallOutput, mark_for
from bot.agent.events import (
    FromSubagent,
    PersonAsked,
    SkillAcquired,
    ToolEnded,
    ToolEvent,
    ToolProgress,
    ToolRetried,
    ToolsAcquired,
    ToolStarted,
)
from bot.agent.hooks.chain import Approved, Asker, HookChain, Undecided
from bot.core.answers import Source
from bot.core.approvals import (
    Ask,
    Decision,
    PersonNeeded,
    canonical,
    digest,
    exact_arguments,
)
from bot.core.chain import CallRecord, CountsAs, Item
from bot.core.context import ArtifactUse, CallCost, RequestContext, bound_request, current_request
from bot.core.errors import ToolError
from bot.core.failpoints import failpoint
from bot.core.outcome import Rehearsal
from bot.services.given_schema import validated
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.toolkit.asking import bound_asking
from bot.toolkit.catalogue import ACQUIRE, Catalogue
from bot.toolkit.offering import saved_inputs
from bot.toolkit.progress import paced_progress
from bot.toolkit.provided.artifacts import Artifacts
from bot.toolkit.retrying import Retry
from bot.toolkit.running import ToolTimeout
from bot.toolkit.schema import without_nulls
from bot.toolkit.size import Room, limited, shortened
from bot.toolkit.tool import Services, Tool, ToolResult

log = logging.getLogger(__name__)

_NOTHING_ACQUIRED = "Get tools (none of that name)"
_RESULT = "result: "  # begins the output of a tool that gives one figure
_LONGEST_NAME = 64
_MOST_NAMES = 40
_LONG = 100_000  # characters of an output

OUTCOME_UNKNOWN = (
    "It may have happened or not. Look before you do it again, and say so in the result."
)


@dataclass(frozen=True, slots=True)
class Toolbox:
    """The catalogue and what its tools need to run."""

    catalogue: Catalogue
    services: Services
    artifacts: Artifacts

    def is_change(self, name: str) -> bool:
        """Return whether the tool of this name makes changes."""
        tool = self.catalogue.get(name)
        return tool is not None and tool.mutates

    def made_changes(self, names: Iterable[str]) -> bool:
        """Return whether one of these tools makes changes that cannot be undone, approved or not."""
        known = filter(None, map(self.catalogue.get, names))
        return any(tool.mutates and tool.sensitive for tool in known)


@dataclass(frozen=True, slots=True)
class Intent:
    """A mutating call is about to run, which is saved before it does; if not `is_made`, it was not
    made after all, because it waits for a person."""

    call_id: str
    is_made: bool = True


CallEvent = ToolEvent | PersonAsked | ToolsAcquired | SkillAcquired | FromSubagent
CallEvents = asyncio.Queue[CallEvent | Intent | None]
"""Events of running calls; None when a call has ended. The consumer calls `task_done` after handling
each event."""


class _Refused(Exception):
    """A mistake of the model; its text is the output of the call."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Makes calls. `offered` are the names of the tools that the request carried, `noted` of what the
    model has the texts of; `context` is bound for each call; `pool` is what sub-agents may spend;
    `asker` asks for what calls need."""

    toolbox: Toolbox
    hooks: HookChain
    context: RequestContext
    pool: SharedBudget
    offered: frozenset[str]
    asker: Asker
    noted: frozenset[str] = frozenset()

    async def make(self, call: Item, events: CallEvents) -> CallOutput | None:
        """Make one call. Return its output, cut to the available room; None while the call waits
        for a decision."""
        began = time.monotonic()
        output = await self._answer(call, events)
        if output is None:
            return None
        output = self._with_readers(await self.fitted(output))
        if output.title:
            known = output.tool == ACQUIRE or self.toolbox.catalogue.get(output.tool) is not None
            events.put_nowait(ended(output, time.monotonic() - began, known=known))
        return output

    async def fitted(self, output: CallOutput) -> CallOutput:
        """Return `output` with as much text as an output of this turn may have; longer text is
        saved under a handle. Stop does not wait for that, and the output of the call is not
        lost."""
        room = Room(self.context.max_response_size, self.context.max_response_tokens)
        if output.note:
            quarter = Room(room.characters // 4, room.tokens // 4)
            output = replace(output, note=shortened(output.note, quarter))
        room = room.left_after(output.frame)
        if room.holds(output.text):
            return output
        tool, artifacts = self.toolbox.catalogue.get(output.tool), self.toolbox.artifacts
        narrowing = tool.narrowing if tool else ()
        name = output.tool[:_LONGEST_NAME]
        use, kept = ArtifactUse(), output.kept
        handles = (*kept.used, *(each.handle for each in kept.saved))
        try:
            with bound_request(replace(self.context, artifacts=use)):
                text = await limited(
                    output.text, room, artifacts, name=name, narrowing=narrowing, handles=handles
                )
        except asyncio.CancelledError:
            text = shortened(output.text, room)
        saved = (*kept.saved, *use.saved.values())
        return replace(output, text=text, record=kept.model_copy(update={"saved": saved}))

    def _with_readers(self, output: CallOutput) -> CallOutput:
        """Return `output` with the tools that read what the call saved and that it names to go on
        with, for the next request. Any more would make the service read the conversation anew."""
        saved = output.record.saved if output.record else ()
        if not saved:
            return output
        inputs = saved_inputs(artifact.handle for artifact in saved)
        readers = [n for n in self.toolbox.catalogue.readers_of(inputs) if n in output.text]
        return replace(output, acquired=(*output.acquired, *readers)) if readers else output

    async def _answer(self, call: Item, events: CallEvents) -> CallOutput | None:
        if call["name"] == ACQUIRE or self.toolbox.catalogue.skill(call["name"]):
            return self._acquire(call, events)
        tool = self.toolbox.catalogue.get(call["name"])
        output = await self._answer_offered(call, events)
        if output is None or tool is None or tool.name in self.offered:
            return output
        return replace(output, acquired=(tool.name,))

    async def _answer_offered(self, call: Item, events: CallEvents) -> CallOutput | None:
        try:
            tool, arguments = await self._validate(call)
        except _Refused as refused:
            is_known = self.toolbox.catalogue.get(call["name"]) is not None
            output = refusal(call, str(refused))
            events.put_nowait(begun(output, known=is_known))
            return output
        key = f"{self.context.idempotency_key}:{call['call_id']}"
        context = replace(
            self.context, idempotency_key=key, artifacts=ArtifactUse(), spent=CallCost()
        )
        with bound_request(context):
            asked = arguments
            arguments, permission = await self._permission(tool, asked)
            if isinstance(permission, Undecided):
                return None
            veto = permission if isinstance(permission, str) else None
            approved = permission if isinstance(permission, Approved) else Approved()
            if approved.by or approved.answers:
                context = replace(context, approved_by=approved.by, answers=approved.answers)
            title = redacted(tool.title(arguments)) or tool.name
            with bound_request(context):
                replaced = "" if arguments is asked else redacted(canonical(arguments))
                made = _Call(self, call["call_id"], tool, arguments, title, events, replaced)
                return await made.make(veto)

    def _acquire(self, call: Item, events: CallEvents) -> CallOutput:
        catalogue = self.toolbox.catalogue
        output = acquire(call, catalogue, self.noted)
        if tools := tuple(name for name in output.acquired if catalogue.get(name)):
            events.put_nowait(ToolsAcquired(tools))
        for skill in filter(None, map(catalogue.skill, output.acquired)):
            if skill.name not in self.noted:
                events.put_nowait(SkillAcquired.of(skill))
        if output.acquired:
            return output
        if not output.ok:
            output = replace(output, title=_NOTHING_ACQUIRED, refused=True)
            events.put_nowait(begun(output))
        return output

    async def _permission(
        self, tool: Tool, arguments: BaseModel
    ) -> tuple[BaseModel, str | Approved | Undecided]:
        """Return the arguments to make the call with, and whether it may be made, or why not. Sensitive
        calls need an explicit approval."""
        if self.is_rehearsed(tool):
            return arguments, Approved()
        arguments, permission = await self.hooks.before_tool(tool, arguments)
        if permission is None and tool.sensitive:
            why = f"Not done: {tool.name} needs a person's approval, which cannot be given here."
            return arguments, why
        return arguments, Approved() if permission is None else permission

    def is_rehearsed(self, tool: Tool) -> bool:
        """Return whether a call of the tool is left out of a dry run."""
        return tool.mutates and self.context.dry_run

    def _names(self) -> str:
        return ", ".join(sorted(self.offered)[:_MOST_NAMES])

    async def _validate(self, call: Item) -> tuple[Tool, BaseModel]:
        """Return the tool and the arguments of a call. Raises _Refused with what the model may do
        instead: for a tool that the request did not carry, with its schema.

        Such a tool is run if `acquire_tools` names it: the model has chosen it. Any other name the
        model may have guessed.
        """
        name, catalogue = call["name"], self.toolbox.catalogue
        tool = catalogue.get(name)
        if tool is None:
            name = name[:_LONGEST_NAME]
            unknown = f"There is no tool {name}. You can call: {self._names()}."
            raise _Refused(catalogue.missing(name) or unknown)
        if name in self.offered:
            return tool, await self._arguments(tool, call)
        schema = (
            f"You can call {name} now. {tool.description}\nIts arguments: {_json(tool.parameters)}"
        )
        if not catalogue.is_listed:
            raise _Refused(f"Not run: {name} was not offered yet. {schema}")
        try:
            return tool, await self._arguments(tool, call)
        except _Refused as refused:
            raise _Refused(f"{refused}\n{schema}") from None

    async def _arguments(self, tool: Tool, call: Item) -> BaseModel:
        """Return the arguments of a call with references filled in. Raises _Refused."""
        name = tool.name
        values = _parsed(call, tool.arguments)
        if "{{" in call["arguments"]:
            filled = self.hooks.fill(values, tool)
            if filled.faults:
                raise _Refused("Not done. These lead nowhere:\n" + "\n".join(filled.faults))
            values = filled.value
        if tool.is_outward:  # what people see before they approve is what is sent
            values = exact_arguments(values)
        try:
            return await validated(tool.arguments, values)
        except ValidationError as error:
            raise _Refused(
                f"The arguments of {name} are not valid:\n{describe_errors(error)}\n"
                "Correct them and call it again."
            ) from None


@dataclass(slots=True)
class _Call:
    """A valid call of `tool`, in the context that it runs in. `title` is its one line for people.
    `replaced` are its arguments as JSON if a hook replaced the model's."""

    calls: Calls
    call_id: str
    tool: Tool
    arguments: BaseModel
    title: str
    events: CallEvents
    replaced: str

    async def make(self, veto: str | None) -> CallOutput | None:
        """Make the call unless there is a veto, with the events that show it to people. Return None
        while it waits for one."""
        call_digest = digest(self.tool.name, canonical(self.arguments))
        self.events.put_nowait(ToolStarted(self.call_id, self.tool.name, self.title, call_digest))
        if veto is not None:
            return self._output(veto, ok=False, refused=True)
        if self.calls.is_rehearsed(self.tool):
            return self._rehearsed()
        if not self.tool.mutates:
            return await self._answer()
        await self._save_intent(is_made=True)
        failpoint("change-intended")
        output = await self._answer()
        if output is None:
            await self._save_intent(is_made=False)
        return output

    def _output(self, text: str, **facts: Any) -> CallOutput:
        personal = self.calls.context.is_personal and not facts.get("refused")
        return CallOutput(
            self.call_id, self.tool.name, text, title=self.title, personal=personal, **facts
        )

    def _rehearsed(self) -> CallOutput:
        """Say what the call would have done that a dry run leaves out."""
        tool, arguments = self.tool, self.arguments
        left_out = Rehearsal(
            tool=tool.name, title=self.title, arguments=from_json(canonical(arguments))
        )
        text = f"Dry run: not done. It would have been: {tool.title(arguments)}"
        return self._output(_plain(text), rehearsed=left_out)

    async def _save_intent(self, *, is_made: bool) -> None:
        self.events.put_nowait(Intent(self.call_id, is_made))
        await self.events.join()

    async def _answer(self) -> CallOutput | None:
        """Run the tool. Return the output of the call; None while it waits for a person."""
        tool = self.tool
        try:
            return await self._output_of(await self._run())
        except PersonNeeded as needed:
            refused = await self.calls.asker.wait_for(tool, needed.ask)
            if isinstance(refused, Undecided):
                return None
            return self._output(refused, ok=False, refused=True)
        except ToolError as error:
            text = await _plain_however_long(str(error))
            return self._output(text, ok=False, mark=mark_for(tool))
        except ToolTimeout:
            why = f"{tool.name} was stopped after {tool.timeout:g} s."
            return self._failed(why, "Ask it for less, or go on without.")
        except Exception as error:
            # A bug of ours, so the log gets its trace; the model only learns that it failed.
            log.exception("tool failed", extra={"tool": tool.name, "call_id": self.call_id})
            why = f"{tool.name} failed ({type(error).__name__})."
            return self._failed(why, "Trying again may not help.")

    def _failed(self, why: str, advice: str) -> CallOutput:
        is_unknown = self.tool.mutates
        text = f"{why} {OUTCOME_UNKNOWN if is_unknown else advice}"
        return self._output(text, ok=False, unknown=is_unknown)

    async def _run(self) -> ToolResult:
        """Run the tool. Raises ToolError, ToolTimeout, and what the tool raises."""
        failpoint("tool-running")
        parent = ParentRun(self.call_id, self.calls.pool, self.events.put_nowait)
        services = {**self.calls.toolbox.services, ParentRun: parent}
        try:
            with paced_progress(self._tell_progress), bound_asking(self._ask):
                result = await self.tool.run(self.arguments, services, self._tell_retry)
        finally:
            if (spent := current_request().spent) != CallCost():
                self.calls.pool.add(self.call_id, spent)
        failpoint("tool-ran")
        return result

    def _tell_progress(self, text: str, share: float | None) -> None:
        self.events.put_nowait(ToolProgress(self.call_id, self.tool.name, text, share))

    def _tell_retry(self, retry: Retry) -> None:
        name, facts = self.tool.name, (retry.attempt, retry.error, retry.pause)
        self.events.put_nowait(ToolRetried(self.call_id, name, *facts))

    async def _ask(self, needed: Ask) -> Decision:
        def tell_asked(answered: bool) -> None:
            self.events.put_nowait(PersonAsked(self.call_id, answered))

        return await self.calls.asker.ask(self.tool, needed, tell_asked)

    async def _output_of(self, result: ToolResult) -> CallOutput:
        """Return a result as the output, with the additions of hooks."""
        tool = self.tool
        if result.sources:
            result = replace(result, sources=tuple(map(_plain_source, result.sources)))
        content, unlinked = result.content, result.addresses
        with suppress(asyncio.CancelledError):  # a Stop ends the hooks; the call was made
            content, unlinked = await self.calls.hooks.after_tool(tool, self.arguments, result)
        content = await _plain_however_long(content)
        if tool.calculates and content.startswith(_RESULT):
            content += f"\nhandle: {_figure_handle(current_request().idempotency_key)}"
        urls = (source.url for source in result.sources if source.url)
        return self._output(
            content,
            links=tuple(url for url in urls if url not in unlinked),
            mark=mark_for(tool),
            note=result.note,
            record=_record(self.call_id, tool, result, self.replaced),
        )


def _figure_handle(key: str) -> str:
    """Return the handle under which an answer may refer to the one figure of a call, which is only
    in its output. The same for the same call, whenever it is made."""
    return f"fig_{hashlib.sha256(key.encode()).hexdigest()[:8]}"


def _record(call_id: str, tool: Tool, result: ToolResult, replaced: str) -> CallRecord:
    """Return the record of the call in progress. Text that the model may have written itself is no
    evidence, unless it is a report that was traced."""
    counts_as: CountsAs = "none"
    if (tool.calculates or result.calculated) and not result.own:
        counts_as = "calculated"
    elif result.report or (tool.reads and not result.own):
        counts_as = "read"
    use = current_request().artifacts
    return CallRecord(
        call_id=call_id,
        counts_as=counts_as,
        sources=result.sources,
        used=tuple(handle for handle in use.read if handle not in use.saved),
        saved=tuple(use.saved.values()),
        report=result.report,
        replaced=replaced,
    )


def refusal(call: Item, why: str) -> CallOutput:
    """Answer a call that is not made, with `why` for the model."""
    title = f"{_plain(call['name'])[:_LONGEST_NAME]} (not run)"
    return CallOutput(call["call_id"], call["name"], why, ok=False, title=title, refused=True)


def ended(output: CallOutput, seconds: float = 0.0, *, known: bool = True) -> ToolEnded:
    """Return the event of a call that has its output."""
    return ToolEnded(
        output.call_id,
        output.tool[:_LONGEST_NAME],
        output.ok,
        output.detail,
        seconds,
        output.title,
        refused=output.refused,
        known=known,
        unknown=output.unknown,
    )


def begun(output: CallOutput, *, known: bool = True) -> ToolStarted:
    """Return the event before the end of a call that was not made."""
    return ToolStarted(output.call_id, output.tool[:_LONGEST_NAME], output.title, known=known)


def shown_refusal(output: CallOutput, *, known: bool = True) -> tuple[ToolStarted, ToolEnded]:
    """Return the events of a call that was not made: it is seen like any other."""
    return begun(output, known=known), ended(output, known=known)


def _plain_source(source: Source) -> Source:
    words = {name: without_invisible(text) for name, text in source if isinstance(text, str)}
    return source.model_copy(update=words)


def _plain(text: str) -> str:
    """Return `text` without secrets and invisible characters."""
    return redacted(without_invisible(text))


async def _plain_however_long(text: str) -> str:
    """Return `_plain(text)`, in a thread if the text is long: 10 MB take seconds."""
    return await asyncio.to_thread(_plain, text) if len(text) > _LONG else _plain(text)


def _json(schema: object) -> str:
    return to_json(schema).decode()


def _parsed(call: Item, model: type[BaseModel]) -> object:
    try:
        values = from_json(call["arguments"])
        return without_nulls(model, values) if "null" in call["arguments"] else values
    except ValueError:
        raise _Refused(
            f"The arguments of {call['name']} are not JSON. "
            "Send one JSON object that fits its schema."
        ) from None
