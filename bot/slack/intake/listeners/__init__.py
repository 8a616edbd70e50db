"""Bolt listeners, one module for each kind of event or interaction."""

from __future__ import annotations

from bot.features.server_questions import listeners as server_questions
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.listeners import (
    actions,
    administration,
    approvals,
    channel_settings,
    commands,
    functions,
    home,
    language,
    mentions,
    messages,
    people,
    personal_settings,
    reactions,
    sessions,
    sharing,
    shortcuts,
)
from bot.slack.intake.slack_app import SlackApp


def register(app: SlackApp, home_tab: HomeTab) -> None:
    """Register the listeners for everything that the manifest subscribes to, and those of features."""
    language.register(app)
    mentions.register(app)
    people.register(app)
    messages.register(app)
    shortcuts.register(app, home_tab.preferences)
    commands.register(app, home_tab.admin)
    actions.register(app)
    approvals.register(app)
    server_questions.register(app)
    functions.register(app)
    sharing.register(app)
    home.register(app, home_tab)
    personal_settings.register(app, home_tab)
    administration.register(app, home_tab.admin)
    channel_settings.register(app, home_tab)
    reactions.register(app)
    sessions.register(app)
    for part in app.parts:
        part.register(app)
