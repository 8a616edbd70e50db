"""Personal accounts at MCP servers: how people connect them, and tokens for their calls."""

from bot.services.accounts.accounts import Accounts
from bot.services.accounts.auth import PersonAuth, problems
from bot.services.accounts.clients import PublicAddress

__all__ = ["Accounts", "PersonAuth", "PublicAddress", "problems"]
