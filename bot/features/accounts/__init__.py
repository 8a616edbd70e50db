"""Personal accounts at MCP servers: people connect them, and calls run on the account of the asker."""
