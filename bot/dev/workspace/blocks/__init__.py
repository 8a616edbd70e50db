"""Block Kit as Slack checks it."""

from bot.dev.workspace.blocks.check import check_blocks, check_view

__all__ = ["check_blocks", "check_view"]
