"""The trial of a channel's instructions: a case with the saved ones, and with those that an admin wrote."""

from __future__ import annotations

from functools import partial

from bot.core.request import Request
from bot.features.feedback import words
from bot.features.feedback.instructions_form import Draft, instructions_form
from bot.runs.run_deps import RunDeps
from bot.runs.trials import Variant
from bot.slack.intake.trial_jobs import Trial
from bot.slack.ui.links import LinkGate, escape_mrkdwn

KIND = "try_instructions"
"""The kind of job."""


async def instructions_trial(deps: RunDeps, request: Request, subject: str) -> Trial:
    """Return the trial of the draft in the subject of a job."""
    draft = Draft.model_validate_json(subject)
    before = await deps.channels.of(request.team, draft.channel)
    return Trial(
        draft.case,
        before=Variant(before),
        after=Variant(before.model_copy(update={"instructions": draft.instructions})),
        form=partial(instructions_form, draft),
        message=partial(_message, draft),
    )


def _message(draft: Draft, why_not: str) -> str:
    channel = f"<#{draft.channel}>"
    text = words.TRIED(channel=channel)
    if why_not:
        text = words.NOT_TRIED(channel=channel, problem=LinkGate().mrkdwn(why_not))
    return f"{text}\n>{escape_mrkdwn(draft.instructions)}".replace("\n", "\n>")
