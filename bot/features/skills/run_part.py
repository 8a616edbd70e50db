"""What skills add to a run: which there are, and which a person or the channel names."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.events import Event, RunEnded
from bot.agent.hooks.chain import Hooks, Permission
from bot.agent.state import LoopState
from bot.core.links import links_in
from bot.core.outcome import Outcome
from bot.features.skills.library import READ, RUN, Library
from bot.features.skills.named import named_skills
from bot.features.skills.settings import ChannelSkills
from bot.features.skills.skill_file import same_name
from bot.features.skills.uses import SkillMetric, SkillUses, acquired_in
from bot.features.skills.written import WrittenSkills
from bot.runs.run import Run
from bot.runs.run_parts import RunPart
from bot.store.values import Command
from bot.toolkit import Programs, Tool
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.skill import Skill


class SkillsPart(RunPart):
    """The part of one run."""

    def __init__(self, library: Library, metric: SkillMetric, run: Run) -> None:
        self._library = library
        self._metric = metric
        self._run = run
        self._written = WrittenSkills.of(run.deps.stores)
        self._has_written = False
        self._used = dict[str, None]()
        self.hook = _SkillHook(run)

    @override
    async def skills(self) -> Sequence[Skill]:
        """Return the operator's, then those that admins wrote, unless their names look like one of these."""
        own = self._library.skills(runs_scripts=Programs in self._run.deps.toolbox.services)
        names = {same_name(skill.name) for skill in own}
        written = await self._written.all(self._run.request.team)
        self._has_written = bool(written)
        return [*own, *(skill.skill() for skill in written if same_name(skill.name) not in names)]

    @override
    def acquired(self, catalogue: Catalogue) -> Mapping[str, str]:
        names = [skill.name for skill in catalogue.skills]
        channel = self._run.channel
        load: Sequence[str] = channel.load if isinstance(channel, ChannelSkills) else ()
        by_channel = dict.fromkeys((name for name in load if name in names), "channel")
        return by_channel | dict.fromkeys(named_skills(self._run.request, names), "person")

    @override
    def on_event(self, event: Event) -> None:
        if skill := acquired_in(event):
            self._used[skill.name] = None
            self._metric.count(skill)

    @override
    def saving(self, outcome: Outcome) -> Sequence[Command]:
        team = self._run.request.team
        uses = SkillUses(self._run.deps.stores.redis).counting(team, list(self._used))
        return [*uses, *([self._written.keeping(team)] if self._has_written else [])]

    @override
    def complete(self, outcome: Outcome, ended: RunEnded) -> Outcome:
        catalogue = self._run.toolbox.catalogue
        skills = [*filter(None, map(catalogue.skill, ended.state.acquired))]
        if not skills:
            return outcome
        followed = {skill.title: skill.origin for skill in skills}
        own = [skill.text for skill in skills if self._library.get(skill.name)]
        links = [link for text in own for link in links_in(text)]
        totals = outcome.totals.model_copy(update={"skills": followed})
        return outcome.model_copy(update={"totals": totals, "links": outcome.links.union(links)})


class _SkillHook(Hooks):
    """Hears which skills later messages name, and forbids to read files of skills that the channel does
    not have."""

    def __init__(self, run: Run) -> None:
        self._run = run

    @override
    def named(self, state: LoopState) -> Collection[str]:
        names = [skill.name for skill in self._run.toolbox.catalogue.skills]
        joining = self._run.steering.joining
        return [name for request in joining for name in named_skills(request, names)]

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        if tool.name not in (READ, RUN):
            return None
        skill = str(getattr(arguments, "skill", ""))
        if self._run.toolbox.catalogue.skill(skill):
            return None
        return f"Not done: there is no skill {skill} here."
