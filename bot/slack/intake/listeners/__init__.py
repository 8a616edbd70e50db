"""Bolt listeners, one module for each kind of event or interaction."""

from __future__ import annotations

from bot.features.home import settings_forms
from bot.features.home.home_tab import HomeTab
from bot.slack.intake import answer_buttons, decisions, edits, intake, stop
from bot.slack.intake.listeners import administration, commands, home
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp, home_tab: HomeTab) -> None:
    """Register the listeners for everything that the manifest subscribes to, and those of features."""
    edits.register(app)
    intake.register(app)
    stop.register(app)
    answer_buttons.register(app)
    decisions.register(app)
    commands.register(app, home_tab.admin)
    home.register(app, home_tab)
    administration.register(app, home_tab.admin)
    settings_forms.register(app, home_tab)
    for part in app.parts:
        part.register(app)
