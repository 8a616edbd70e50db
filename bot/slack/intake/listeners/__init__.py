"""Bolt listeners, one module for each kind of event or interaction."""

from __future__ import annotations

from collections.abc import Sequence

from slack_bolt.async_app import AsyncApp

from bot.features.server_questions import listeners as server_questions
from bot.runs.lessons import LessonIntake
from bot.runs.watching import Submit
from bot.slack.edge.background_tasks import Background
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.decisions import ApprovalDecisions
from bot.slack.intake.edits import Edits
from bot.slack.intake.home.publish import HomeTab
from bot.slack.intake.intake import Intake
from bot.slack.intake.listeners import (
    actions,
    administration,
    approvals,
    channel_settings,
    commands,
    feedback,
    functions,
    home,
    language,
    lessons,
    mentions,
    messages,
    people,
    personal_settings,
    reactions,
    sessions,
    sharing,
    shortcuts,
)
from bot.slack.intake.questions import QuestionIntake
from bot.slack.intake.retry import RetryButton
from bot.slack.intake.share import AnswerSharing
from bot.slack.intake.slack_part import SlackPart
from bot.slack.intake.stop import StopAction
from bot.slack.ui.buttons import AnswerButton


def register(
    app: AsyncApp,
    slack: Slack,
    *,
    intake: Intake,
    edits: Edits,
    questions: QuestionIntake,
    submit: Submit,
    stop_action: StopAction,
    keep_feedback: feedback.FeedbackStore,
    lesson_intake: LessonIntake,
    background: Background,
    decisions: ApprovalDecisions,
    home_tab: HomeTab,
    answers: AnswerSharing,
    on_left: people.OnLeft,
    features: Sequence[SlackPart],
    answer_buttons: Sequence[AnswerButton],
) -> None:
    """Register the listeners for everything that the manifest subscribes to, and those of features,
    whose `answer_buttons` stand under answers."""
    language.register(app, slack.people)
    identity, clients, admin = slack.identity, slack.clients, home_tab.admin
    mentions.register(app, intake)
    people.register(app, slack.people, on_left, features)
    messages.register(app, intake, edits)
    shortcuts.register(app, clients, questions, home_tab.preferences)
    commands.register(app, identity, clients, questions, admin)
    retry_button = RetryButton(clients, answers.answered, answer_buttons)
    actions.register(app, clients, questions, stop_action, retry_button, background)
    approvals.register(app, identity, clients, decisions, background)
    server_questions.register(app, clients, decisions, background)
    feedback.register(app, identity, clients, questions, keep_feedback, lesson_intake, background)
    functions.register(app, identity, clients, submit, intake.retries, background)
    sharing.register(app, answers, background)
    home.register(app, home_tab, slack.access)
    personal_settings.register(app, home_tab)
    lessons.register(app, clients, home_tab)
    administration.register(app, clients, admin, background)
    channel_settings.register(app, clients, slack.access, home_tab)
    reactions.register(app, stop_action, intake.retries)
    sessions.register(app, clients, stop_action, slack.status, intake.retries, background)
    for feature in features:
        feature.register(app)
