"""OAuth at the issuers of MCP servers: discovery, registration, connecting, and tokens for calls."""
