"""Intake of Slack events: addressing, permission checks, and conversion into requests."""
