"""Progress of a run, folded from its events into an immutable value, and how people see it.

It is a plan of task cards with a Stop button or, in a streamed message, cards that are replaced by
id and text that grows.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from bot.agent.events import (
    Event,
    FromSubagent,
    MessagesJoined,
    ReasoningDelta,
    ResultDelta,
    RoomAwaited,
    RunEnded,
    SkillAcquired,
    TextDelta,
    TextWithdrawn,
    ToolEnded,
    ToolEvent,
    ToolProgress,
    ToolRetried,
    ToolStarted,
    TurnStarted,
)
from bot.runs.policy.approval_hook import WHY_OF_PERSON
from bot.slack.edge.text import clean, one_line
from bot.slack.ui import words
from bot.slack.ui.blocks import Block, rich, rich_text, shortened, text_element
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_blocks, streamable
from bot.slack.ui.parts import Part, context, written
from bot.text.redaction import redacted
from bot.text.translation import translated

_MAX_CHARS = 6_000  # of each text; the rest appears only in the final message


class StepStatus(StrEnum):
    """The state of a step."""

    WAITING = "waiting"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class Step:
    """One tool call. `report` is what it says of its progress; `under` holds the calls of the
    sub-agent that it started."""

    call_id: str
    title: str
    status: StepStatus = StepStatus.RUNNING
    detail: str = ""
    report: str = ""
    under: tuple[Step, ...] = ()


@dataclass(frozen=True, slots=True)
class Progress:
    """What a run is doing.

    - `thought`: text and reasoning of the current turn.
    - `earlier`: the same of the turns before.
    - `draft`: the text of the result as far as it is written.
    - `waits`: other questions hold the rest of a budget.
    - `ended`: the model has finished.
    """

    steps: tuple[Step, ...] = ()
    earlier: str = ""
    thought: str = ""
    draft: str = ""
    waits: bool = False
    ended: bool = False

    @property
    def narrated(self) -> str:
        """Return all text of the model besides its result, one paragraph per turn."""
        return "\n\n".join(filter(None, (self.earlier, self.thought)))

    @property
    def running(self) -> Step | None:
        """Return the running step that began last."""
        return next((s for s in reversed(self.steps) if s.status is StepStatus.RUNNING), None)


def advance(progress: Progress, event: Event) -> Progress:
    """Return the progress after `event`; the same object if the event shows nothing."""
    match event:
        case TurnStarted():
            earlier = progress.narrated[:_MAX_CHARS]
            progress = replace(progress, earlier=earlier, thought="", draft="")
        case RoomAwaited(ended=ended):
            progress = replace(progress, waits=not ended)
        case TextDelta(text=text) | ReasoningDelta(text=text):
            progress = replace(progress, thought=(progress.thought + text)[:_MAX_CHARS])
        case ResultDelta(text=text):
            progress = replace(progress, draft=(progress.draft + text)[:_MAX_CHARS])
        case TextWithdrawn():
            progress = replace(progress, thought="", draft="")
        case MessagesJoined(texts=texts):
            joined = Step("", words.also(texts), StepStatus.DONE)
            progress = replace(progress, steps=(*progress.steps, joined))
        case SkillAcquired(title=title):
            used = Step("", words.USES_THE_SKILL(skill=title), StepStatus.DONE)
            progress = replace(progress, steps=(*progress.steps, used))
        case ToolStarted() | ToolProgress() | ToolRetried() | ToolEnded():
            progress = replace(progress, steps=_with_event(progress.steps, event))
        case FromSubagent(agent=agent, event=inner) if isinstance(inner, ToolEvent):
            progress = replace(progress, steps=_with_subagent_event(progress.steps, agent, inner))
        case RunEnded():
            progress = replace(progress, ended=True)
        case _:
            pass
    return progress


def _with_event(steps: tuple[Step, ...], event: ToolEvent) -> tuple[Step, ...]:
    match event:
        case ToolStarted(call_id=call_id, title=title):
            others = (step for step in steps if not _is_running(step, call_id))
            return (*others, Step(call_id, title))  # a call that waited for people begins again
        case ToolProgress(call_id=call_id, line=line):
            changes: dict[str, Any] = {"report": line}
        case ToolRetried(call_id=call_id):
            changes = {"report": words.TRYING_AGAIN()}
        case ToolEnded(call_id=call_id):
            status = StepStatus.DONE if event.ok else StepStatus.FAILED
            changes = {"status": status, "detail": event.detail}
            if event.title:
                changes["title"] = event.title
    return tuple(replace(step, **changes) if step.call_id == call_id else step for step in steps)


def _with_subagent_event(steps: tuple[Step, ...], agent: str, event: ToolEvent) -> tuple[Step, ...]:
    return tuple(
        replace(step, under=_with_event(step.under, event)) if step.call_id == agent else step
        for step in steps
    )


def _is_running(step: Step, call_id: str) -> bool:
    return step.call_id == call_id and step.status is StepStatus.RUNNING


MAX_CARDS = 12
"""The number of latest steps shown; a longer plan is hard to read."""
_MAX_TITLE = 150
_MAX_DETAIL = 250
_MAX_THOUGHT = 280
_MAX_STATUS = 90
_MAX_DRAFT = 2_500
_MAX_PARAGRAPHS = 10
_MAX_LINES = 4
_MAX_LINE = 80
_CARD_STATUS = {
    StepStatus.WAITING: "pending",
    StepStatus.RUNNING: "in_progress",
    StepStatus.DONE: "complete",
    StepStatus.FAILED: "complete",
}
_NO_MARKUP = str.maketrans("<>@", "‹›＠")
_MARKS = {StepStatus.RUNNING: "…", StepStatus.DONE: "✓", StepStatus.FAILED: "–"}

_NOT_DONE = "Not done"
"""How outputs begin that tell the model of a call that was not made; the rest is for people too."""


def progress_part(progress: Progress, *, stops: Stops) -> Part:
    """Return the message of a running run."""
    title = title_of(progress)
    blocks: list[Block] = [plan(progress, title)]
    thought = "" if progress.draft else _latest(redacted(clean(progress.thought)))
    if thought:
        blocks.append(context(f"_{LinkGate().mrkdwn(thought).replace('_', ' ')}_").block)
    blocks += [written(block).block for block in safe_blocks(_draft(progress), LinkGate())]
    blocks.append(stop_button(stops))
    return Part(blocks, title)


def waiting_part(progress: Progress, *, stops: Stops) -> Part:
    """Return the message of a run that waits until the store is available again."""
    so_far = progress_part(progress, stops=stops)
    return Part([*so_far.blocks, context(words.WAITING()).block], words.WAITING())


def title_of(progress: Progress) -> str:
    """Return the title of the plan."""
    return words.WAITING_FOR_ROOM() if progress.waits else words.WORKING()


def status_line(progress: Progress) -> str:
    """Return the text that follows the bot's name in Slack's status line."""
    step = progress.running
    if progress.waits:
        return words.STATUS_WAITING_FOR_ROOM()
    if progress.ended or progress.draft:
        return words.STATUS_WRITING()
    if step is None:
        return words.STATUS_THINKING()
    title = shortened(_plain(step.title), _MAX_STATUS)
    line = LinkGate().mrkdwn(title) if "://" in title else title
    return words.STATUS_WORKING(step=line)


def plan(progress: Progress, title: str) -> Block:
    """Return the latest steps as cards."""
    steps = progress.steps[-MAX_CARDS:]
    hidden = len(progress.steps) - len(steps)
    if hidden:
        title = f"{title} · {words.EARLIER_STEPS(hidden)}"
    cards = [_card(index, step) for index, step in enumerate(steps, hidden)]
    return {"type": "plan", "title": title, "tasks": cards or [_thinking()]}


def _thinking() -> Block:
    return {
        "type": "task_card",
        "task_id": "thinking",
        "title": words.THINKING(),
        "status": "in_progress",
    }


def card_status(step: Step) -> str:
    """Return a step's status in Slack's terms.

    A failed step is "complete" and not an error: the model learned of the failure and continued. A
    step that was not allowed is "pending", because a check mark would say that it was done.
    """
    return "pending" if _is_undone(step) else _CARD_STATUS[step.status]


def card_title(step: Step, most: int) -> str:
    """Return the step's title in at most `most` characters.

    A running step also says how far it is, and one that was not allowed that it was not done.
    """
    if _is_undone(step):
        return one_line(words.NOT_DONE(title=step.title), most)
    if step.status is not StepStatus.RUNNING or not step.report:
        return one_line(step.title, most)
    report = one_line(_harmless(step.report), most // 2)
    return f"{one_line(step.title, most - len(report) - 3)} · {report}"


def _harmless(report: str) -> str:
    """Return a tool's words without links and mentions: it may repeat what others told it."""
    return LinkGate().plain(report).translate(_NO_MARKUP)


