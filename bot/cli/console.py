"""Terminal frontend: the surface and the conversation of `bot ask`."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from typing_extensions import override

from bot.agent.events import (
    Event,
    FromSubagent,
    RoomAwaited,
    SkillAcquired,
    TextDelta,
    ToolEnded,
    ToolEvent,
    ToolProgress,
    ToolRetried,
    ToolsAcquired,
    ToolStarted,
)
from bot.cli.output import write
from bot.core.answers import GIVEN
from bot.core.approvals import CALL, Approval, ApprovalRecord, Decision, Verdict
from bot.core.errors import ModelErrorKind, ToolError
from bot.core.outcome import Outcome, RunStatus, StopReason
from bot.core.request import Request
from bot.runs.results.result_markdown import result_text
from bot.runs.results.result_trust import trust_in
from bot.runs.surface import OpenSurface, PostedMessages
from bot.slack.ui.approval_kinds import WaitKind, deny
from bot.testing.conversation import MemoryConversation
from bot.text.counting import counted
from bot.text.invisible_text import escaped, escaped_json, for_terminal
from bot.text.translation import reader

_EXIT = {
    RunStatus.SUCCESS: 0,
    RunStatus.FAILED: 1,
    RunStatus.PARTIAL: 2,
    RunStatus.CANCELLED: 130,
}
_TIMEOUTS = frozenset({StopReason.RUN_TIMEOUT, StopReason.TURN_TIMEOUT})


_NO_CHANNELS = "There are no channels here: this request came from a terminal."
_NOBODY_THERE = "it needs a person, and this terminal is not interactive"


def exit_code(outcome: Outcome) -> int:
    """Return the exit code of `bot ask`.

    0 success, 1 failed, 2 partial, 3 no Responses API at the address (other wrong settings end
    before there is an outcome), 4 key refused, 5 timed out, with or without a result,
    130 interrupted.
    """
    if outcome.error is ModelErrorKind.NO_RESPONSES_API:
        return 3
    if outcome.error is ModelErrorKind.AUTHENTICATION:
        return 4
    if outcome.stop_reason in _TIMEOUTS:
        return 5
    return _EXIT[outcome.status]


@dataclass(frozen=True, slots=True)
class ConsoleSurface:
    """A surface with the answer on stdout and, with `stream`, the run's progress on stderr.

    With `only_data`, stdout gets data of the given schema or nothing, so that it can be piped, and
    texts go to stderr. `waits` are the kinds of what features ask.
    """

    as_json: bool
    stream: bool
    only_data: bool
    waits: Mapping[str, WaitKind]

    async def show(self, event: Event) -> None:
        """See `Surface.show`."""
        if self.stream and (line := _progress(event)):
            write(sys.stderr, for_terminal(line))

    async def ask(
        self,
        approvals: Sequence[Approval],
        *,
        meanwhile: bool = False,  # noqa: ARG002 - the protocol's
    ) -> Sequence[tuple[Approval, Decision]]:
        """Ask the person at the terminal; deny everything unless stdin and stderr are terminals."""
        return [(approval, await self._answer(approval)) for approval in approvals]

    async def _answer(self, approval: Approval) -> Decision:
        """Ask about one approval and return the decision; nobody at a pipe is asked."""
        if not is_interactive():
            return Decision(verdict=Verdict.DENIED, comment=_NOBODY_THERE)
        if approval.kind == CALL:
            return await _ask_about_call(approval)
        kind = self.waits.get(approval.kind)
        return await (kind.typed if kind else deny)(approval, typed_line)

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Do nothing: the terminal already shows what was typed."""

    async def finish(self, outcome: Outcome) -> None:
        """See `Surface.finish`."""
        if self.as_json:
            write(sys.stdout, escaped_json(outcome.model_dump_json(indent=2)) + "\n")
        elif not self.only_data:
            write(sys.stdout, for_terminal(as_text(outcome)) + "\n")
        elif outcome.response_type == GIVEN and outcome.result is not None:
            write(sys.stdout, escaped_json(result_text(outcome)) + "\n")
            words = as_text(outcome.model_copy(update={"result": None}))
            write(sys.stderr, for_terminal(words) + "\n")
        else:
            write(sys.stderr, for_terminal(as_text(outcome)) + "\n")


def is_interactive() -> bool:
    """Return whether somebody can be asked: both stdin and stderr are terminals."""
    return sys.stdin.isatty() and sys.stderr.isatty()


async def anybody(_user: str) -> bool:
    """Return True: the person at the terminal may decide everything."""
    return True


