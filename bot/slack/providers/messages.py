"""Messages for tools: read, searched, and what a channel keeps besides them."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from typing import Any

from slack_sdk.errors import SlackApiError

from bot.core.context import current_request
from bot.core.errors import NotPermitted, ToolError
from bot.slack.edge.client import Clients, error_code
from bot.slack.edge.files import CANVAS, places_of
from bot.slack.edge.people_and_channels import naming
from bot.slack.edge.text import clean, decode, one_line
from bot.slack.edge.workspaces import Slack
from bot.slack.message.message_contents import file_refs, said_in
from bot.slack.message.message_metadata import run_of
from bot.slack.providers.channel_access import ReachableChannels
from bot.toolkit.narrowing import has_words
from bot.toolkit.provided.conversation import FoundFiles, SharedFile, ThreadMessage
from bot.toolkit.provided.directory import FoundMessage, SearchResults


def edited_at(message: Mapping[str, Any]) -> str:
    """Return the ts of a message's last edit; "" if it was not edited."""
    edited: Mapping[str, Any] = message.get("edited") or {}
    return str(edited.get("ts") or "")


@dataclass(frozen=True, slots=True)
class MessageReader:
    """A converter of Slack's messages, for one workspace."""

    slack: Slack

    async def message(self, message: Mapping[str, Any], channel: str) -> ThreadMessage:
        """Convert one of Slack's message objects that was posted in `channel`."""
        ts = str(message["ts"])
        name_of = naming(self.slack.people, self.slack.access)
        return ThreadMessage(
            ts=ts,
            at=datetime.fromtimestamp(float(ts), UTC),
            author=await self._author(message),
            text=clean(await decode(self._content(message), name_of)),
            files=file_refs(message.get("files") or ()),
            replies=int(message.get("reply_count") or 0),
            url=self.permalink(channel, ts, message.get("thread_ts")),
            own=self._is_own(message),
            run=run_of(message) or "",
            edited=edited_at(message),
            reactions=tuple(
                (one_line(str(each.get("name") or "")), int(each.get("count") or 0))
                for each in message.get("reactions") or ()
            ),
        )

    def _content(self, message: Mapping[str, Any]) -> str:
        """Return what the message says.

        The text of the bot's own messages is complete; their blocks add only buttons and footers.
        """
        return str(message.get("text") or "") if self._is_own(message) else said_in(message)

    def _is_own(self, message: Mapping[str, Any]) -> bool:
        identity = self.slack.identity
        return message.get("bot_id") == identity.bot or message.get("user") == identity.user

    def permalink(self, channel: str, ts: str, thread: str | None) -> str:
        """Build the permalink of a message."""
        return self.slack.identity.message_link(channel, ts, thread)

    async def _author(self, message: Mapping[str, Any]) -> str:
        if message.get("user"):
            return await self.slack.people.name(str(message["user"]))
        profile: Mapping[str, Any] = message.get("bot_profile") or {}
        name = str(message.get("username") or profile.get("name") or "")
        return one_line(name) or "somebody"


def ts_of(at: datetime | None) -> str | None:
    """Return a time as Slack's timestamp, None for None."""
    return None if at is None else f"{at.timestamp():.6f}"


log = logging.getLogger(__name__)

_CHANNELS = 20  # one call each, of the fifty a minute that Slack allows
_MESSAGES = 200  # of each channel
_SLACK_COVERAGE = "Slack's search over all public channels that the asker may see"
_HISTORY_COVERAGE = (
    "only the last {messages} messages (no thread replies) of {channels} public channels that the "
    "bot is in, for all words of the query: Slack's own search was not to be had"
)


