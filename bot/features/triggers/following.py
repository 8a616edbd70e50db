"""A worker looks at a message by a rule, and runs what the rule says, if nothing speaks against it.

One request does both, so that no message is answered twice: its claim was taken at intake, and its run
begins at most once, whichever worker dies. What is asked of Slack, the limits and the small model is
asked before the run begins, and not again afterwards.
"""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from functools import partial

from prometheus_client import Counter

from bot.core.errors import NotPermitted
from bot.core.request import Request
from bot.features.triggers import words
from bot.features.triggers.asking import RuleQuestions
from bot.features.triggers.judging import Posted
from bot.features.triggers.rules import Outcome, Rest, Rule, RuleState
from bot.features.triggers.run_part import RulePart
from bot.features.triggers.service import LEFT_OUT, RuleService
from bot.runs.policy.access import PersonKind
from bot.runs.queue.requeue import Requeue
from bot.runs.run_deps import RunDeps
from bot.runs.runner import Runner

log = logging.getLogger(__name__)

_MAX_DEATHS = 3  # workers that die before the run begins
_WAIT_SECONDS = 5.0  # until a message is tried again that waits for what others cost
_LEAST = 0.001  # dollars of a run that goes on after its rule's budget was lowered


@dataclass(frozen=True, slots=True)
class RuleJobs:
    """The rules of one workspace, as a worker follows them."""

    deps: RunDeps
    service: RuleService
    questions: RuleQuestions
    counter: Counter

    async def run(self, request: Request, deaths: int) -> None:
        """Answer the message that the request quotes, or leave it. Safe to repeat.

        Raises what `Runner.answer` does, QuestionFailed and SlackUnavailable, and Requeue while the runs of
        others may cost what is left of the day's money.
        """
        store, message = self.service.store, _message_of(request)
        rule = await store.get(request.team, request.channel, request.rule)
        is_begun = await self.deps.stores.runs.id_of(request.id) is not None
        if not is_begun:
            outcome = Outcome.GONE
            if rule and deaths < _MAX_DEATHS:
                outcome = await self._outcome(rule, request, message)
            if outcome is not Outcome.RUN:
                self.counter.labels(f"worker_{outcome}").inc()
                log.info("%s leaves a message: %s", request.rule, outcome)
                if rule and outcome in LEFT_OUT:
                    await self.service.say_left_out(rule, outcome)
                return
        dollars = _LEAST
        if rule:
            at, most = request.received_at, self._most(rule)
            may_spend = await store.begin(rule, message, at, most, goes_on=is_begun)
            if may_spend is None and not is_begun:  # another has begun since the limits were read
                raise Requeue(_WAIT_SECONDS)
            dollars = may_spend or _LEAST
        if not is_begun:
            self.counter.labels(f"worker_{Outcome.RUN}").inc()
        part = partial(RulePart, self.service, rule, message, dollars)
        runner = Runner(self.deps).with_deps(parts=(*self.deps.parts, part))
        await runner.answer(request, deaths)

    async def _outcome(self, rule: Rule, request: Request, message: Posted) -> Outcome:
        """Return RUN if the rule answers the message, as things are now: what costs least comes first."""
        for ask in (self._by_state, self._by_limits, self._by_owner, self._by_question):
            outcome = await ask(rule, request, message)
            if outcome is not Outcome.RUN:
                return outcome
        return Outcome.RUN

    async def _by_state(self, rule: Rule, request: Request, _message: Posted) -> Outcome:
        version = request.job.version if request.job else ""
        is_same = rule.owner == request.user and version in ("", rule.version_approved)
        if rule.state is not RuleState.ON or not is_same:
            return Outcome.GONE
        is_old = time.time() - float(request.ts) > rule.age_minutes * 60
        is_late = is_old or await self.deps.budgets.paused()
        return Outcome.TOO_LATE if is_late else Outcome.RUN

    async def _by_owner(self, rule: Rule, _request: Request, _message: Posted) -> Outcome:
        is_on = await self.service.is_on(rule.channel) and await self._may_run(rule)
        return Outcome.RUN if is_on else Outcome.GONE

    async def _by_question(self, rule: Rule, request: Request, message: Posted) -> Outcome:
        store = self.service.store
        if not rule.question or await store.is_seen(rule, message.ts, is_yes=True):
            return Outcome.RUN
        answer = await self.questions.is_yes(rule, message.text, request)
        await store.see(rule, message.ts, is_yes=bool(answer))
        if answer:
            return Outcome.RUN
        return Outcome.NOT_ASKED if answer is None else Outcome.MODEL_SAID_NO

    async def _by_limits(self, rule: Rule, request: Request, message: Posted) -> Outcome:
        store = self.service.store
        if await store.is_seen(rule, message.ts):
            return Outcome.MODEL_SAID_NO
        if not rule.again and rule.id in await store.answered_in(rule.team, message):
            return Outcome.ANSWERED_THREAD
        used = await store.used(rule, request.received_at)
        is_full = used.hour >= rule.runs_per_hour or used.day >= rule.runs_per_day
        has_room = used.has_room(rule, self._most(rule))
        if (has_room and not is_full) or await store.has_begun(rule, message):
            return Outcome.RUN
        if is_full:
            return Outcome.TOO_MANY
        if used.is_over(rule):
            return Outcome.NO_MONEY
        raise Requeue(_WAIT_SECONDS)

    def _most(self, rule: Rule) -> float:
        """Return the dollars that one run of the rule may cost."""
        return min(self.deps.limits.cost or rule.daily_dollars, rule.daily_dollars)

    async def _may_run(self, rule: Rule) -> bool:
        """Return whether the owner may ask in the channel now. If that is over, the rule rests."""
        service = self.service
        try:
            await service.check_owner(rule.owner, rule.channel)
        except NotPermitted as refusal:
            match refusal.reason:
                case "":  # the bot is not in the channel, or that is archived
                    pass
                case PersonKind.UNKNOWN:
                    await service.rest(rule, Rest.OWNER_GONE, None)
                case Rest.OWNER_LEFT:
                    await service.rest(rule, Rest.OWNER_LEFT, words.RESTS_LEFT)
                case _:
                    await service.rest(
                        rule, Rest.OWNER_REFUSED, words.RESTS_REFUSED, why=str(refusal)
                    )
            return False
        return True


def _message_of(request: Request) -> Posted:
    """Return what is known of the message that a request quotes."""
    return Posted(
        channel=request.channel,
        ts=request.ts,
        thread=request.thread,
        user="",
        app="",
        text=request.quoted,
    )