async def _ask_about_call(approval: Approval) -> Decision:
    """Show the call; y or yes approves it, anything else denies it."""
    arguments = json.dumps(json.loads(approval.arguments), ensure_ascii=True, indent=2)
    title, tool = escaped(approval.title), escaped(approval.tool)
    warning = "This may delete or overwrite something.\n" if approval.destructive else ""
    typed = await typed_line(f"\n{title}\n{tool} {arguments}\n{warning}Approve? [y/N] ")
    yes = typed.strip().lower() in ("y", "yes")
    return Decision(verdict=Verdict.APPROVED if yes else Verdict.DENIED, by=approval.requester)


async def typed_line(prompt: str) -> str:
    """Write the prompt and return the line that is typed.

    stdin is read without a thread, so that cancelling leaves nothing behind.
    """
    sys.stderr.write(prompt)
    sys.stderr.flush()
    loop = asyncio.get_running_loop()
    line: asyncio.Future[str] = loop.create_future()

    def read() -> None:
        loop.remove_reader(sys.stdin)
        line.set_result(sys.stdin.readline())

    loop.add_reader(sys.stdin, read)
    try:
        return await line
    finally:
        loop.remove_reader(sys.stdin)


def console_surface(
    *, as_json: bool, stream: bool, waits: Mapping[str, WaitKind] = MappingProxyType({})
) -> OpenSurface:
    """Return a function that opens the terminal as the surface of a run."""

    @asynccontextmanager
    async def open_surface(
        request: Request, _post: PostedMessages
    ) -> AsyncGenerator[ConsoleSurface]:
        only_data = request.response_schema is not None
        yield ConsoleSurface(as_json=as_json, stream=stream, only_data=only_data, waits=waits)

    return open_surface


def _progress(event: Event) -> str:  # noqa: PLR0911 - a line for each kind
    match event:
        case TextDelta(text=text):
            return text
        case RoomAwaited(ended=False):
            return "… Waiting: other questions have reserved the rest of the budget\n"
        case ToolStarted(title=title):
            return f"… {title}\n"
        case ToolProgress(line=line):
            return f"  {line}\n"
        case ToolRetried(error=error, pause=pause):
            return f"  no answer yet ({error}), trying again in {pause:.1f} s\n"
        case ToolEnded(ok=False, detail=detail):
            return f"✗ {detail}\n"
        case ToolEnded(detail=detail, seconds=seconds):
            return f"✓ {detail} ({seconds:.1f} s)\n"
        case ToolsAcquired(names=names):
            return f"+ {', '.join(names)}\n"
        case SkillAcquired(name=name):
            return f"+ skill {name}\n"
        case FromSubagent(event=inner) if isinstance(
            inner, ToolEvent | ToolsAcquired | SkillAcquired
        ):
            return f"  ↳ {_progress(inner)}"
        case _:
            return ""


def as_text(outcome: Outcome) -> str:
    """Return the outcome as Markdown."""
    parts = [outcome.note] if outcome.note else []
    if outcome.result is not None:
        parts.append(result_text(outcome))
        with reader(outcome.locale):  # as what the run wrote
            trust = trust_in(outcome)
        parts += filter(None, [" ".join(filter(None, (*trust.warnings, trust.line)))])
    if outcome.found:
        parts.append("\n".join(f"- {step}" for step in outcome.found))
    if outcome.rehearsed:
        left_out = (
            f"- {call.title}: {call.tool} {_json(call.arguments)}" for call in outcome.rehearsed
        )
        parts.append("Dry run, so this was not done:\n" + "\n".join(left_out))
    totals = outcome.totals
    cost = "unknown cost" if totals.cost is None else f"${totals.cost:.4f}"
    turns, calls = totals.turns, totals.tool_calls
    parts.append(
        f"— {totals.model} · {counted(turns, 'turn')} · {counted(calls, 'tool call')} · "
        f"{totals.input_tokens + totals.output_tokens:,} tokens · {cost} · {totals.seconds:.1f} s"
    )
    parts += outcome.warnings
    return "\n\n".join(parts)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)


@dataclass
class ConsoleConversation(MemoryConversation):
    """A conversation with the files of `--file` only; shared files are written to `folder`."""

    folder: Path = Path()

    @classmethod
    def with_files(cls, paths: Sequence[Path], folder: Path) -> ConsoleConversation:
        """Return a conversation with `paths` as files F1, F2, …"""
        made = cls(refusal=_NO_CHANNELS, folder=folder)
        for path in paths:
            made.attach(path.name, path)
        return made

    @override
    async def share(self, data: bytes, *, name: str, comment: str = "") -> str | None:
        """Write the file. Raises ToolError when a file of this name exists."""
        target = self.folder / Path(name).name
        try:
            with target.open("xb") as file:
                file.write(data)
        except FileExistsError:
            raise ToolError(f"{target.name} already exists. Choose another name.") from None
        return target.absolute().as_uri()
