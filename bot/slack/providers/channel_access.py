"""Channels by name or id, limited to channels that both the asker and the bot can see.

Slack's errors become sentences that the model can act on.
"""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Sequence
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, SlackUnavailable, ToolError
from bot.runs.policy.access import PersonKind
from bot.slack.edge.client import (
    NO_PLACE,
    TRANSPORT_ERRORS,
    error_code,
    is_ambiguous,
    is_rate_limited,
)
from bot.slack.edge.people_and_channels import Channel
from bot.slack.edge.text import one_line
from bot.slack.edge.workspaces import Slack

_NOT_IN = "The bot is not in that channel. Somebody can invite it with /invite."
_DELETED = "That was deleted in Slack."
_NO_FILE = "The bot sees no such file: it must be shared in a channel that the bot is in."
_HAS_CANVAS = "That place has its canvas already. Read it and edit that one."
_CANNOT_POST = "Nobody may post there now, or not the bot."
_SENTENCES = {
    **dict.fromkeys(NO_PLACE, _CANNOT_POST),
    "not_in_channel": _NOT_IN,
    "channel_not_found": _NOT_IN,
    "thread_not_found": _DELETED,
    "message_not_found": _DELETED,
    "file_not_found": _NO_FILE,
    "canvas_not_found": _NO_FILE,
    "file_deleted": _DELETED,
    "canvas_deleted": _DELETED,
    "channel_canvas_already_exists": _HAS_CANVAS,
    "free_team_canvas_tab_already_exists": _HAS_CANVAS,
    "restricted_too_many": "Too much is scheduled for that time there. Choose another time.",
}
_SLOW_DOWN = "Slack asks to slow down. Ask for less at once, or go on without."
_UNKNOWN_OUTCOME = (
    "Slack did not answer: it may have been done or not. Look there before you say anything of it; "
    "do not do it again."
)


@asynccontextmanager
async def for_the_model() -> AsyncGenerator[None]:
    """Turn errors of Slack's API into ToolError with a sentence for the model."""
    try:
        yield
    except SlackApiError as error:
        raise ToolError(_sentence(error)) from error
    except NotPermitted as refusal:
        raise ToolError(f"{refusal} Do not try again; say that you may not look there.") from None
    except (SlackUnavailable, *TRANSPORT_ERRORS):
        raise ToolError("Slack did not answer. Try again once, then go on without.") from None


@asynccontextmanager
async def only_once() -> AsyncGenerator[None]:
    """Turn an unknown outcome of a call that must not be repeated into ToolError.

    The sentence tells the model to check the result and not to call again.
    """
    try:
        yield
    except Exception as error:
        if is_ambiguous(error):
            raise ToolError(_UNKNOWN_OUTCOME) from error
        raise


def _sentence(error: SlackApiError) -> str:
    code = error_code(error)
    if code == "missing_scope":
        needed = error.response.get("needed")
        return f"The bot lacks the permission {needed}; an admin has to grant it in Slack."
    if is_rate_limited(error):
        return _SLOW_DOWN
    detail = one_line(str(error.response.get("detail") or "")) if code else ""
    refused = f"Slack refused: {code or 'no reason given'}{f' ({detail})' if detail else ''}."
    return _SENTENCES.get(code, refused)


_PAGE = 200
_NO_ASKER = (
    "A step of a workflow is asked by nobody in particular, and so it can neither read nor write in "
    "any channel. A step of Slack's own in the workflow can post the answer."
)
_NO_SUCH_CHANNEL = "There is no {name} that the bot and the person who asked are both in."
_NOT_IN_NAMED = "The bot is not in {name}. Somebody there can invite it with /invite."
_INVITE = " If it is a private one, somebody in it can invite the bot with /invite."
_ID = re.compile(r"[CGD][A-Z0-9]{6,}")
_SIMILAR = " Similar names: {names}."
_MAX_PAGES = 5  # of 1,000 public channels each, searched for a name


