"""What operators see of rules: a line of `bot doctor`, and one of `bot usage`."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from prometheus_client import Counter
from typing_extensions import override

from bot.core.check import Check, ok, warning
from bot.features.triggers.commands import all_rules, used_line
from bot.features.triggers.erasing import ErasesRules
from bot.features.triggers.rules import Rest, RuleState
from bot.features.triggers.settings import TriggerSettings
from bot.features.triggers.store import RuleStore
from bot.store import Stores
from bot.text.counting import counted

_SUBJECT = "triggers"


class RulesForOperators(ErasesRules):
    """The lines about rules, if there are any."""

    def __init__(
        self,
        settings: TriggerSettings,
        counter: Counter,
        unpriced_models: Callable[[], list[str]],
    ) -> None:
        super().__init__(counter)
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
