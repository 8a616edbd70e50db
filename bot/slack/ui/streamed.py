"""Progress in the form of a streamed message: cards that are replaced by id, and text that grows."""

from __future__ import annotations

from dataclasses import dataclass

from bot.slack.edge.text import one_line
from bot.slack.ui import words
from bot.slack.ui.partial_markdown import streamable
from bot.slack.ui.parts import Block
from bot.slack.ui.progress import card_status, card_title, lines_under, result_line, title_of
from bot.slack.ui.progress_state import Progress, Step, StepStatus

_MAX_NARRATION = 2_500
_MAX_DRAFT = 4_000
_MAX_TITLE = 120
_MAX_OUTPUT = 120
_MAX_LINES = 3  # of a sub-agent's calls: a field of a card takes 256 characters


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
    began = bool(progress.steps or progress.narrated or progress.draft)
    first = _task("question", words.READING(), "complete" if began else "in_progress")
    tasks = [first, *(_step(number, step) for number, step in enumerate(progress.steps))]
    text = "\n\n".join(filter(None, (progress.narrated[:_MAX_NARRATION], progress.draft)))
    return View(
        title=title_of(progress),
        tasks={task["id"]: task for task in tasks},
        text=streamable(text[: _MAX_NARRATION + _MAX_DRAFT]),
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
    title = one_line(" ".join([card_title(step, _MAX_TITLE), *latest]), _MAX_TITLE)
    task = _task(f"step_{number}", title or "…", card_status(step))
    details = "" if running else "\n".join(lines_under(step)[-_MAX_LINES:])
    texts = {"output": one_line(result_line(step), _MAX_OUTPUT), "details": details}
    return task | {key: text for key, text in texts.items() if text}


def _task(key: str, title: str, status: str) -> Block:
    return {"type": "task_update", "id": key, "title": title, "status": status}
