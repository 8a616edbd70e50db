"""What an erasure must know of rules, and their metric."""

from __future__ import annotations

from collections.abc import Sequence

from prometheus_client import Counter
from typing_extensions import override

from bot.features import OperatorPart
from bot.features.triggers.rules import Rule
from bot.features.triggers.store import RuleStore
from bot.store import Stores


class ErasesRules(OperatorPart):
    """Prepares the erasure of a person: what is stored under their id then goes, and no other rule."""

    def __init__(self, counter: Counter) -> None:
        self.metrics = (counter,)

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


def _without(rule: Rule, user: str) -> Rule | None:
    """Return the rule without a person. None for one that watches only them, which goes with them."""
    people = tuple(person for person in rule.people if person != user)
    if not (rule.anyone or people or rule.apps):
        return None
    gone = {name: "" for name in ("created_by", "approved_by") if getattr(rule, name) == user}
    return rule.model_copy(update={"people": people, **gone})
