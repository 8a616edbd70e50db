"""MCP servers that others wrote, tried with our client: `python -m tests.mcp_servers`."""
