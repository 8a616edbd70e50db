"""Bolt listeners, one module for each kind of event or interaction."""

from __future__ import annotations

from bot.slack.intake import administration, answer_buttons, decisions, edits, intake, stop
from bot.slack.intake.listeners import commands
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp) -> None:
    """Register the listeners for everything that the manifest subscribes to, and those of features."""
    edits.register(app)
    intake.register(app)
    stop.register(app)
    answer_buttons.register(app)
    decisions.register(app)
    commands.register(app)
    administration.register(app)
    for part in app.parts:
        part.register(app)
