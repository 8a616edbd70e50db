"""Connections to Slack: the Web API client, Socket Mode, HTTP, and OAuth installations."""
