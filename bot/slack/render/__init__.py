"""Rendering of outcomes and progress as Slack messages: pure functions without calls or state."""
