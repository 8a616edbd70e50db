"""Rules of all workspaces for operators: `bot triggers`, lines of `bot doctor` and `bot usage`, and the
erasure of a person, with whose id their own rules go, and no other."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence

from prometheus_client import Counter
from typing_extensions import override

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.check import Check, ok, warning
from bot.core.errors import ConfigurationError
from bot.features import OperatorPart
from bot.features.triggers.rules import Rest, Rule, RuleState
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.store import RuleStore, Used
from bot.store import Stores
from bot.text.counting import counted

_SUBJECT = "triggers"
_ROW = "{:<21} {:<12} {:<12} {:<12} {:>5} {:>9} {:>8}  {}"
_HEAD = _ROW.format("id", "channel", "owner", "state", "today", "spent", "failures", "instruction")
_NONE = "There are no rules."
_LONGEST = 60  # characters of an instruction
PAUSE, RESUME, REMOVE = "paused", "resumed", "removed"


class RulesForOperators(OperatorPart):
    """The lines about rules, if there are any, their metric, and what an erasure must know of them."""

    def __init__(
        self,
        settings: TriggerSettings,
        counter: Counter,
        unpriced_models: Callable[[], list[str]],
    ) -> None:
        self.metrics = (counter,)
        self._settings, self._unpriced_models = settings, unpriced_models

    @override
    async def checks(self, stores: Stores | None) -> Sequence[Check]:
        rules = await all_rules(RuleStore(stores)) if stores else []
        if not rules:
            return ()
        if not self._settings.enabled:
            text = (
                f"{counted(len(rules), 'rule')} answer nothing, because [triggers] is not enabled"
            )
            return [ok(_SUBJECT, text)]
        failed = [rule.id for rule in rules if rule.rest is Rest.FAILED]
        on = sum(rule.state is RuleState.ON for rule in rules)
        waiting = sum(rule.state is RuleState.WAITING for rule in rules)
        said = f"{counted(len(rules), 'rule')}: {on} on, {waiting} waiting for approval"
        checks = [ok(_SUBJECT, said)]
        if unpriced := self._unpriced_models():
            fix = "set [model] price in bot.toml; until then, only the number of runs is limited"
            text = f"no dollars a day limit a rule, because the price of {', '.join(unpriced)} is not known"
            checks.append(warning(_SUBJECT, text, fix))
        if failed:
            fix = "look at their last runs with `bot audit`, then `bot triggers resume ID`"
            text = f"paused after failing several times: {', '.join(failed)}"
            checks.append(warning(_SUBJECT, text, fix))
        return checks

    @override
    async def usage_lines(self, stores: Stores) -> Sequence[str]:
        store = RuleStore(stores)
        rules = [(rule, await store.used(rule)) for rule in await all_rules(store)]
        return [used_line(rules)] if rules else ()

    @override
    async def end_person(self, stores: Stores, user: str) -> Sequence[str]:
        """Name a person in no rule of others, and in the threads in which their own rules have run: these
        are erased with what their runs read."""
        store = RuleStore(stores)
        for team in await store.teams():
            for rule in await store.in_team(team):
                if rule.owner == user:
                    for thread in await store.threads_of(rule):
                        await stores.threads.join(thread, user)
                elif user in (*rule.people, rule.created_by, rule.approved_by):
                    is_shown = user in rule.people  # by an open form, which must not bring it back
                    await store.change(rule, lambda now: _without(now, user), by_person=is_shown)
        return ()


async def all_rules(store: RuleStore) -> list[Rule]:
    """Return the rules of all workspaces."""
    return [rule for team in sorted(await store.teams()) for rule in await store.in_team(team)]


async def rule_lines(store: RuleStore, *, as_json: bool = False) -> list[str]:
    """Return a table of all rules, or a JSON object for each."""
    rules = [(rule, await store.used(rule)) for rule in await all_rules(store)]
    if as_json:
        return [json.dumps(_facts(rule, used), ensure_ascii=False) for rule, used in rules]
    return [_HEAD, *(_line(rule, used) for rule, used in rules)] if rules else [_NONE]


async def change_rule(stores: Stores, rule_id: str, what: str) -> str:
    """Pause, resume or remove a rule; return a line about it. Raises ConfigurationError for an id that no
    rule has, and for one that nobody has approved."""
    store = RuleStore(stores)
    rule = next((rule for rule in await all_rules(store) if rule.id == rule_id), None)
    if rule is None:
        raise ConfigurationError(f"There is no rule {rule_id}. `bot triggers` lists them.")
    if what != REMOVE and rule.state is RuleState.WAITING:
        raise ConfigurationError(f"{rule_id} waits for approval in Slack: it does nothing yet.")
    said = f"rule {what} ({rule_id})"
    entry = AuditEntry(kind=AuditKind.ADMINISTERED, team="operator", who="operator", what=said)
    await stores.audit.append([entry])  # first: never a change without an entry
    if what == REMOVE:
        await store.remove(rule, "operator")
        return f"{rule.id}: removed."
    update: dict[str, object] = {"state": RuleState.PAUSED, "rest": Rest.ADMIN}
    if what == RESUME:
        update = {"state": RuleState.ON, "rest": None, "failures": 0}
    changed = await store.change(rule, lambda now: now.model_copy(update=update))
    return f"{rule.id}: {changed.state if changed else 'gone'}."


def used_line(rules: Sequence[tuple[Rule, Used]]) -> str:
    """Return the line of `bot usage` about rules."""
    on = sum(rule.state is RuleState.ON for rule, _ in rules)
    runs = sum(used.day for _, used in rules)
    dollars = sum(used.dollars for _, used in rules)
    return f"Rules: {len(rules)}, {on} on; {runs} runs and ${dollars:.4f} today. `bot triggers` lists them."


def _line(rule: Rule, used: Used) -> str:
    text = " ".join(rule.instruction.split())
    return _ROW.format(
        rule.id,
        rule.channel,
        rule.owner,
        _state(rule),
        used.day,
        f"${used.dollars:.4f}",
        rule.failures,
        text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…",
    )


def _state(rule: Rule) -> str:
    return rule.rest if rule.state is RuleState.PAUSED and rule.rest else rule.state


def _facts(rule: Rule, used: Used) -> dict[str, object]:
    facts = rule.model_dump(mode="json", exclude={"version"})
    return facts | {
        "runs_today": used.day,
        "cost_today": round(used.dollars, 6),
        "questions_today": used.questions,
    }


def _without(rule: Rule, user: str) -> Rule | None:
    """Return the rule without a person. None for one that watches only them, which goes with them."""
    people = tuple(person for person in rule.people if person != user)
    if not (rule.anyone or people or rule.apps):
        return None
    gone = {name: "" for name in ("created_by", "approved_by") if getattr(rule, name) == user}
    return rule.model_copy(update={"people": people, **gone})
