"""Progress as what can be added to a streamed message: cards by their id, and text that grows."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack.incoming.text import one_line
from bot.slack.render import words
from bot.slack.render.partial_markdown import streamable
from bot.slack.render.parts import Block
from bot.slack.render.progress import came_of, card_status, card_title, lines_under, title_of
from bot.slack.reply.progress_state import Progress, Step, StepStatus

_MAX_NARRATION = 2_500
_MAX_DRAFT = 4_000
_MAX_TITLE = 120
_MAX_OUTPUT = 120
_MAX_LINES = 3  # of a helper's steps: a field of a card takes 256 characters


@dataclass(frozen=True, slots=True)
class View:
    """A streamed message as it ought to look. `tasks` are chunks by the id of their card."""

    title: str
    tasks: dict[str, Block]
    text: str = ""

    @property
    def size(self) -> int:
        """Bytes that count towards Slack's limit for a message with cards."""
        cards = "".join(str(value) for task in self.tasks.values() for value in task.values())
        return len((self.text + cards).encode())


def view_of(progress: Progress) -> View:
    """What to show of `progress`."""
    began = bool(progress.steps or progress.narrated or progress.draft)
    first = _task("question", words.READING, "complete" if began else "in_progress")
    tasks = [first, *(_step(number, step) for number, step in enumerate(progress.steps))]
    text = "\n\n".join(filter(None, (progress.narrated[:_MAX_NARRATION], progress.draft)))
    return View(
        title=title_of(progress),
        tasks={task["id"]: task for task in tasks},
        text=streamable(text[: _MAX_NARRATION + _MAX_DRAFT]),
    )


def added(before: View, after: View) -> list[Block] | None:
    """The chunks that make `after` of `before`; None when something would have to be taken back."""
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
    """While it runs, what its sub-agent does stands in the title: of the fields of a card, only
    that is sure to be replaced when it is sent again."""
    running = step.status is StepStatus.RUNNING
    title = " ".join([step.title, *lines_under(step)[-1:]]) if running else card_title(step)
    task = _task(f"step_{number}", one_line(title, _MAX_TITLE) or "…", card_status(step))
    details = "" if running else "\n".join(lines_under(step)[-_MAX_LINES:])
    texts = {"output": one_line(came_of(step), _MAX_OUTPUT), "details": details}
    return task | {key: text for key, text in texts.items() if text}


def _task(key: str, title: str, status: str) -> Block:
    return {"type": "task_update", "id": key, "title": title, "status": status}
