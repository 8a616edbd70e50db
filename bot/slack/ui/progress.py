"""Progress as a plan of task cards with a Stop button."""

from __future__ import annotations

from bot.runs.policy.approval_hook import WHY_OF_PERSON
from bot.slack.edge.text import clean, one_line
from bot.slack.ui import words
from bot.slack.ui.buttons import Stops, stop_button
from bot.slack.ui.links import LinkGate
from bot.slack.ui.markdown import safe_blocks
from bot.slack.ui.parts import Block, Part, context, shortened, written
from bot.slack.ui.progress_state import Progress, Step, StepStatus
from bot.text.redaction import redacted
from bot.text.translation import translated

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
    shown = LinkGate().mrkdwn(title) if "://" in title else title
    return words.STATUS_WORKING(step=shown)


def plan(progress: Progress, title: str) -> Block:
    """Return the latest steps as cards."""
    shown = progress.steps[-MAX_CARDS:]
    hidden = len(progress.steps) - len(shown)
    if hidden:
        title = f"{title} · {words.EARLIER_STEPS(hidden)}"
    cards = [_card(index, step) for index, step in enumerate(shown, hidden)]
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
        f"↳ {_MARKS[each.status]} {card_title(each, _MAX_LINE)}"
        for each in step.under[-_MAX_LINES:]
    ]


def _rich_text(text: str) -> Block:
    """Return text as rich text, in which nothing becomes a link or a mention."""
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": text}]}
    return {"type": "rich_text", "elements": [section]}


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
