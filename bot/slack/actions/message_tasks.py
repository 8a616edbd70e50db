"""What the shortcuts on a message ask for, each with its own response type (C3)."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.answers import ActionItems, DraftReply, ThreadSummary, stored_name
from bot.slack.render import words


@dataclass(frozen=True, slots=True)
class Task:
    """One of these shortcuts: its modal in words, and the request that comes of it.

    `about_message` is True when the request is about the one message rather than its thread;
    `for_oneself` when only the asker is to see the result, unless they choose otherwise.
    """

    callback: str
    response_type: str
    title: str
    submit: str
    hint: str
    asked: str
    about_message: bool = False
    for_oneself: bool = False

    def question(self, instruction: str) -> str:
        """What is asked, with what the person added."""
        return f"{self.asked}\n\n{instruction}" if instruction else self.asked


SUMMARISE = Task(
    callback="summarise_thread",
    response_type=stored_name(ThreadSummary),
    title=words.SUMMARISE_TITLE,
    submit=words.SUMMARISE_SUBMIT,
    hint=words.SUMMARISE_HINT,
    asked=words.SUMMARISE_ASKED,
)
EXTRACT = Task(
    callback="extract_actions",
    response_type=stored_name(ActionItems),
    title=words.EXTRACT_TITLE,
    submit=words.EXTRACT_SUBMIT,
    hint=words.EXTRACT_HINT,
    asked=words.EXTRACT_ASKED,
)
DRAFT = Task(
    callback="draft_reply",
    response_type=stored_name(DraftReply),
    title=words.DRAFT_TITLE,
    submit=words.DRAFT_SUBMIT,
    hint=words.DRAFT_HINT,
    asked=words.DRAFT_ASKED,
    about_message=True,
    for_oneself=True,
)

TASKS = {task.callback: task for task in (SUMMARISE, EXTRACT, DRAFT)}
"""By the callback id that manifest.yml gives the shortcut; its modal has the same."""
