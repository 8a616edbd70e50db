"""The job that looks at the last messages of a channel for a rule, and what people see of it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.request import Request
from bot.features.triggers import words
from bot.features.triggers.asking import QuestionFailed, RuleQuestions
from bot.features.triggers.describing import dollars, sentence
from bot.features.triggers.forms import RuleTarget
from bot.features.triggers.judging import MOST_LOOKED_AT, DryRun, Judged, Posted, dry_run
from bot.features.triggers.pages import RulePages
from bot.features.triggers.rules import Rule, has_word
from bot.features.triggers.service import RuleService
from bot.library.isolated import Busy
from bot.slack.edge.client import TRANSPORT_ERRORS, Identity
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.intake.trial_jobs import show_result
from bot.slack.ui.blocks import Block, section, shortened
from bot.slack.ui.links import escape_mrkdwn, without_broadcasts
from bot.slack.ui.trials import note, problem
from bot.slack.ui.words import GAVE_UP, TRY_AGAIN

log = logging.getLogger(__name__)

KIND = "rule_look"
"""The kind of job."""
_MAX_DEATHS = 3
_LOOKED_AT = {None, "bot_message", "file_share", "thread_broadcast", "me_message"}
"""Subtypes of messages in which somebody says something."""
_MAX_QUOTE, _MAX_SECTION, _MOST_LINES = 60, 3_000, 20


async def last_messages(slack: Slack, channel: str) -> list[Posted]:
    """Return the last messages of a channel that a rule could look at, the oldest first.

    Raises SlackApiError and TRANSPORT_ERRORS.
    """
    page = await slack.clients.reads.conversations_history(
        channel=channel, limit=2 * MOST_LOOKED_AT
    )
    others = (
        message
        for message in page["messages"]
        if message.get("subtype") in _LOOKED_AT and message.get("bot_id") != slack.identity.bot
    )
    return [Posted.of(message, channel) for message in others][:MOST_LOOKED_AT][::-1]


@dataclass(frozen=True, slots=True)
class RuleLooks:
    """The looks at last messages in one workspace."""

    pages: RulePages
    questions: RuleQuestions

    @property
    def rules(self) -> RuleService:
        return self.pages.rules

    async def run(self, request: Request, deaths: int) -> None:
        """Look at the last messages for the rule of the job, and show what was found above it. Safe to
        repeat: only the small model is asked again."""
        assert request.job  # noqa: S101 - that is why it is called
        target = RuleTarget.of(request.job.subject)
        rule = await self.rules.store.find(request.team, target.id)
        if rule is None:
            return
        try:
            await self.rules.check_owner(request.user, rule.channel)  # they may have left since
            above = (
                await self._found(rule, request) if deaths < _MAX_DEATHS else [problem(GAVE_UP())]
            )
        except NotPermitted as refusal:
            above = [problem(str(refusal))]
        except (Busy, SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("The last messages were not looked at: %s", type(error).__name__)
            above = [problem(TRY_AGAIN())]
        await self._show(request, rule, above)

    async def _found(self, rule: Rule, request: Request) -> list[Block]:
        messages = await last_messages(self.rules.slack, rule.channel)
        before = await self.rules.store.used(rule)
        unasked = 0

        async def ask(rule: Rule, message: Posted) -> bool:
            """Ask the small model as long as the rule has money left today."""
            nonlocal unasked
            used, answer = await self.rules.store.used(rule), None
            if used.dollars < rule.daily_dollars:
                with suppress(QuestionFailed):
                    answer = await self.questions.is_yes(rule, message.text, request)
            unasked += answer is None
            return bool(answer)

        run = await dry_run(rule, messages, self.rules.may_set_off, ask if rule.question else None)
        after = await self.rules.store.used(rule)
        cost = after.dollars - before.dollars
        return found_blocks(rule, run, self.rules.slack.identity, cost, unasked)

    async def _show(self, request: Request, rule: Rule, above: Sequence[Block]) -> None:
        """Show the rule in its modal; in a direct message if that was closed."""
        try:
            form = await self.pages.modal(request.user, rule, *above, is_looked_at=True)
        except NotPermitted:  # they may see it no more
            return
        text = words.LOOKED(rule=sentence(rule))
        await show_result(self.rules.slack.clients, request, form, text, above)


def found_blocks(
    rule: Rule, run: DryRun, identity: Identity, cost: float, unasked: int = 0
) -> list[Block]:
    """Return which messages a rule would have answered, by which test each, and what looking cost. About
    `unasked` ones the small model was not asked."""
    count = len(run.judged)
    if not count:
        return [section(words.NO_MESSAGES())]
    answered = run.answered
    if not answered:
        blocks = [section(words.WOULD_NONE(count=count))]
    else:
        lines = [_line(rule, judged, run, identity) for judged in answered[-_MOST_LINES:]]
        head = words.WOULD(hits=len(answered), count=count)
        blocks = [section(shortened("\n".join([head, *lines]), _MAX_SECTION))]
    if unasked:
        blocks.append(note(words.UNASKED(unasked)))
    if cost:
        blocks.append(note(words.LOOKING_COST(dollars=dollars(cost))))
    return blocks


def _line(rule: Rule, judged: Judged, run: DryRun, identity: Identity) -> str:
    message = judged.message
    url = identity.message_link(message.channel, message.ts, message.thread)
    text = without_broadcasts(one_line(message.text, _MAX_QUOTE)) or "…"
    label = escape_mrkdwn(text).replace("|", "¦")
    return f"• <{url}|{label}> ({', '.join(_tests(rule, message, asked=run.asked))})"


def _tests(rule: Rule, message: Posted, *, asked: bool) -> list[str]:
    """Return by what the rule is for a message."""
    tests = list[str]()
    word = next((word for word in rule.words if has_word(message.text, word)), "")
    if word:
        tests.append(words.BY_WORD(word=words.QUOTED(text=escape_mrkdwn(word))))
    if rule.pattern:
        tests.append(words.BY_PATTERN())
    if asked:
        tests.append(words.BY_MODEL())
    return tests or [words.BY_POSTER()]