@dataclass(frozen=True, slots=True)
class ReachableChannels:
    """The channels that the current request may use.

    The asker is always the user of the current request, never an argument.
    """

    slack: Slack

    async def readable(self, wanted: str | None) -> str:
        """Return the id of a channel that the asker sees and all readers may know about.

        None means the channel of the request. Raises ToolError and NotPermitted.
        """
        request = current_request()
        if wanted is None:
            _check_has_asker()
            return request.channel
        channel = await self._visible_channel(wanted)
        await self._check_readers(channel)
        return channel.id

    async def check_readable_in_any(self, places: Sequence[str]) -> None:
        """Check that one of the conversations in which an item is shared is readable.

        Raises ToolError and NotPermitted.
        """
        refusal: Exception = NotPermitted(
            "The person who asked is in no channel where it is shared."
        )
        for place in sorted(places, key=lambda each: each != current_request().channel):
            channel = await self.slack.access.channel(place)
            if channel is None:
                continue
            try:
                await self._check_visible(channel)
                await self._check_readers(channel)
            except NotPermitted:
                continue
            except ToolError as error:
                refusal = error
            else:
                return
        raise refusal

    async def writable(self, wanted: str) -> Channel:
        """Return a channel that the asker sees and that the bot can post in.

        Raises ToolError and NotPermitted.
        """
        channel = await self._visible_channel(wanted)
        if channel.archived:
            shown_name = name_or(wanted, otherwise="That channel")
            raise ToolError(f"{shown_name} is archived: nobody can post there.")
        return channel

    async def check_no_outside_readers(self) -> None:
        """Check that no other organisation reads the answer. Raises ToolError.

        Information that is public within the workspace is not public to them.
        """
        request = current_request()
        if request.request.is_for_one:
            return
        channel = await self.slack.access.channel(request.channel)
        if channel is not None and channel.shared:
            raise ToolError(
                "People of another organisation read this channel, so nothing is told here of the "
                "rest of the workspace. Say that you can when asked in a direct message."
            )

    async def _check_visible(self, channel: Channel) -> None:
        """Check that the asker sees the channel and the bot is in it. Raises NotPermitted."""
        person = await self.slack.people.find(current_request().user)
        await self.slack.access.may_see(person, channel)

    async def _check_readers(self, channel: Channel) -> None:
        """Check that everybody who reads the answer may know about the channel. Raises ToolError."""
        request = current_request()
        if channel.id == request.channel:
            return
        await self.check_no_outside_readers()
        if not channel.open and not request.request.is_for_one:
            raise ToolError(
                "That conversation is private, and others read this thread. Say that you can look "
                "into it when asked in a direct message."
            )

    async def _visible_channel(self, wanted: str) -> Channel:
        """Return the channel. Raises ToolError unless the asker sees it and the bot is in it.

        The error does not reveal whether another private channel exists.
        """
        _check_has_asker()
        name = _without_markup(wanted)
        channel = await self._find(name)
        try:
            if channel is not None:
                await self._check_visible(channel)
                return channel
        except NotPermitted:
            name = channel.name if channel and channel.open else name
        raise ToolError(await self._explain_refusal(wanted, name.lower()))

    async def _explain_refusal(self, wanted: str, name: str) -> str:
        public = await self._public_channels()
        if name in public:
            return _NOT_IN_NAMED.format(name=f"#{name}")
        similar = get_close_matches(
            name, [channel_name for channel_name, joined in public.items() if joined]
        )
        named = name_or(wanted, otherwise="")
        refusal = _NO_SUCH_CHANNEL.format(name=f"channel {named}" if named else "such channel")
        return refusal + (
            _SIMILAR.format(names=", ".join(f"#{channel_name}" for channel_name in similar))
            if similar
            else _INVITE
        )

    async def _public_channels(self) -> dict[str, bool]:
        """Return public channels by name, and whether the bot is in each.

        Returns none if the asker is a guest, or if another organisation reads the answer.
        """
        person = await self.slack.people.find(current_request().user)
        try:
            await self.check_no_outside_readers()
        except ToolError:
            return {}
        channels: dict[str, bool] = {}
        cursor: str | None = None
        for _ in range(_MAX_PAGES if person.kind is PersonKind.MEMBER else 0):
            page = await self.slack.clients.reads.conversations_list(
                types="public_channel", exclude_archived=True, limit=1_000, cursor=cursor
            )
            channels |= {
                str(channel["name"]): bool(channel["is_member"]) for channel in page["channels"]
            }
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return channels

    async def _find(self, name: str) -> Channel | None:
        if _ID.fullmatch(name):
            return await self.slack.access.channel(name)
        async with aclosing(self._joined()) as joined:
            async for channel in joined:
                if channel.get("name") == name.lower():
                    return await self.slack.access.channel(channel["id"])
        return None

    async def _joined(self) -> AsyncGenerator[dict[str, Any]]:
        """Yield the channels that the bot is in."""
        cursor: str | None = None
        while True:
            page = await self.slack.clients.reads.users_conversations(
                types="public_channel,private_channel",
                exclude_archived=False,
                limit=_PAGE,
                cursor=cursor,
            )
            for channel in page["channels"]:
                yield channel
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                return


def name_or(wanted: str, otherwise: str) -> str:
    """Return the name that the caller wrote, or `otherwise` if it was an id that no reader knows."""
    return otherwise if _ID.fullmatch(_without_markup(wanted)) else wanted


def _without_markup(wanted: str) -> str:
    return wanted.strip().removeprefix("<#").removesuffix(">").partition("|")[0].lstrip("#")


def _check_has_asker() -> None:
    """Raise ToolError where there is no asker whose access could be checked."""
    if not current_request().request.has_asker:
        raise ToolError(_NO_ASKER)
