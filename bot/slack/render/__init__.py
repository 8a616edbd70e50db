"""Outcomes and progress as Slack messages: pure functions, no calls, no state."""
