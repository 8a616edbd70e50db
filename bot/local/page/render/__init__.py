"""Slack message dicts to safe HTML: everything the page shows of a message, a view or a Home tab."""

from bot.local.page.render.renderer import Renderer
from bot.local.page.render.scene import Scene

__all__ = ["Renderer", "Scene"]
