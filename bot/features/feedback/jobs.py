"""The job of a trial: run the case, and show the result to the admin who started it, and nobody else."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.request import Request
from bot.features.feedback import words
from bot.features.feedback.instructions_form import Draft, compared, instructions_form, problem
from bot.runs.trials import NotTried, Trials
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients
from bot.slack.ui.blocks import Block, section
from bot.slack.ui.links import LinkGate, escape_mrkdwn

log = logging.getLogger(__name__)

KIND = "try_instructions"
"""The kind of job."""

_MAX_DEATHS = 3


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
        result, sentence = [], words.GAVE_UP() if deaths >= _MAX_DEATHS else ""
        try:
            if not sentence:
                [comparison] = await self.trials.compare(request, [draft.case], before, after)
                result = compared(comparison)
        except NotTried as error:
            sentence = str(error)
        await self._show(request, draft, result, sentence)

    async def _show(
        self, request: Request, draft: Draft, result: list[Block], sentence: str
    ) -> None:
        """Show the result in the form; if that was closed, in a message with what it tried."""
        assert request.job  # noqa: S101 - `run` checks it
        above = result or [problem(sentence)]
        try:
            await self.clients.writes.views_update(
                view_id=request.job.view, view=instructions_form(draft, *above)
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.info("The form of a trial was not updated: %s", type(error).__name__)
            await self._write(request, draft, result, sentence)

    async def _write(
        self, request: Request, draft: Draft, result: list[Block], sentence: str
    ) -> None:
        channel = f"<#{draft.channel}>"
        text = words.TRIED(channel=channel)
        if not result:
            text = words.NOT_TRIED(channel=channel, problem=LinkGate().mrkdwn(sentence))
        quoted = f"{text}\n>{escape_mrkdwn(draft.instructions)}".replace("\n", "\n>")
        try:
            await self.clients.writes.chat_postMessage(
                channel=request.channel, text=text, blocks=[section(quoted), *result]
            )
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("An admin was not told of a trial: %s", type(error).__name__)
