"""`bot triggers`: the rules of all workspaces for operators, who pause, resume and remove them."""

from __future__ import annotations

import json
from collections.abc import Sequence

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import ConfigurationError
from bot.features.triggers.rules import Rest, Rule, RuleState
from bot.features.triggers.store import RuleStore, Used
from bot.store import Stores

_ROW = "{:<21} {:<12} {:<12} {:<12} {:>5} {:>9} {:>8}  {}"
_HEAD = _ROW.format("id", "channel", "owner", "state", "today", "spent", "failures", "instruction")
_NONE = "There are no rules."
_LONGEST = 60  # characters of an instruction
PAUSE, RESUME, REMOVE = "paused", "resumed", "removed"


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
