"""Tools of MCP servers: connections, pinned tools, and their place in the tool catalogue."""

from bot.mcp.config import McpServer
from bot.mcp.pins import Pin, Pins, ServerPins, ToolFacts
from bot.mcp.servers import McpServers, ServerStatus, open_mcp_servers

__all__ = [
    "McpServer",
    "McpServers",
    "Pin",
    "Pins",
    "ServerPins",
    "ServerStatus",
    "ToolFacts",
    "open_mcp_servers",
]
