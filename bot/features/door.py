"""The door for packages: all that a feature of others imports of the bot (docs/features.md)."""

from bot.agent.events import RunEnded
from bot.agent.hooks.chain import Block, Go, Hooks, Prevent, Verdict
from bot.agent.prompts import data_message
from bot.agent.state import LoopState
from bot.core.check import Check, ok, problem, warning
from bot.core.errors import NotPermitted, ToolError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature, OperatorPart, ServiceDeps
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui.buttons import AnswerButton
from bot.store import Stores
from bot.text.translation import Text
from bot.toolkit.provided.documents import DocumentText
from bot.toolkit.provided.file_readers import FileReader, FileText
from bot.toolkit.skill import Skill

__all__ = [
    "AnswerButton",
    "Block",
    "Check",
    "DocumentText",
    "Feature",
    "FileReader",
    "FileText",
    "Go",
    "HomeViewer",
    "Hooks",
    "LoopState",
    "NotPermitted",
    "OperatorPart",
    "Outcome",
    "Press",
    "Prevent",
    "Request",
    "Run",
    "RunEnded",
    "RunPart",
    "ServiceDeps",
    "Skill",
    "SlackApp",
    "SlackPart",
    "Stores",
    "Text",
    "ToolError",
    "Verdict",
    "data_message",
    "ok",
    "problem",
    "warning",
]
