"""Services behind the tools: tables, databases, documents, the web, reports and MCP."""
