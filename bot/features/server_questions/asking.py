"""What puts questions of servers to people, as `bot.mcp` uses it. The SDK is loaded at first use."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mcp import MCPError
    from mcp.types import CallToolResult, InputRequiredResult

    from bot.features.server_questions.live_questions import LiveQuestions
    from bot.mcp.doors import Call


class AskerQuestions:
    """See `bot.mcp.doors.ServerQuestions`."""

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