def _is_undone(step: Step) -> bool:
    return step.status is StepStatus.FAILED and step.detail.startswith(_NOT_DONE)


def _card(index: int, step: Step) -> Block:
    card: Block = {
        "type": "task_card",
        "task_id": f"step_{index}",
        "title": card_title(step, _MAX_TITLE) or "…",
        "status": card_status(step),
    }
    details = (shortened(_plain(result_line(step)), _MAX_DETAIL), *lines_under(step))
    if text := "\n".join(filter(None, details)):
        card["details"] = _rich_text(text)
    return card


def result_line(step: Step) -> str:
    """Return the result of the step in one line.

    For a failure that is its first sentence; the others advise the model.
    """
    if step.status is not StepStatus.FAILED:
        return step.detail
    why = step.detail.partition(". ")[0].removesuffix(".")
    if not _is_undone(step):
        return words.STEP_FAILED(why=why)
    because = _reason(why.removeprefix(_NOT_DONE).lstrip(": "))
    return because[:1].upper() + because[1:]


def _reason(english: str) -> str:
    """Return why a call was not made, in the reader's language if it is one of the usual reasons."""
    for each in WHY_OF_PERSON:
        _, _, did = each.english.partition("{name}")
        if english.endswith(did):
            return each(name=english.removesuffix(did))
    return translated(english)


