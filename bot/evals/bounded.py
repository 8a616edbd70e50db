"""Ends a run after the first turn in which a tool ran: enough to see what a model chooses."""

from __future__ import annotations

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.core.outcome import StopReason
from bot.toolkit.tool import Tool, ToolResult


class Bounded(Hooks):
    """For one run."""

    def __init__(self) -> None:
        self._ran = False

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self._ran = True
        return ""

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return StopReason.STOP_HOOK if self._ran else None
