"""The feature: people rate answers, and admins try instructions before they save them."""

from __future__ import annotations

from functools import partial

from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features import Feature
from bot.features.feedback import words
from bot.features.feedback.jobs import KIND, instructions_trial
from bot.features.feedback.slack_part import FEEDBACK, FeedbackPart
from bot.runs.queue.engine import Handle
from bot.runs.run_deps import RunDeps
from bot.runs.trials import RunCase, Trials
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.trial_jobs import TrialJobs
from bot.slack.ui.blocks import Block, text_object
from bot.slack.ui.buttons import AnswerButton
from bot.store.families import Family

STORED = (
    Family("feedback", grows=True, index=(0, "zset")),
    Family("lesson", grows=True),
    Family("lessons", "zset"),
    Family("lesson-teams", "set"),
)


def feedback(run_case: RunCase | None) -> Feature:
    """Return the feature. `run_case` runs an evaluation case; without it, none can be tried."""
    return Feature(
        "feedback",
        stored=STORED,
        jobs={KIND: partial(_job, run_case)},
        slack_part=FeedbackPart,
        buttons=(THUMBS,),
    )


def _job(run_case: RunCase | None, deps: RunDeps, slack: Slack) -> Handle:
    return TrialJobs(Trials(deps, run_case), slack.clients, instructions_trial).run


def _thumbs(run_id: str) -> Block:
    """Return thumbs up and down; the value is `good:run_id` or `bad:run_id`."""

    def choice(text: str, verdict: str) -> Block:
        return {
            "text": text_object(text),
            "accessibility_label": text,
            "value": f"{verdict}:{run_id}",
        }

    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": choice(words.GOOD(), "good"),
        "negative_button": choice(words.BAD(), "bad"),
    }
    return {"type": "context_actions", "elements": [buttons]}


def _rated_run(outcome: Outcome, _request: Request) -> str:
    return outcome.run_id


THUMBS = AnswerButton(words.GOOD, FEEDBACK, _rated_run, row=_thumbs)
