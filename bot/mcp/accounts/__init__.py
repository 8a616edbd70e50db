"""Personal accounts at MCP servers: how people connect them, and tokens for their calls.

`Accounts` in `accounts` is what the rest of the bot uses. Nothing is imported here, because most of
the modules load the protocol's SDK, which is slow.
"""
