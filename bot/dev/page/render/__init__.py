"""Slack message dicts to safe HTML: everything the page shows of a message, a view or a Home tab."""

from bot.dev.page.render.renderer import Renderer
from bot.dev.page.render.scene import Scene

__all__ = ["Renderer", "Scene"]
