"""Skills in the Home tab: which there are, and for admins the form in which they write them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence

from typing_extensions import override

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import NotPermitted
from bot.core.ids import new_id
from bot.features.skills import words
from bot.features.skills.library import Library
from bot.features.skills.skill_file import same_name
from bot.features.skills.skill_form import (
    DELETE,
    EARLIER,
    FORM,
    MORE,
    TRY,
    Draft,
    check,
    draft_of,
    skill_form,
)
from bot.features.skills.written import MOST, WrittenSkill, WrittenSkills
from bot.runs.audit_trail import refused
from bot.runs.policy.access import Person
from bot.runs.trials import TrialCase
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.intake.trial_jobs import start_trial
from bot.slack.ui.blocks import (
    Block,
    FormErrors,
    divider,
    header,
    option,
    section,
    shortened,
    static_select,
)
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import context
from bot.slack.ui.trials import note, problem
from bot.slack.ui.words import NEEDS_CASE, TRYING
from bot.text.translation import Text
from bot.toolkit.catalogue import Catalogue

log = logging.getLogger(__name__)

CHOOSE, KIND = "choose_skill", "try_skill"
_NEW = "+"
_MOST_SHOWN, _LONGEST = 10, 150


class SkillsHome(SlackPart):
    """The skills of one workspace. `is_taken` says whether a tool has a name."""

    text_form_label = words.MAKE_SKILL

    def __init__(self, library: Library, is_taken: Callable[[str], bool], app: SlackApp) -> None:
        self._app = app
        self._library = library
        self._is_taken = is_taken
        self._written = WrittenSkills.of(app.stores)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(CHOOSE)(self._opened)
        app.button(MORE)(self._grown)
        app.button(EARLIER)(self._brought_back)
        app.button(TRY)(self._tried)
        app.button(DELETE)(self._deleted)
        app.modal(FORM)(self._saved)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        if not viewer.may_ask:
            return ()
        skills = [*self._library.skills(runs_scripts=False)]
        skills += [written.skill() for written in await self._written.all(self._app.team)]
        settings = await self._app.gate.settings("")
        allowed = Catalogue(()).with_skills(skills).only(settings.tools).skills
        if not allowed:
            return ()
        lines = [
            f"• `${skill.name}`: {escape_mrkdwn(shortened(skill.description, _LONGEST))}"
            for skill in allowed[:_MOST_SHOWN]
        ]
        more = len(allowed) - _MOST_SHOWN
        lines += [words.HOME_MORE(count=more)] if more > 0 else []
        text = "\n".join((words.HOME_SKILLS(), *lines))
        return [divider(), header(words.HOME_TITLE()), section(text)]

    @override
    async def admin_home(self, user: str) -> Sequence[Block]:
        skills = await self._written.all(self._app.team)
        options = [option(words.NEW_SKILL(), _NEW), *(option(s.name, s.name) for s in skills)]
        menu = static_select(CHOOSE, words.CHOOSE(), options)
        # A new id empties the menu: Slack shows the last choice, and does not report it twice.
        blocks = [section(words.ADMIN_SKILLS(), menu, block_id=new_id("menu"))]
        if names := [skill.name for skill in self._library.loaded.skills]:
            listed = shortened(", ".join(f"`${name}`" for name in names), 2_000)
            blocks.append(context(words.OF_OPERATOR(names=listed)).block)
        return blocks

    @override
    def text_form(self, text: str, case: TrialCase) -> Block:
        return skill_form(Draft.of_text(text, case))

    async def _opened(self, press: Press) -> None:
        if not press.value:
            return
        await self._admin(press.user)
        draft, versions = Draft(), list[WrittenSkill]()
        if press.value != _NEW:
            skill = await self._current(press.value)
            versions = await self._written.versions(self._app.team, skill.name)
            draft = Draft.of(skill, current=skill.number)
        await press.open(skill_form(draft, versions=versions))
        self._app.refresh_home(press.user)

    async def _grown(self, press: Press) -> None:
        await self._admin(press.user)
        draft = draft_of(press.view)
        draft = draft.model_copy(update={"parts": draft.parts + 1})
        await press.update(await self._form(draft))

    async def _brought_back(self, press: Press) -> None:
        """Fill the form in with another version."""
        await self._admin(press.user)
        draft = draft_of(press.view)
        for version in await self._written.versions(self._app.team, draft.name):
            if str(version.number) == press.value:
                filled = Draft.of(version, current=draft.number)
                case = {"case": draft.case}
                await press.update(await self._form(filled.model_copy(update=case)))

    async def _tried(self, press: Press) -> None:
        """Have a worker run the case with the saved skills and with this one."""
        draft = draft_of(press.view)
        person = await self._admin(press.user)
        wrong = [] if draft.case.can_run else [NEEDS_CASE()]
        try:
            await self._check(draft)
        except FormErrors as errors:
            wrong += errors.errors.values()
        if wrong:
            await press.update(await self._form(draft, problem(wrong[0])))
            return
        await start_trial(press, person, KIND, draft.model_dump_json())
        await press.update(await self._form(draft, note(TRYING()), can_try=False))

    async def _saved(self, form: Submitted) -> None:
        draft = draft_of(form.view)
        person = await self._admin(form.user)
        await self._check(draft)
        current = await self._written.get(self._app.team, draft.name)
        if current and current.digest == draft.skill.digest:
            return
        skill = await self._written.numbered(self._app.team, draft.skill)
        what = f"skill {skill.name}: version {skill.number}"
        await self._record(person, what, skill.digest)
        if not await self._written.apply(self._app.team, skill, after=draft.number):
            raise _changed(draft)
        self._app.refresh_home(form.user)

    async def _deleted(self, press: Press) -> str:
        person = await self._admin(press.user)
        skill = await self._current(press.value)
        await self._record(person, f"skill {skill.name}: deleted", skill.digest)
        await self._written.delete(self._app.team, skill.name)
        self._app.refresh_home(press.user)
        return words.IS_GONE()

    async def _check(self, draft: Draft) -> None:
        """Raise FormErrors for what cannot be saved: another skill's name, or somebody else's change."""
        check(draft)
        skills = await self._written.all(self._app.team)
        current = next((skill.number for skill in skills if skill.name == draft.name), 0)
        if draft.number:
            if current != draft.number:
                raise _changed(draft, words.CHANGED_MEANWHILE if current else words.IS_GONE)
            return
        names = [skill.name for skill in skills]
        names += [skill.name for skill in self._library.loaded.skills]
        alike = same_name(draft.name) in map(same_name, names)
        if alike or self._is_taken(draft.name):
            raise FormErrors({"name": words.NAME_TAKEN()})
        if len(skills) >= MOST:
            raise FormErrors({"name": words.TOO_MANY(count=MOST)})

    async def _form(self, draft: Draft, *above: Block, can_try: bool = True) -> Block:
        is_stored = bool(draft.number)
        versions = await self._written.versions(self._app.team, draft.name) if is_stored else []
        return skill_form(draft, *above, versions=versions, can_try=can_try)

    async def _current(self, name: str) -> WrittenSkill:
        """Return a stored skill. Raises NotPermitted with a sentence where it is gone."""
        skill = await self._written.get(self._app.team, name)
        if skill is None:
            raise NotPermitted(words.IS_GONE())
        return skill

    async def _record(self, person: Person, what: str, digest: str) -> None:
        """Record a change in the audit log, before it is made."""
        kind, team = AuditKind.ADMINISTERED, self._app.team
        entry = AuditEntry(kind=kind, team=team, who=person.id, what=what, arguments=digest)
        await self._app.record([entry])
        log.info("%s, by %s", what, person.id)

    async def _admin(self, user: str) -> Person:
        """Return the admin. Raises NotPermitted, and records the refusal, for other people."""
        try:
            return await self._app.gate.admin(user)
        except NotPermitted:
            await self._app.record([refused(self._app.team, user, "skills")])
            raise


def _changed(draft: Draft, sentence: Text = words.CHANGED_MEANWHILE) -> FormErrors:
    return FormErrors({f"description-{draft.filled}": sentence()})
