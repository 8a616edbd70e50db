"""Canvases: Slack's documents, which tools read and, once somebody approved it, change."""
