"""Shortcuts, modals, commands, Workflow steps, buttons and schedules."""
