"""Rules in one workspace: in the Home tab and its modals, and the cards that approve them. The service checks
each right again when somebody presses."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from prometheus_client import Counter
from pydantic import ValidationError
from typing_extensions import override

from bot.core.errors import NotPermitted
from bot.features.triggers import words
from bot.features.triggers.describing import sentence, state_of
from bot.features.triggers.forms import (
    APPROVE,
    ASK,
    CHANGE,
    DECLINE,
    FORM,
    LOOK,
    PAUSE,
    REMOVE,
    RESUME,
    RuleTarget,
    channel_of,
    done,
    fields_of,
    no_people,
    no_such_app,
    not_possible,
    owner_of,
    rule_form,
)
from bot.features.triggers.judging import MOST_LOOKED_AT
from bot.features.triggers.looking import KIND
from bot.features.triggers.pages import RulePages, card, ids_of
from bot.features.triggers.rules import Rule, RuleState
from bot.features.triggers.service import RuleService
from bot.features.triggers.watching import Watching
from bot.runs.policy.access import PersonKind
from bot.slack.intake.press import Press, Submitted
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import ChannelChoice, ChannelMessage, HomeViewer, SlackPart
from bot.slack.intake.trial_jobs import start_trial
from bot.slack.ui.blocks import (
    Block,
    actions,
    button,
    divider,
    header,
    section,
    with_label,
)
from bot.slack.ui.parts import context
from bot.slack.ui.trials import note
from bot.text.translation import Text

NEW, OPEN = "rule_new", "rule_open"
_MOST, _MOST_OF_ALL = 10, 15  # rules that are shown; a Home tab has at most 100 blocks


class TriggersPart(SlackPart):
    """The rules of one workspace, as people see them, and the messages that these look at."""

    channel_choices = (
        ChannelChoice("rules", words.IN_FORM, {"on": words.ANSWER, "off": words.REST}, usual="on"),
    )

    def __init__(self, app: SlackApp, service: RuleService, counter: Counter) -> None:
        self._app, self._service = app, service
        self._watching = Watching(app, service, counter)
        self._pages = RulePages(service)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(NEW)(self._new)
        app.button(OPEN)(self._opened)
        app.button(CHANGE)(self._change)
        app.button(LOOK)(self._look)
        app.button(ASK)(self._ask)
        app.button(APPROVE)(self._approve)
        app.button(DECLINE)(self._decline)
        app.button(PAUSE)(self._pause)
        app.button(RESUME)(self._resume)
        app.button(REMOVE)(self._remove)
        app.modal(FORM)(self._submitted)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        rules = await self._service.store.in_team(self._app.team)
        own = [rule for rule in rules if rule.owner == viewer.user]
        if not (own or (viewer.may_ask and self._service.settings.enabled)):
            return ()
        waiting = [
            rule
            for rule in rules
            if rule.state is RuleState.WAITING and await self._is_named(viewer.user, rule)
        ]
        new = actions(button(words.NEW_TITLE(), NEW, NEW))
        return [
            divider(),
            header(words.TITLE()),
            *([] if own else [context(words.HOME_HINT()).block]),
            *await self._listed("own", own),
            *([section(words.HOME_WAITING())] if waiting else []),
            *await self._listed("named", waiting),
            *([new] if viewer.may_ask else []),
        ]

    @override
    async def admin_home(self, user: str) -> Sequence[Block]:
        rules = await self._service.store.in_team(self._app.team)
        waiting = [rule for rule in rules if rule.state is RuleState.WAITING]
        others = [rule for rule in rules if rule.state is not RuleState.WAITING]
        return [
            *([section(words.HOME_WAITING())] if waiting else []),
            *await self._listed("wait", waiting),
            *([section(words.HOME_ALL())] if others else []),
            *await self._listed("all", others, _MOST_OF_ALL),
        ]

    @override
    async def channel_blocks(self, channel: str) -> Sequence[Block]:
        rules = await self._service.store.in_channel(self._app.team, channel)
        lines = [f"• {sentence(rule)} ({state_of(rule)})" for rule in rules[:_MOST]]
        return [context("\n".join([words.IN_CHANNEL(), *lines])).block] if rules else []

    @override
    async def posted(self, message: ChannelMessage) -> None:
        await self._watching.look(message)

    @override
    async def person_left(self, user: str) -> None:
        await self._watching.end_of(user)

    async def _listed(self, place: str, rules: Sequence[Rule], most: int = _MOST) -> list[Block]:
        blocks = list[Block]()
        for rule in rules[:most]:
            says = sentence(rule, await self._pages.names(rule))
            open_it = with_label(
                button(words.OPEN(), OPEN, RuleTarget.value(rule)), rule.instruction
            )
            blocks.append(
                section(f"{says}\n_{state_of(rule)}_", open_it, block_id=f"{place}-{rule.id}")
            )
        more = len(rules) - most
        return [*blocks, *([context(words.MORE(count=more)).block] if more > 0 else [])]

    async def _new(self, press: Press) -> None:
        await self._app.questions.may_ask_somewhere(press.user)
        await press.open(rule_form(None, self._service.settings))

    async def _opened(self, press: Press) -> None:
        rule = await self._rule(press.value)
        await press.open(await self._pages.modal(press.user, rule))

    async def _change(self, press: Press) -> None:
        rule = await self._rule(press.value)
        may_approve = await self._pages.may_approve(press.user, rule)
        names = await self._pages.names(rule)
        await press.update(rule_form(rule, self._service.settings, names, with_owner=may_approve))

    async def _submitted(self, form: Submitted) -> Block:
        """Store a new rule, or a change, and show it with what its owner can do now."""
        target, fields = RuleTarget.of(form.metadata), fields_of(form.view, self._app.identity.user)
        rule = await self._rule(form.metadata) if target.id else None
        channel = rule.channel if rule else channel_of(form.view)
        if fields["apps"]:
            fields["apps"] = await self._app_ids(form.user, channel, fields["apps"], rule)
        people = await asyncio.gather(*map(self._app.people.find, fields["people"]))
        if any(person.kind is PersonKind.BOT for person in people):
            raise no_people()
        try:
            if rule:
                rule = await self._changed(form, rule, target, fields)
            else:
                new = Rule(team=self._app.team, channel=channel, owner=form.user, **fields)
                rule = await self._service.propose(form.user, new)
        except NotPermitted as refusal:
            raise not_possible(str(refusal), refusal.reason, is_new=not target.id) from None
        except ValidationError:
            raise not_possible(words.NOT_RIGHT(), "", is_new=not target.id) from None
        self._app.refresh_home(form.user)
        above = (
            [note(words.LOOK_FIRST(count=MOST_LOOKED_AT))]
            if rule.state is RuleState.WAITING
            else []
        )
        return await self._pages.modal(form.user, rule, *above)

    async def _changed(
        self, form: Submitted, rule: Rule, target: RuleTarget, fields: Mapping[str, Any]
    ) -> Rule:
        changes = {name: value for name, value in fields.items() if getattr(rule, name) != value}
        if (owner := owner_of(form.view)) and owner != rule.owner:
            changes["owner"] = owner
        if changes:
            rule = await self._service.change(form.user, rule.id, target.revision, changes)
        return rule

    async def _look(self, press: Press) -> None:
        """Have a worker look at the last messages, in the name of whoever pressed, who is in the channel."""
        rule = await self._rule(press.value)
        await self._pages.may_approve(press.user, rule)
        person = await self._service.check_owner(press.user, rule.channel)
        looking = words.LOOKING()
        await press.update(await self._pages.modal(press.user, rule, note(looking), can_look=False))
        await start_trial(press, person, KIND, RuleTarget.value(rule))

    async def _ask(self, press: Press) -> None:
        rule = await self._rule(press.value)
        await self._pages.may_approve(press.user, rule)
        press.later(self._asked(press, rule), "asking for the approval of a rule")

    async def _asked(self, press: Press, rule: Rule) -> None:
        """Ask those who may approve a rule, once as it is now, and say whom. It can be tried again if
        nobody could be asked."""
        said, asked = words.ASKED_BEFORE(), list[str]()
        threads = self._app.stores.threads
        notice = rule.team, rule.channel, f"{rule.id}:{rule.revision}"
        if await threads.first_notice(*notice):
            try:
                asked = await self._pages.ask_approvers(rule)
            finally:
                if not asked:
                    await threads.forget_notice(*notice)
            people = ", ".join(f"<@{user}>" for user in asked)
            said = words.ASKED(people=people) if asked else words.ASKED_NOBODY()
        await press.update(await self._pages.modal(press.user, rule, note(said), can_ask=False))

    async def _approve(self, press: Press) -> None:
        target = RuleTarget.of(press.value)
        rule = await self._service.approve(press.user, target.id, target.revision)
        await self._decided(press, rule, words.CARD_APPROVED, words.TOLD_APPROVED)

    async def _decline(self, press: Press) -> None:
        rule = await self._service.decline(press.user, RuleTarget.of(press.value).id)
        await self._decided(press, rule, words.CARD_DECLINED, words.TOLD_DECLINED)

    async def _decided(self, press: Press, rule: Rule, verdict: Text, told: Text) -> None:
        """Show a decision where it was made, and tell the owner of the rule."""
        said = verdict(person=f"<@{press.user}>")
        if press.body.get("view"):
            await press.update(done(verdict(person=await self._app.people.name(press.user))))
        else:
            blocks = card(rule, await self._pages.names(rule), said)
            await press.respond(text=said, blocks=blocks, replace_original=True)
        if press.user != rule.owner:
            self._tell(rule.owner, told, rule, press.user)
        self._app.refresh_home(press.user)

    async def _pause(self, press: Press) -> None:
        await self._show(press, self._service.pause)

    async def _resume(self, press: Press) -> None:
        await self._show(press, self._service.resume)

    async def _show(self, press: Press, do: Callable[[str, str], Awaitable[Rule]]) -> None:
        """Show a rule after what was done to it."""
        rule = await do(press.user, RuleTarget.of(press.value).id)
        await press.update(await self._pages.modal(press.user, rule))
        self._app.refresh_home(press.user)

    async def _remove(self, press: Press) -> None:
        await self._service.remove(press.user, RuleTarget.of(press.value).id)
        await press.update(done(words.IS_REMOVED()))
        self._app.refresh_home(press.user)

    async def _is_named(self, user: str, rule: Rule) -> bool:
        """Return whether the settings of the rule's channel name somebody who approves its rules."""
        return user in (await self._service.settings_of(rule.channel)).rule_approvers

    async def _rule(self, value: str) -> Rule:
        rule = await self._service.store.find(self._app.team, RuleTarget.of(value).id)
        if rule is None:
            raise NotPermitted(words.NO_RULE())
        return rule

    async def _app_ids(
        self, user: str, channel: str, named: Sequence[str], rule: Rule | None
    ) -> tuple[str, ...]:
        """Return the ids of apps. Raises FormErrors for names that no app has there, which tells those
        that have posted there: only to those who may see the rule, or are in the channel."""
        try:
            if rule:
                await self._pages.may_approve(user, rule)
            else:
                await self._service.check_owner(user, channel)
        except NotPermitted as refusal:
            raise not_possible(str(refusal), refusal.reason, is_new=rule is None) from None
        there = dict(await self._pages.apps(channel)) | {
            app: app for app in (rule.apps if rule else ())
        }
        ids, unknown = ids_of(named, there)
        if unknown:
            raise no_such_app(unknown, there)
        return ids

    def _tell(self, user: str, text: Text, rule: Rule, by: str) -> None:
        telling = self._service.tell(user, text, rule, by=by)
        self._app.background.start(telling, "telling somebody of a rule")
