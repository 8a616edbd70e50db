"""Slack behind the interfaces of tools: conversations, people, search and files."""
