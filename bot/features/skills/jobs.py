"""The job of a trial: run a case with the saved skills, and with the one that an admin wrote."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from bot.core.request import Request
from bot.features.skills import words
from bot.features.skills.skill_form import Draft, skill_form
from bot.features.skills.written import WrittenSkill, WrittenSkills
from bot.runs.trials import Trials, Variant
from bot.slack.edge.client import Clients
from bot.slack.intake.trial_jobs import show_trial
from bot.slack.ui.links import LinkGate
from bot.store import Stores

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class SkillTrials:
    """The trials of skills in one workspace."""

    trials: Trials
    clients: Clients

    async def run(self, request: Request, deaths: int) -> None:
        """Try the skill of the job. Safe to repeat: only the result is shown again."""
        assert request.job  # noqa: S101 - that is why it is called
        deps, draft = self.trials.deps, Draft.model_validate_json(request.job.subject)
        if not await deps.frontend.may_administer(request.user):
            log.warning("a trial was dropped: whoever started it is no admin any more")
            return
        written = WrittenSkills.of(deps.stores)
        saved = await written.all(request.team)
        others = [skill for skill in saved if skill.name != draft.name]
        settings = await deps.channels.of(request.team, request.channel)
        before = Variant(settings, partial(_prepare, saved))
        after = Variant(settings, partial(_prepare, [*others, draft.skill]))
        versions = await written.versions(request.team, draft.name) if draft.number else []
        compare = partial(self.trials.compare, request, [draft.case], before, after)
        form = partial(skill_form, draft, versions=versions)
        await show_trial(self.clients, request, deaths, compare, form, partial(_message, draft))


async def _prepare(skills: Sequence[WrittenSkill], stores: Stores, team: str) -> None:
    await WrittenSkills.of(stores).put(team, skills)


def _message(draft: Draft, why_not: str) -> str:
    if why_not:
        return words.NOT_TRIED(name=draft.name, problem=LinkGate().mrkdwn(why_not))
    return words.TRIED(name=draft.name)
