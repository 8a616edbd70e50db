"""What questions of servers add to a run: its asker is asked, and the call is made again."""

from __future__ import annotations

from bot.features.server_questions.hook import InputHook
from bot.runs.run import Run
from bot.runs.run_parts import RunPart


class QuestionsPart(RunPart):
    """The part of one run."""

    def __init__(self, run: Run) -> None:
        self.asking = InputHook(run.waits)
