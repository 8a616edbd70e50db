"""Whether a rule is for a message, by what code can see of it, cheapest first; and a dry run: which of the
latest messages of a channel it would have answered."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from bot.features.triggers.rules import Outcome, Rule
from bot.library.isolated import Busy, ProcessLost, Refused
from bot.library.isolated.pool import isolated, warm_processes
from bot.library.isolated.process import IsolatedLimits
from bot.slack.edge.text import clean, unescape
from bot.slack.message.message_contents import said_in
from bot.slack.ui.blocks import shortened

_JOBS, _TEXT = "bot.library.interpreters.expressions", "text"
_PATTERN_SECONDS = 0.5  # of CPU time, for all patterns together that are tried on a message
_LIMITS = IsolatedLimits(memory=2**29, cpu=2.0, seconds=5.0)
_MOST_TEXT = 20_000  # characters of a message
_MOST_REASON = 200
MOST_LOOKED_AT = 50
"""Messages of a dry run."""

Ask = Callable[[Rule, "Posted"], Awaitable[bool]]
"""Asks the small model the question of a rule about a message. Returns False for no, and for what it
cannot answer."""


@dataclass(frozen=True, slots=True)
class Posted:
    """A message in a channel: its `text`, by `user` or, if `app` is not "", by that app.
    `thread` is the ts of its thread's first message."""

    channel: str
    ts: str
    thread: str
    user: str
    app: str
    text: str

    @property
    def is_reply(self) -> bool:
        """Whether it is below another message."""
        return self.thread != self.ts

    @classmethod
    def of(cls, message: Mapping[str, Any], channel: str) -> Posted:
        """Return a message of Slack's events or history; its text is in Slack's markup."""
        profile = message.get("bot_profile") or {}
        by_app = bool(message.get("bot_id") or profile)
        return cls(
            channel=channel,
            ts=str(message["ts"]),
            thread=str(message.get("thread_ts") or message["ts"]),
            user="" if by_app else str(message.get("user") or ""),
            app=str(message.get("app_id") or profile.get("app_id") or message.get("bot_id"))
            if by_app
            else "",
            text=unescape(clean(said_in(message)))[:_MOST_TEXT],
        )


MaySetOff = Callable[[Rule, str], Awaitable[bool]]
"""Returns whether a person may set off a rule."""


async def cheap_outcomes(rules: Sequence[Rule], message: Posted) -> dict[str, Outcome]:
    """Return for the id of each rule RUN if neither author, place, words nor pattern speak against an
    answer, else what does. All patterns together take a bounded time. Raises Busy."""
    outcomes = {rule.id: _without_pattern(rule, message) for rule in rules}
    tried = [rule for rule in rules if rule.pattern and outcomes[rule.id] is Outcome.RUN]
    if tried:
        matches = await _matches([rule.pattern for rule in tried], message)
        outcomes |= {
            rule.id: _BY_MATCH[is_match] for rule, is_match in zip(tried, matches, strict=True)
        }
    return outcomes


_BY_MATCH = {True: Outcome.RUN, False: Outcome.NO_MATCH, None: Outcome.TOO_SLOW}


def _without_pattern(rule: Rule, message: Posted) -> Outcome:
    if not rule.is_for(message.user, message.app):
        return Outcome.OTHERS
    if message.is_reply and not rule.replies:
        return Outcome.REPLY
    return Outcome.RUN if rule.has_word(message.text) else Outcome.NO_MATCH


async def pattern_problem(pattern: str) -> str:
    """Return why a pattern cannot be used; "" if it can."""
    try:
        async with isolated(_JOBS, _LIMITS, owner=pattern) as process:
            await asyncio.to_thread(process.write, _TEXT, b"")
            await process.call("matching_lines", pattern=pattern)
    except (Refused, Busy) as refusal:
        return shortened(str(refusal), _MOST_REASON)
    except (ProcessLost, TimeoutError):
        return "it takes too much"
    return ""


async def _matches(patterns: list[str], message: Posted) -> list[bool | None]:
    """Return for each pattern whether a line of the message matches it, None if that takes too long; in a
    process that is killed if it does not end."""
    try:
        async with isolated(_JOBS, _LIMITS, owner=message.channel) as process:
            text = message.text.encode("utf-8", "surrogatepass")
            await asyncio.to_thread(process.write, _TEXT, text)
            call = {"patterns": patterns, "seconds": _PATTERN_SECONDS}
            return list(await process.call("matching_patterns", **call))
    except (Refused, ProcessLost, TimeoutError):
        return [None] * len(patterns)


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
    were unused but the number of runs. `ask` asks the small model the question of the rule, at its cost;
    None leaves that out."""
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
            if outcome is Outcome.RUN and ask and not await ask(rule, message):
                outcome = Outcome.MODEL_SAID_NO
            if outcome is Outcome.RUN:
                threads.add(message.thread)
                runs += 1
            judged.append(Judged(message, outcome))
    return DryRun(judged, asked=ask is not None)
