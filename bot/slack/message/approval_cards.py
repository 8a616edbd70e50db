"""Approval cards of a run: each is posted once in every place where an approver can see it."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.approvals import Approval, ApprovalRecord
from bot.core.errors import LeaseLost
from bot.core.failpoints import failpoint
from bot.core.request import Request
from bot.runs.surface import PostedMessages
from bot.slack.edge.client import TRANSPORT_ERRORS, Clients, Identity, error_reason, is_ambiguous
from bot.slack.edge.people_and_channels import ChannelMembership, People
from bot.slack.message import message_metadata
from bot.slack.ui import approval_words
from bot.slack.ui.approval_kinds import WaitKinds
from bot.slack.ui.blocks import Block
from bot.slack.ui.links import escape_mrkdwn, without_broadcasts
from bot.slack.ui.parts import Part, context
from bot.text.translation import reader

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """A conversation that holds a card. `name` is the key under which the run keeps the card's ts.

    `reader` is the user who alone reads it there, "" in a thread.
    """

    channel: str
    thread: str | None
    name: str
    reader: str = ""


class Cards:
    """The approval cards of one run.

    A card goes to the run's thread, and to the direct messages of approvers who are not in the
    channel. A private request, a workflow step and a rule have cards in direct messages only, and so have
    kinds of cards that are for the asker alone. A card in direct messages is in the language of its
    reader, any other in that of the asker.
    """

    def __init__(
        self,
        request: Request,
        post: PostedMessages,
        *,
        clients: Clients,
        identity: Identity,
        people: People,
        waits: WaitKinds,
    ) -> None:
        self._request = request
        self._posted = post
        self._clients = clients
        self._identity = identity
        self._people = people
        self._access = ChannelMembership(clients.reads)
        self.waits = waits

    async def post(self, approvals: Sequence[Approval]) -> None:
        """Post the cards that are not posted yet. Raises SlackApiError or TRANSPORT_ERRORS."""
        for approval in approvals:
            for place in await self._places(approval):
                if await self._posted.card(place.name) is None:
                    ts = await self._post_card(place, approval)
                    try:
                        await self._posted.save_card(place.name, ts)
                    except LeaseLost:
                        await self._take_back(place, approval, ts)
                        raise

    async def _take_back(self, place: _Place, approval: Approval, ts: str) -> None:
        """Delete a card that was posted late if the worker that has the run now posted it as well.

        A failure of Slack's is logged.
        """
        try:
            if any(other != ts for other in await self._posted_cards(place, approval)):
                await self._clients.updates.chat_delete(channel=place.channel, ts=ts)
        except (SlackApiError, *TRANSPORT_ERRORS) as error:
            log.warning("A card of %s may stand twice: %s", approval.id, error_reason(error))

    async def settle(self, records: Sequence[ApprovalRecord]) -> None:
        """Show the decision and its result on each card. Raises LeaseLost.

        A failure of Slack's is logged. A card with a final state is not updated again.
        """
        for record in records:
            try:
                await self._settle(record)
            except (SlackApiError, *TRANSPORT_ERRORS) as error:
                reason = error_reason(error)
                log.warning("The card of %s shows no decision: %s", record.approval.id, reason)

    async def _settle(self, record: ApprovalRecord) -> None:
        approval, posted = record.approval, self._posted
        known = [ts := await posted.card(approval.id)]
        if ts:
            await self._update(self._in_thread(approval), ts, record)
        for user in approval.approvers:
            known.append(ts := await posted.card(approval.card_for(user)))
            if ts:
                await self._update(await self._direct(user, approval), ts, record)
        if all(
            ts is None for ts in known
        ):  # whoever posted it may have died before that was stored
            for place in await self._places(approval):
                if ts := await self._find(place, approval):
                    await self._update(place, ts, record)

    async def _update(self, place: _Place, ts: str, record: ApprovalRecord) -> None:
        part = await self._draw(place, record)
        await self._posted.may_write()
        failpoint("card-updating")
        await self._clients.updates.chat_update(
            channel=place.channel, ts=ts, text=part.text, blocks=part.blocks
        )
        failpoint("card-updated")
        if record.is_over:
            await self._posted.save_card(place.name, "")

    async def _places(self, approval: Approval) -> list[_Place]:
        request = self._request
        is_for_asker = not self.waits.of(approval).in_thread and not request.channel.startswith("D")
        if is_for_asker or request.private or request.is_of_program or request.is_by_rule:
            return [await self._direct(user, approval) for user in approval.approvers]
        outside = [user for user in approval.approvers if await self._is_outside(user)]
        return [
            self._in_thread(approval),
            *[await self._direct(user, approval) for user in outside],
        ]

    async def _is_outside(self, user: str) -> bool:
        request = self._request
        return user != request.user and not await self._access.is_member(user, request.channel)

    def _in_thread(self, approval: Approval) -> _Place:
        return _Place(self._request.channel, self._request.reply_to, approval.id)

    async def _direct(self, user: str, approval: Approval) -> _Place:
        channel = await self._clients.direct(user)
        return _Place(channel, None, approval.card_for(user), user)

    async def _post_card(self, place: _Place, approval: Approval) -> str:
        """Return the ts of the card, which is posted unless the place has it already."""
        if found := await self._find(place, approval):
            if approval.restored:  # the card shows what was decided since, or buttons
                await self._update(place, found, ApprovalRecord(approval))
            return found
        part = await self._draw(place, ApprovalRecord(approval))
        await self._posted.may_write()
        failpoint("card-posting")
        try:
            posted = await self._clients.writes.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                metadata=message_metadata.card_metadata(self._posted.run_id, approval.id),
                text=part.text,
                blocks=part.blocks,
                unfurl_links=False,
                unfurl_media=False,
            )
        except Exception as error:
            found = await self._find(place, approval) if is_ambiguous(error) else None
            if found is None:
                raise
            return found
        failpoint("card-posted")
        return str(posted["ts"])

    async def _draw(self, place: _Place, record: ApprovalRecord) -> Part:
        user = place.reader
        with reader(await self._people.locale(user)) if user else nullcontext():
            part = await self.waits.card(record)
            if self._request.is_by_rule and record.decision is None:  # nobody expects the card
                part = Part([*part.blocks, self._why()], part.text)
            return part

    def _why(self) -> Block:
        """Return the line that says which message made a rule ask."""
        request = self._request
        url = self._identity.message_link(request.channel, request.ts, request.thread)
        who, channel = escape_mrkdwn(without_broadcasts(request.author)), f"<#{request.channel}>"
        return context(approval_words.RULE_ASKS(person=who, url=url, channel=channel)).block

    async def _find(self, place: _Place, approval: Approval) -> str | None:
        return next(iter(await self._posted_cards(place, approval)), None)

    async def _posted_cards(self, place: _Place, approval: Approval) -> list[str]:
        """Return the ts of each card of the approval in a place."""
        payload_of_card = message_metadata.card_metadata(self._posted.run_id, approval.id)[
            "event_payload"
        ]
        return [
            str(message["ts"])
            for message in await self._messages(place)
            if message.get("user") == self._identity.user
            and (message.get("metadata") or {}).get("event_payload") == payload_of_card
        ]

    async def _messages(self, place: _Place) -> list[dict[str, Any]]:
        """Return the thread's messages, or the latest 200 of a direct message.

        Those are enough: a card is searched for only soon after it was posted.
        """
        reads = self._clients.reads
        options: dict[str, Any] = {"limit": 200, "include_all_metadata": True}
        if place.thread is None:
            return list(
                (await reads.conversations_history(channel=place.channel, **options))["messages"]
            )
        messages: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await reads.conversations_replies(
                channel=place.channel, ts=place.thread, cursor=cursor, **options
            )
            messages += page["messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return messages
