"""Questions of MCP servers: a server asks the asker during a call, and gets the answer."""
