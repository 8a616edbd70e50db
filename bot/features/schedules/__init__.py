"""Schedules: questions that the bot asks itself later, and messages that it has Slack post later."""
