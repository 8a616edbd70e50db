"""Slack behind the interfaces of tools: conversations, people, search, canvases and files."""
