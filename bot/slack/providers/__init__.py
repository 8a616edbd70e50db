"""Slack as tools see it: conversations, people, search, canvases and files."""
