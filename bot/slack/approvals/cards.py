"""The cards of a run's questions: each put up once, wherever those are who may decide."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.approvals import Approval, ApprovalRecord
from bot.core.failpoints import failpoint
from bot.core.request import Entry, Request
from bot.runs.surface import PostedMessages
from bot.slack.incoming.membership import ChannelMembership
from bot.slack.render.approval import approval_part
from bot.slack.reply import message_metadata
from bot.slack.transport.client import TRANSPORT_ERRORS, Clients, Identity, error_code, is_ambiguous

log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Place:
    """Where a card stands, and the name under which that is remembered."""

    channel: str
    thread: str | None
    name: str


class Cards:
    """In the run's thread, and directly to those who may decide and are not in the channel. Where
    the thread is not for everybody, or there is none, directly to each who may decide."""

    def __init__(
        self, request: Request, post: PostedMessages, *, clients: Clients, identity: Identity
    ) -> None:
        self._request = request
        self._post = post
        self._clients = clients
        self._identity = identity
        self._access = ChannelMembership(clients.reads)

    async def put_up(self, approvals: Sequence[Approval]) -> None:
        """Put up what is not up yet. Raises when Slack does not take it."""
        for approval in approvals:
            for place in await self._places(approval):
                if await self._post.card(place.name) is None:
                    ts = await self._put(place, approval)
                    await self._post.save_card(place.name, ts)

    async def settle(self, asked: Sequence[ApprovalRecord]) -> None:
        """Show what became of them, and how it ended once. Raises LeaseLost."""
        for each in asked:
            try:
                await self._settle(each)
            except (SlackApiError, *TRANSPORT_ERRORS) as error:
                reason = error_code(error) if isinstance(error, SlackApiError) else type(error)
                log.warning("The card of %s shows no decision: %s", each.approval.id, reason)

    async def _settle(self, asked: ApprovalRecord) -> None:
        approval = asked.approval
        if ts := await self._post.card(approval.id):
            await self._redraw(self._in_thread(approval), ts, asked)
        for user in approval.approvers:
            if ts := await self._post.card(approval.card_for(user)):
                await self._redraw(await self._direct(user, approval), ts, asked)

    async def _redraw(self, place: _Place, ts: str, asked: ApprovalRecord) -> None:
        part = approval_part(asked, self._identity.canvas_link)
        await self._post.may_write()
        failpoint("card-updating")
        await self._clients.updates.chat_update(
            channel=place.channel, ts=ts, text=part.text, blocks=part.blocks
        )
        failpoint("card-updated")
        if asked.is_over:
            await self._post.save_card(place.name, "")

    async def _places(self, approval: Approval) -> list[_Place]:
        request = self._request
        if request.private or request.entry is Entry.WORKFLOW_STEP:
            return [await self._direct(user, approval) for user in approval.approvers]
        away = [user for user in approval.approvers if await self._is_away(user)]
        return [
            self._in_thread(approval),
            *[await self._direct(user, approval) for user in away],
        ]

    async def _is_away(self, user: str) -> bool:
        request = self._request
        return user != request.user and not await self._access.is_member(user, request.channel)

    def _in_thread(self, approval: Approval) -> _Place:
        return _Place(self._request.channel, self._request.thread, approval.id)

    async def _direct(self, user: str, approval: Approval) -> _Place:
        opened = await self._clients.writes.conversations_open(users=user)
        return _Place(str(opened["channel"]["id"]), None, approval.card_for(user))

    async def _put(self, place: _Place, approval: Approval) -> str:
        """Post the card, unless it is there; returns its ts."""
        if found := await self._find(place, approval):
            return found
        part = approval_part(ApprovalRecord(approval), self._identity.canvas_link)
        await self._post.may_write()
        failpoint("card-posting")
        try:
            posted = await self._clients.writes.chat_postMessage(
                channel=place.channel,
                thread_ts=place.thread,
                metadata=message_metadata.card_metadata(self._post.run_id, approval.id),
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

    async def _find(self, place: _Place, approval: Approval) -> str | None:
        wanted = message_metadata.card_metadata(self._post.run_id, approval.id)["event_payload"]
        for message in await self._messages(place):
            payload = (message.get("metadata") or {}).get("event_payload")
            if message.get("user") == self._identity.user and payload == wanted:
                return str(message["ts"])
        return None

    async def _messages(self, place: _Place) -> list[dict[str, Any]]:
        """The latest of the place: a card is looked for soon after it was posted, if at all."""
        reads = self._clients.reads
        options: dict[str, Any] = {"limit": 200, "include_all_metadata": True}
        if place.thread is None:
            return list(
                (await reads.conversations_history(channel=place.channel, **options))["messages"]
            )
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            page = await reads.conversations_replies(
                channel=place.channel, ts=place.thread, cursor=cursor, **options
            )
            found += page["messages"]
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return found
