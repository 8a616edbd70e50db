"""A dry run: which of the latest messages of a channel a rule would have answered. It posts nothing."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from bot.features.triggers.judging import Ask, Posted, cheap_outcomes, is_question_yes
from bot.features.triggers.rules import Outcome, Rule
from bot.library.isolated.pool import warm_processes

MOST_LOOKED_AT = 50

MaySetOff = Callable[[Rule, str], Awaitable[bool]]
"""Returns whether a person may set off a rule."""


@dataclass(frozen=True, slots=True)
class Judged:
    """A message and what the rule would have done with it."""

    message: Posted
    outcome: Outcome


@dataclass(frozen=True, slots=True)
class DryRun:
    """What a rule would have done with some messages, the newest last. `asked` says whether the small
    model was asked its question; if not, a message counts as answered that only the question could
    have kept out."""

    judged: Sequence[Judged]
    asked: bool

    @property
    def answered(self) -> list[Judged]:
        """The messages that it would have answered."""
        return [each for each in self.judged if each.outcome is Outcome.RUN]


async def dry_run(
    rule: Rule, messages: Sequence[Posted], may_set_off: MaySetOff, ask: Ask | None = None
) -> DryRun:
    """Return what the rule would have done with the last 50 messages, oldest first, as if all its limits
    were unused but the number of runs. `ask` asks the small model, at its cost; None leaves that out."""
    judged = list[Judged]()
    threads, runs = set[str](), 0
    async with warm_processes():
        for message in messages[-MOST_LOOKED_AT:]:
            outcome = (await cheap_outcomes([rule], message))[rule.id]
            if (
                outcome is Outcome.RUN
                and message.user
                and not await may_set_off(rule, message.user)
            ):
                outcome = Outcome.OTHERS
            if outcome is Outcome.RUN and message.thread in threads and not rule.again:
                outcome = Outcome.ANSWERED_THREAD
            if outcome is Outcome.RUN and runs >= rule.runs_per_day:
                outcome = Outcome.TOO_MANY
            if outcome is Outcome.RUN and ask and not await is_question_yes(rule, message, ask):
                outcome = Outcome.MODEL_SAID_NO
            if outcome is Outcome.RUN:
                threads.add(message.thread)
                runs += 1
            judged.append(Judged(message, outcome))
    return DryRun(judged, asked=ask is not None and bool(rule.question))
