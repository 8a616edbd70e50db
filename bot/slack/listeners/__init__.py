"""One file per kind of thing Slack sends; each ends in a request, or in an action on a run."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.runs.watching import Submit
from bot.slack.asking import Asking
from bot.slack.background import Background
from bot.slack.deciding import Deciding
from bot.slack.edits import Edits
from bot.slack.home_tab import HomeTab
from bot.slack.intake import Intake
from bot.slack.listeners import (
    actions,
    administration,
    approvals,
    channel_settings,
    commands,
    feedback,
    functions,
    home,
    mentions,
    messages,
    personal_settings,
    reactions,
    sessions,
    sharing,
    shortcuts,
)
from bot.slack.retried import Retried
from bot.slack.sharing import Sharing
from bot.slack.stopping import Stopping
from bot.slack.workspaces import Slack


def register(
    app: AsyncApp,
    slack: Slack,
    *,
    intake: Intake,
    edits: Edits,
    asking: Asking,
    submit: Submit,
    stopping: Stopping,
    keep_feedback: feedback.KeepsFeedback,
    background: Background,
    deciding: Deciding,
    home_tab: HomeTab,
    answers: Sharing,
) -> None:
    """Listen to everything that the manifest subscribes to."""
    identity, clients, admin = slack.identity, slack.clients, home_tab.admin
    mentions.register(app, intake)
    messages.register(app, intake, edits)
    shortcuts.register(app, clients, asking, home_tab.preferences)
    commands.register(app, identity, clients, asking, admin)
    retried = Retried(clients, answers.answered)
    actions.register(app, clients, asking, stopping, retried, background)
    approvals.register(app, identity, clients, deciding, background)
    feedback.register(app, identity, clients, asking, keep_feedback, background)
    functions.register(app, identity, clients, submit, intake.retries, background)
    sharing.register(app, answers, background)
    home.register(app, home_tab, slack.access)
    personal_settings.register(app, home_tab)
    administration.register(app, clients, admin, background)
    channel_settings.register(app, clients, slack.access, home_tab)
    reactions.register(app, stopping, intake.retries)
    sessions.register(app, clients, stopping, slack.status, intake.retries, background)
