"""Whether a rule is for a message, by what code can see of it, cheapest first."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from bot.features.triggers.rules import Outcome, Rule
from bot.library.isolated import ProcessLost, Refused
from bot.library.isolated.pool import isolated
from bot.library.isolated.process import IsolatedLimits
from bot.slack.edge.text import clean, unescape
from bot.slack.message.message_contents import said_in
from bot.slack.ui.blocks import shortened

_JOBS, _TEXT = "bot.library.interpreters.expressions", "text"
_LIMITS = IsolatedLimits(memory=2**29, cpu=1.0, seconds=5.0)
_MOST_TEXT = 20_000  # characters of a message
_MOST_REASON = 200

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


async def cheap_outcome(rule: Rule, message: Posted) -> Outcome:
    """Return RUN if neither author, place, words nor pattern speak against an answer, else what does."""
    if not rule.is_for(message.user, message.app):
        return Outcome.OTHERS
    if message.is_reply and not rule.replies:
        return Outcome.REPLY
    if not rule.has_word(message.text):
        return Outcome.NO_MATCH
    if not rule.pattern:
        return Outcome.RUN
    try:
        return Outcome.RUN if await _matches(rule, message.text) else Outcome.NO_MATCH
    except (Refused, ProcessLost, TimeoutError):
        return Outcome.TOO_SLOW


async def is_question_yes(rule: Rule, message: Posted, ask: Ask) -> bool:
    """Return whether the small model says yes to the question of the rule, or there is none."""
    return not rule.question or await ask(rule, message)


async def pattern_problem(rule: Rule) -> str:
    """Return why the pattern of the rule cannot be used; "" if it can."""
    try:
        await _matches(rule, "")
    except Refused as refusal:
        return shortened(str(refusal), _MOST_REASON)
    except (ProcessLost, TimeoutError):
        return "it takes too much"
    return ""


async def _matches(rule: Rule, text: str) -> bool:
    """Return whether a line matches the pattern of the rule, in a process that is killed if that takes
    long. Raises Refused, ProcessLost and TimeoutError."""
    async with isolated(_JOBS, _LIMITS, owner=(rule.team, rule.id)) as process:
        data = text.encode("utf-8", "surrogatepass")
        await asyncio.to_thread(process.write, _TEXT, data)
        return bool(await process.call("matching_lines", pattern=rule.pattern))
