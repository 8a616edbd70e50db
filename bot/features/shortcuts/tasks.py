"""Tasks of the message shortcuts, each with its own response type."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.answers import ActionItems, DraftReply, ThreadSummary, stored_name
from bot.features.shortcuts import words
from bot.text.translation import Text


@dataclass(frozen=True, slots=True)
class Task:
    """A message shortcut: the words of its modal, and the question that it asks.

    `about_message` is True when the question is about the one message, not its thread;
    `for_oneself` when, by default, only the asker sees the result.
    """

    callback: str
    response_type: str
    title: Text
    submit: Text
    hint: Text
    asked: Text
    about_message: bool = False
    for_oneself: bool = False

    def question(self, instruction: str) -> str:
        """Return the task's question, followed by what the person added."""
        asked = self.asked()
        return f"{asked}\n\n{instruction}" if instruction else asked


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
"""All tasks by callback id, which the shortcut in manifest.yml and the modal share."""