class MessageSearch:
    """The search for the current request, whose asker must be a member of the workspace.

    Private conversations are never searched, because others may read the answer. Raises
    SlackApiError and TRANSPORT_ERRORS.
    """

    def __init__(self, slack: Slack) -> None:
        self._clients = slack.clients
        self._identity = slack.identity
        self._people = slack.people
        self._access = slack.access
        self._name_of = naming(slack.people, slack.access)

    async def find(
        self, query: str, *, limit: int, after: datetime | None, before: datetime | None
    ) -> SearchResults:
        """Return at most `limit` messages, in the order of Slack's search or else newest first."""
        token = current_request().request.action_token
        if token:
            try:
                return await self._by_slack(query, token, limit, after, before)
            except SlackApiError as refusal:
                log.info("assistant.search.context refused: %s", error_code(refusal))
        return await self._in_history(query, limit, after, before)

    async def _by_slack(
        self, query: str, token: str, limit: int, after: datetime | None, before: datetime | None
    ) -> SearchResults:
        arguments: dict[str, Any] = {
            "query": query,
            "action_token": token,
            "content_types": ["messages"],
            "channel_types": ["public_channel"],
            "limit": limit,
        }
        if after:
            arguments["after"] = int(after.timestamp())
        if before:
            arguments["before"] = int(before.timestamp()) + 1
        answer = await self._clients.reads.api_call("assistant.search.context", json=arguments)
        matches = (answer.get("results") or {}).get("messages") or []
        names = await self._public_names({str(match["channel_id"]) for match in matches})
        messages = [
            await self._message(
                names[match["channel_id"]],
                ts=str(match["message_ts"]),
                user=str(match.get("author_user_id") or ""),
                text=str(match.get("content") or ""),
                url=str(match["permalink"]),
            )
            for match in matches
            if match["channel_id"] in names and not self._is_no_source(match, match["channel_id"])
        ]
        return SearchResults(messages[:limit], _SLACK_COVERAGE)

    async def _public_names(self, channels: set[str]) -> dict[str, str]:
        """Return the names of the public channels, which the bot checks by itself."""
        known = [await self._access.channel(channel) for channel in sorted(channels)]
        return {each.id: each.name for each in known if each and each.open}

    async def _in_history(
        self, query: str, limit: int, after: datetime | None, before: datetime | None
    ) -> SearchResults:
        page = await self._clients.reads.users_conversations(
            types="public_channel", exclude_archived=True, limit=_CHANNELS
        )
        channels = page["channels"][:_CHANNELS]
        found: list[tuple[Mapping[str, Any], Mapping[str, Any]]] = []
        for channel in channels:
            history = await self._clients.reads.conversations_history(
                channel=channel["id"], limit=_MESSAGES, oldest=ts_of(after), latest=ts_of(before)
            )
            found += [
                (channel, message)
                for message in history["messages"]
                if has_words(_text(message), query)
            ]
        newest = sorted(found, key=lambda each: float(each[1]["ts"]), reverse=True)
        kept = [each for each in newest if not self._is_no_source(each[1], each[0]["id"])][:limit]
        messages = [await self._in_channel(channel, each) for channel, each in kept]
        return SearchResults(
            messages, _HISTORY_COVERAGE.format(messages=_MESSAGES, channels=len(channels))
        )

    async def _in_channel(
        self, channel: Mapping[str, Any], message: Mapping[str, Any]
    ) -> FoundMessage:
        ts = str(message["ts"])
        return await self._message(
            one_line(str(channel["name"])),
            ts=ts,
            user=str(message.get("user") or ""),
            text=_text(message),
            url=f"{self._identity.url}archives/{channel['id']}/p{ts.replace('.', '')}",
        )

    async def _message(
        self, channel: str, *, ts: str, user: str, text: str, url: str
    ) -> FoundMessage:
        return FoundMessage(
            channel=channel,
            at=datetime.fromtimestamp(float(ts), UTC),
            author=await self._people.name(user) if user else "somebody",
            text=clean(await decode(text, self._name_of)),
            url=url,
        )

    def _is_no_source(self, message: Mapping[str, Any], channel: str) -> bool:
        """Return whether the message is the bot's own or the question itself: neither is a source."""
        author = message.get("author_user_id") or message.get("user")
        ts = message.get("message_ts") or message.get("ts")
        request = current_request()
        return author == self._identity.user or (channel, ts) == (
            request.channel,
            request.request.ts,
        )


def _text(message: Mapping[str, Any]) -> str:
    return str(message.get("text") or "")


_PAGE = 100
_MAX_PAGES = 10
_MOST_NEAR = 20
_MOST_COMPARED, _LONGEST_COMPARED = 200, 60  # names, and characters of each
_FILES_SEARCHED = "the names of the newest {count:,} files where the bot is"


