"""Stop of a run after its first tools: enough to see which tools a model chooses, and cheap."""

from __future__ import annotations

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.hooks.chain import Hooks
from bot.agent.state import LoopState
from bot.core.outcome import StopReason
from bot.toolkit.tool import Tool, ToolResult


class StopAfterFirstTools(Hooks):
    """A hook of one run that stops it after the first turn in which a tool ran."""

    def __init__(self) -> None:
        self._ran = False

    @override
    async def after_tool(self, tool: Tool, arguments: BaseModel, result: ToolResult) -> str:
        self._ran = True
        return ""

    @override
    async def should_stop_after_turn(self, state: LoopState) -> StopReason | None:
        return StopReason.STOP_HOOK if self._ran else None
