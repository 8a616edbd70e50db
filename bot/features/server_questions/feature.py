"""The feature: an MCP server asks the asker something during a call, and gets the answer."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bot.features import Feature
from bot.features.server_questions.hook import InputHook
from bot.runs.run import Run
from bot.runs.run_parts import RunPart

if TYPE_CHECKING:
    from mcp import MCPError
    from mcp.types import CallToolResult, InputRequiredResult

    from bot.features.server_questions.live_questions import LiveQuestions
    from bot.mcp.doors import Call


def server_questions() -> Feature:
    """Return the feature."""
    return Feature("server_questions", run_part=QuestionsPart, server_questions=AskerQuestions())


class QuestionsPart(RunPart):
    """The part of one run: its asker is asked, and the call is made again."""

    def __init__(self, run: Run) -> None:
        self.asking = self.asker = InputHook(run.waits)


class AskerQuestions:
    """What puts questions of servers to people, as `bot.mcp` uses it. See
    `bot.mcp.doors.ServerQuestions`. The SDK is loaded at first use."""

    async def answered_call(self, server: str, call: Call, *, may_ask: bool) -> CallToolResult:
        """Make a call with all that its asker has answered so far. Raises PersonNeeded."""
        from bot.features.server_questions.questions import call_with_answers

        return await call_with_answers(server, call, may_ask=may_ask)

    def live(self, server: str, seconds: float) -> LiveQuestions:
        """Return the questions of one call that has `seconds`, without those of its asker."""
        from bot.features.server_questions.live_questions import LiveQuestions

        return LiveQuestions(server, seconds)

    def asked_in(self, error: MCPError) -> InputRequiredResult | None:
        """Return the questions in an error of a server, None if it has none."""
        from bot.features.server_questions.questions import pages_to_open

        return pages_to_open(error)
