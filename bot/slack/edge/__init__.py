"""Slack's edge: sockets, HTTP, the Web API client, installs, and what the bot knows of a workspace."""
