"""The trial of a skill: a case with the saved skills, and with the one that an admin wrote."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from bot.core.request import Request
from bot.features.skills import words
from bot.features.skills.skill_form import Draft, skill_form
from bot.features.skills.written import WrittenSkill, WrittenSkills
from bot.runs.run_deps import RunDeps
from bot.runs.trials import Variant
from bot.slack.intake.trial_jobs import Trial
from bot.slack.ui.links import LinkGate
from bot.store import Stores


async def skill_trial(deps: RunDeps, request: Request, subject: str) -> Trial:
    """Return the trial of the draft in the subject of a job."""
    draft, written = Draft.model_validate_json(subject), WrittenSkills.of(deps.stores)
    saved = await written.all(request.team)
    others = [skill for skill in saved if skill.name != draft.name]
    settings = await deps.channels.of(request.team, request.channel)
    versions = await written.versions(request.team, draft.name) if draft.number else []
    return Trial(
        draft.case,
        before=Variant(settings, partial(_prepare, saved)),
        after=Variant(settings, partial(_prepare, [*others, draft.skill])),
        form=partial(skill_form, draft, versions=versions),
        message=partial(_message, draft),
    )


async def _prepare(skills: Sequence[WrittenSkill], stores: Stores, team: str) -> None:
    await WrittenSkills.of(stores).put(team, skills)


def _message(draft: Draft, why_not: str) -> str:
    if why_not:
        return words.NOT_TRIED(name=draft.name, problem=LinkGate().mrkdwn(why_not))
    return words.TRIED(name=draft.name)
