"""One file per kind of thing Slack sends; each ends in a request, or in an action on a run."""

from __future__ import annotations

from slack_bolt.async_app import AsyncApp

from bot.runs.watching import Submit
from bot.slack.access import Access
from bot.slack.admin import Admin
from bot.slack.asking import Asking
from bot.slack.background import Background
from bot.slack.client import Clients, Identity
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
    shortcuts,
)
from bot.slack.status import ThreadStatus
from bot.slack.stopping import Stopping


def register(
    app: AsyncApp,
    *,
    identity: Identity,
    clients: Clients,
    intake: Intake,
    edits: Edits,
    asking: Asking,
    submit: Submit,
    access: Access,
    stopping: Stopping,
    keep_feedback: feedback.KeepsFeedback,
    status: ThreadStatus,
    background: Background,
    admin: Admin,
    deciding: Deciding,
    home_tab: HomeTab,
) -> None:
    """Listen to everything that the manifest subscribes to."""
    mentions.register(app, intake)
    messages.register(app, intake, edits)
    shortcuts.register(app, clients, asking, home_tab.preferences)
    commands.register(app, identity, clients, asking, admin)
    actions.register(app, clients, asking, stopping, background)
    approvals.register(app, clients, deciding, background)
    feedback.register(app, identity, clients, keep_feedback, background)
    functions.register(app, identity, clients, submit, background)
    home.register(app, home_tab, access)
    personal_settings.register(app, home_tab)
    administration.register(app, clients, admin, background)
    channel_settings.register(app, clients, access, home_tab)
    reactions.register(app, stopping)
    sessions.register(app, stopping, status, background)