@dataclass(frozen=True, slots=True)
class ChannelItems:
    """The pins, files and canvases of channels that the current request may read.

    Raises ToolError, NotPermitted, SlackApiError and TRANSPORT_ERRORS.
    """

    clients: Clients
    channels: ReachableChannels
    reader: MessageReader

    async def pins(self, channel: str | None) -> list[ThreadMessage]:
        """Return pinned messages, the latest pin first."""
        place = await self.channels.readable(channel)
        items = (await self.clients.reads.pins_list(channel=place))["items"]
        messages = [item["message"] for item in items if item.get("type") == "message"]
        return [await self.reader.message(message, place) for message in messages]

    async def files(
        self, channel: str | None, *, after: datetime | None, before: datetime | None
    ) -> list[SharedFile]:
        """Return files and canvases, newest first, from at most a thousand that Slack lists."""
        place = await self.channels.readable(channel)
        shared: list[SharedFile] = []
        for page_number in range(1, _MAX_PAGES + 1):
            page = await self.clients.reads.files_list(
                channel=place,
                count=_PAGE,
                page=page_number,
                ts_from=ts_of(after),
                ts_to=ts_of(before),
            )
            shared += [await self._shared_file(file) for file in page["files"] if file_refs([file])]
            if page_number >= int((page.get("paging") or {}).get("pages") or 0):
                break
        return shared

    async def _shared_file(self, facts: Mapping[str, Any], place: str = "") -> SharedFile:
        [file] = file_refs([facts])
        is_canvas = file.media_type == CANVAS
        if is_canvas:  # people know a canvas by its title; Slack generates its file name
            file = file.model_copy(update={"name": one_line(str(facts.get("title") or ""))})
        user = str(facts.get("user") or "")
        return SharedFile(
            file=file,
            at=datetime.fromtimestamp(float(facts.get("created") or 0), UTC),
            author=await self.reader.slack.people.name(user) if user else "somebody",
            url=str(facts.get("permalink") or "") or None,
            is_canvas=is_canvas,
            place=name if (name := await self._public_name(place)) != place else "",
            is_here=current_request().channel in places_of(facts),
        )

    async def _public_name(self, place: str) -> str:
        return await self.reader.slack.access.open_name(place) if place else ""

    async def find(
        self, query: str, *, limit: int, after: datetime | None, before: datetime | None
    ) -> FoundFiles:
        """Return files by words, of all that the bot sees: the newest thousand that Slack lists.

        Only those are returned, and only their names are compared, that the asker and the readers of
        the answer may see.
        """
        seen, searched = dict[str, bool](), 0
        fitting, others = list[SharedFile](), list[Mapping[str, Any]]()
        for number in range(1, _MAX_PAGES + 1):
            page = await self.clients.reads.files_list(
                count=_PAGE, page=number, ts_from=ts_of(after), ts_to=ts_of(before)
            )
            searched += len(page["files"])
            for facts in page["files"]:
                if not file_refs([facts]):
                    continue
                if not has_words(f"{facts.get('name')} {facts.get('title')}", query):
                    others.append(facts)
                elif place := await self._place_for_all(facts, seen):
                    fitting.append(await self._shared_file(facts, place))
            is_last = number >= int((page.get("paging") or {}).get("pages") or 0)
            if is_last or len(fitting) >= limit:
                break
        near = [] if fitting else await self._near(query, others, seen)
        return FoundFiles(fitting[:limit], _FILES_SEARCHED.format(count=searched), near)

    async def _place_for_all(self, facts: Mapping[str, Any], seen: dict[str, bool]) -> str | None:
        """Return the id of a conversation with the file that all who read the answer may see.

        `seen` has what is known of conversations."""
        for place in places_of(facts):
            if place not in seen:
                try:
                    await self.channels.check_readable_in_any([place])
                    seen[place] = True
                except (NotPermitted, ToolError):
                    seen[place] = False
            if seen[place]:
                return place
        return None

    async def _near(
        self, query: str, files: Sequence[Mapping[str, Any]], seen: dict[str, bool]
    ) -> list[SharedFile]:
        """Return up to three files whose names begin like the query, of the newest."""
        files = files[:_MOST_COMPARED]
        word, *names = (
            name[:_LONGEST_COMPARED].casefold()
            for name in (query, *(str(facts.get("name") or "") for facts in files))
        )
        close = await asyncio.to_thread(
            get_close_matches, word, dict.fromkeys(names), n=_MOST_NEAR, cutoff=0.5
        )
        near = list[SharedFile]()
        for name in close:
            for facts in (facts for facts, own in zip(files, names, strict=True) if own == name):
                if len(near) < 3 and (place := await self._place_for_all(facts, seen)):
                    near.append(await self._shared_file(facts, place))
        return near
