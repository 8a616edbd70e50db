"""The job of a trial: run the case, and show the result to the admin who started it, and nobody else."""

from __future__ import annotations

import logging
from dataclasses import dataclass
from functools import partial

from bot.core.request import Request
from bot.features.feedback import words
from bot.features.feedback.instructions_form import Draft, instructions_form
from bot.runs.trials import Trials, Variant
from bot.slack.edge.client import Clients
from bot.slack.intake.trial_jobs import show_trial
from bot.slack.ui.links import LinkGate, escape_mrkdwn

log = logging.getLogger(__name__)

KIND = "try_instructions"
"""The kind of job."""


@dataclass(frozen=True, slots=True)
class TrialJobs:
    """The trials of instructions in one workspace."""

    trials: Trials
    clients: Clients

    async def run(self, request: Request, deaths: int) -> None:
        """Try the instructions of the job. Safe to repeat: only the result is shown again."""
        assert request.job  # noqa: S101 - that is why it is called
        deps, draft = self.trials.deps, Draft.model_validate_json(request.job.subject)
        if not await deps.frontend.may_administer(request.user):
            log.warning("a trial was dropped: whoever started it is no admin any more")
            return
        before = await deps.channels.of(request.team, draft.channel)
        after = before.model_copy(update={"instructions": draft.instructions})
        variants = Variant(before), Variant(after)
        compare = partial(self.trials.compare, request, [draft.case], *variants)
        form = partial(instructions_form, draft)
        await show_trial(self.clients, request, deaths, compare, form, partial(_message, draft))


def _message(draft: Draft, why_not: str) -> str:
    channel = f"<#{draft.channel}>"
    text = words.TRIED(channel=channel)
    if why_not:
        text = words.NOT_TRIED(channel=channel, problem=LinkGate().mrkdwn(why_not))
    return f"{text}\n>{escape_mrkdwn(draft.instructions)}".replace("\n", "\n>")