def lines_under(step: Step) -> list[str]:
    """Return the latest calls of the step's sub-agent, one line each."""
    return [
        f"↳ {_MARKS[child.status]} {card_title(child, _MAX_LINE)}"
        for child in step.under[-_MAX_LINES:]
    ]


def _rich_text(text: str) -> Block:
    """Return text as rich text, in which nothing becomes a link or a mention."""
    return rich_text(rich("section", text_element(text)))


def _draft(progress: Progress) -> str:
    """Return the beginning of the unfinished result, within the limit of blocks."""
    paragraphs = redacted(clean(progress.draft[:_MAX_DRAFT])).split("\n\n")
    return "\n\n".join(paragraphs[:_MAX_PARAGRAPHS])


def _plain(text: str) -> str:
    return " ".join(clean(text).split())


def _latest(thought: str) -> str:
    """Return the end of the thought, beginning at a whole word."""
    flat = " ".join(thought.split())
    if len(flat) <= _MAX_THOUGHT:
        return flat
    return "…" + flat[-_MAX_THOUGHT:].partition(" ")[2]


_MAX_NARRATION = 2_500
_MAX_STREAMED_DRAFT = 4_000
_MAX_STREAMED_TITLE = 120
_MAX_OUTPUT = 120
_MAX_STREAMED_LINES = 3  # of a sub-agent's calls: a field of a card takes 256 characters


@dataclass(frozen=True, slots=True)
class View:
    """The wanted content of a streamed message. `tasks` maps card ids to chunks."""

    title: str
    tasks: dict[str, Block]
    text: str = ""

    @property
    def size(self) -> int:
        """Return the bytes that count towards Slack's limit for a message with cards."""
        cards = "".join(str(value) for task in self.tasks.values() for value in task.values())
        return len((self.text + cards).encode())


def view_of(progress: Progress) -> View:
    """Return the view of `progress`."""
    tasks = [_step(number, step) for number, step in enumerate(progress.steps)]
    text = "\n\n".join(filter(None, (progress.narrated[:_MAX_NARRATION], progress.draft)))
    return View(
        title=title_of(progress),
        tasks={task["id"]: task for task in tasks},
        text=streamable(text[: _MAX_NARRATION + _MAX_STREAMED_DRAFT]),
    )


def chunks_between(before: View, after: View) -> list[Block] | None:
    """Return the chunks that turn `before` into `after`; None if something would have to be removed."""
    if not after.text.startswith(before.text) or before.tasks.keys() - after.tasks.keys():
        return None
    chunks: list[Block] = []
    if after.title != before.title:
        chunks.append({"type": "plan_update", "title": after.title})
    chunks += [task for key, task in after.tasks.items() if before.tasks.get(key) != task]
    if more := after.text[len(before.text) :]:
        chunks.append({"type": "markdown_text", "text": more})
    return chunks


def _step(number: int, step: Step) -> Block:
    """Return the card of a step.

    While the step runs, the title shows its sub-agent's latest call: the title is the only field
    that Slack reliably replaces.
    """
    running = step.status is StepStatus.RUNNING
    latest = lines_under(step)[-1:] if running else []
    title = one_line(
        " ".join([card_title(step, _MAX_STREAMED_TITLE), *latest]), _MAX_STREAMED_TITLE
    )
    task = _task(f"step_{number}", title or "…", card_status(step))
    details = "" if running else "\n".join(lines_under(step)[-_MAX_STREAMED_LINES:])
    texts = {"output": one_line(result_line(step), _MAX_OUTPUT), "details": details}
    return task | {key: text for key, text in texts.items() if text}


def _task(key: str, title: str, status: str) -> Block:
    return {"type": "task_update", "id": key, "title": title, "status": status}
