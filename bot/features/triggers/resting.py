"""What ends the work of a rule by itself: it rests, and its owner is told once."""

from __future__ import annotations

import logging

from slack_sdk.errors import SlackApiError

from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.features.triggers.rules import Rest, Rule, RuleState
from bot.features.triggers.store import RuleStore
from bot.runs.audit_trail import Record
from bot.slack.edge.client import TRANSPORT_ERRORS
from bot.slack.edge.workspaces import Slack
from bot.slack.ui.blocks import shortened
from bot.slack.ui.links import LinkGate
from bot.text.translation import Text, load_catalogue, reader

log = logging.getLogger(__name__)

_MOST_SHOWN = 200  # characters of an instruction


async def rest(
    store: RuleStore,
    slack: Slack,
    record: Record,
    rule: Rule,
    because: Rest,
    text: Text | None,
    **of: str,
) -> None:
    """Pause a rule that is on, and tell its owner the `text` with the values `of`, if there is one. Only
    the process that pauses it tells them. Safe to repeat."""

    def paused(now: Rule) -> Rule | None:
        is_same = now.state is RuleState.ON and now.owner == rule.owner
        update = {"state": RuleState.PAUSED, "rest": because}
        return now.model_copy(update=update) if is_same else None

    if await store.change(rule, paused, by_person=False) is None:
        return
    entry = AuditEntry(
        kind=AuditKind.ADMINISTERED,
        team=rule.team,
        who=rule.owner,
        channel=rule.channel,
        what=f"rule rests: {because} ({rule.id})",
    )
    await record([entry])
    if text:
        await tell(slack, rule.owner, text, rule, **of)


async def tell(slack: Slack, user: str, text: Text, rule: Rule, **of: str) -> None:
    """Tell somebody in a direct message what became of a rule; `text` takes its `place`, its `text`, and
    the values `of`. Logs where that cannot be said."""
    locale = await slack.people.locale(user)
    await load_catalogue(locale)
    with reader(locale):
        said = LinkGate().mrkdwn(shortened(rule.instruction, _MOST_SHOWN))
        sentence = text(place=f"<#{rule.channel}>", text=said, **of)
    try:
        opened = await slack.clients.writes.conversations_open(users=user)
        await slack.clients.writes.chat_postMessage(
            channel=str(opened["channel"]["id"]),
            text=sentence,
            unfurl_links=False,
            unfurl_media=False,
        )
    except (SlackApiError, *TRANSPORT_ERRORS) as error:
        log.warning("%s was not told of %s: %s", user, rule.id, type(error).__name__)
