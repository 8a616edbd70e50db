"""Questions from modals, commands and buttons, which come without a message in Slack.

The bot posts a message that says who asked what, and that message becomes the request's.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from slack_sdk.errors import SlackApiError

from bot.core.errors import NotPermitted
from bot.core.failpoints import failpoint
from bot.core.ids import new_id
from bot.core.request import Entry, FileRef, RepeatReason, Request
from bot.runs.policy.access import Person
from bot.slack.edge.client import NO_PLACE, error_code
from bot.slack.edge.files import places_of
from bot.slack.edge.text import cap, clean, decode
from bot.slack.ui import words
from bot.slack.ui.alone import ended_view, view_name, working_view
from bot.slack.ui.blocks import Block, rich, rich_text, shortened, text_element
from bot.slack.ui.links import LinkGate, escape_mrkdwn, without_broadcasts
from bot.slack.ui.outcome import scheduled_line
from bot.text.languages import locale_for
from bot.text.mentions import Mention
from bot.text.redaction import redacted
from bot.text.translation import load_catalogue, reader

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

NOT_IN_CHANNEL = "bot not in channel"
"""The reason of a refusal in the audit trail."""

_RESET_FIELDS = {
    "replaces": (),
    "revises": (),
    "message": "",
    "before_edit": "",
    "own": "",
    "revision": 0,
    "superseded": False,
    "withdrawn": False,
    "schedule": "",
    "scheduled": None,
    "due": None,
}
"""The fields about edits and schedules, reset when a request is asked again."""
_AS_A_QUESTION = {
    "entry": Entry.MESSAGE_SHORTCUT,
    "job": None,
    "response_type": "Answer",
}
"""The fields of what a rule asked, when a person asks it again: they ask about the message themselves."""
_MAX_SHOWN = 2_500  # characters of the question that are shown
_MAX_NOTICE = 400  # characters of the question in notifications
_MAX_PAGES = 20
_CLOCK_SECONDS = 120  # by which Slack's clock may be behind ours
_VIEW_SECONDS = 1.0  # until Slack has opened a modal
_MAX_ABOUT = 300  # characters shown of the message that the question is about


@dataclass(frozen=True, slots=True)
class Question:
    """A question, its asker, and the place for its answer.

    `thread` None starts a thread. `quoted` is in Slack's markup. `key` is an idempotency key: a
    modal that is submitted twice asks once. `mentioned` are the people and channels that `user`
    mentioned. A `suggested` question is worded by the model. One of a `schedule` says when that was
    made, `scheduled`, and for which time it was set, `due`.
    """

    entry: Entry
    user: str
    channel: str
    thread: str | None
    text: str
    key: str
    mentioned: tuple[Mention, ...] = ()
    quoted: str = ""
    files: tuple[FileRef, ...] = ()
    private: bool = False
    response_type: str = "Answer"
    suggested: bool = False
    schedule: str = ""
    scheduled: datetime | None = None
    due: datetime | None = None


class QuestionIntake:
    """The intake of questions in one workspace, which turns each into a request.

    Its methods raise NotPermitted with a sentence for the person.
    """

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._identity, self._clients, self._access = app.identity, app.clients, app.access
        self._gate, self._intake = app.gate, app.intake
        self.team, self.name = app.team, app.name_of
        self._under_way: set[str] = set()

    async def ask(self, question: Question) -> Request | None:
        """Store the question as a request and return it; None when that was done before."""
        if question.schedule:  # its owner may have left since it was last asked
            await self._gate.people.find_now(question.user)
        person = await self.permitted(question.user, question.channel)
        text = redacted(cap(clean(question.text)))
        if not text:
            raise NotPermitted(words.EMPTY_QUESTION())
        async with self._once(question.key) as first:
            # The message of a schedule becomes the answer, and is no longer found by the key then.
            if not first or await self._app.stores.mailbox.has_caused(self.team, question.key):
                return None
            quoted = redacted(clean(await decode(question.quoted, self.name)))
            is_flat = question.channel.startswith("D") and not (question.thread or question.private)
            is_flat = is_flat and not await self._app.requests.is_busy(self.team, question.channel)
            ts = await self._question_ts(question, person, text, quoted)
            request = Request(
                entry=question.entry,
                team=self._identity.team,
                channel=question.channel,
                thread=question.thread or ts,
                top_level=is_flat,
                ts=ts,
                user=person.id,
                author=person.name,
                place=await self._access.place(question.channel),
                text=text,
                mentioned=question.mentioned,
                quoted=cap(quoted),
                files=await self._readable_files(person, question.files),
                private=question.private,
                response_type=question.response_type,
                suggested=question.suggested,
                locale=person.locale,
                time_zone=person.time_zone,
                schedule=question.schedule,
                scheduled=question.scheduled,
                due=question.due,
            )
            return request if await self._intake.accept(request, question.key) else None

    async def again(
        self, request_id: str, how: RepeatReason, *, user: str, ts: str
    ) -> Request | None:
        """Ask a stored request again for `user`. Return it; None when that was done before.

        `how` is the button, and `ts` the time of its press.
        """
        stored = await self._app.requests.whole(request_id)
        if stored is None or stored.withdrawn or not self._may_repeat(stored, user):
            raise NotPermitted(words.CANNOT_RETRY())
        if stored.superseded:  # its message shows that only once the next run has begun
            raise NotPermitted(words.WAS_EDITED())
        person = await self.permitted(user, stored.channel)
        is_busy = stored.top_level and await self._app.requests.is_busy(self.team, stored.channel)
        request = stored.model_copy(
            update={
                "id": new_id("req"),
                "ts": ts,
                "top_level": stored.top_level and not is_busy,
                "late": False,
                "restored": None,
                "again": how,
                **_RESET_FIELDS,
                "action_token": "",  # of the person who asked before
                **(_AS_A_QUESTION if stored.is_by_rule else {}),
                "mentioned": stored.mentioned if stored.user == user else (),
                "user": person.id,
                "author": person.name,
                "locale": person.locale,
                "time_zone": person.time_zone,
                "received_at": datetime.now(UTC),
            }
        )
        return request if await self._intake.accept(request, how.event_id(request_id)) else None

    def working_view(self, request: Request) -> Block:
        """Return the modal, to be opened now, in which the asker of a private request sees that the bot
        works on it."""
        self._app.background.start(self._end_view_if_answered(request), "private window")
        return working_view(request, self._link_to(request))

    async def _end_view_if_answered(self, request: Request) -> None:
        """Say in a modal that just opened that the answer is there: the run of one that came before found
        none. The run finds the others."""
        await asyncio.sleep(_VIEW_SECONDS)
        if await self._app.requests.answered(request.id):
            with reader(request.locale):
                view = ended_view(request, self._link_to(request))
            with suppress(SlackApiError):  # its person closed it
                await self._clients.writes.views_update(external_id=view_name(request), view=view)

    def _link_to(self, request: Request) -> str:
        return self._identity.message_link(request.channel, request.thread)

    def _may_repeat(self, kept: Request, user: str) -> bool:
        """Return whether the request is of this workspace, and `user` may see its answer."""
        return kept.team == self._identity.team and (not kept.private or kept.user == user)

    def invitation(self) -> str:
        """Return the sentence that says how to invite the bot to a channel."""
        return words.INVITE(name=self._identity.name)

    async def direct_channel(self, user: str) -> str:
        """Return the channel id of the direct messages between `user` and the bot."""
        return await self._clients.direct(user)

    async def is_in(self, channel: str) -> bool:
        """Return whether the bot is in the channel, and can write there."""
        facts = await self._access.channel(channel)
        return facts is not None and facts.takes_answers

    async def permitted(self, user: str, channel: str) -> Person:
        """Return the person, if they may ask there and see the channel.

        Raises NotPermitted, and writes the refusal to the audit trail.
        """
        try:
            return await self._check_access(user, channel)
        except NotPermitted as refusal:
            await self._intake.refused(user, channel, refusal)
            raise

    async def may_ask(self, user: str, channel: str) -> Person:
        """Return the person, if their role may ask in the channel; "" means direct messages.

        Raises NotPermitted.
        """
        return await self._gate.asker(user, channel)

    async def may_ask_somewhere(self, user: str) -> Person:
        """Return the person, if they may ask in any place. Raises NotPermitted."""
        return await self._gate.asker_somewhere(user)

    async def _check_access(self, user: str, channel: str) -> Person:
        """Return the person, if they may ask in the channel, and they and the bot are in it."""
        person = await self.may_ask(user, channel)
        facts = await self._access.channel(channel)
        if facts is None or not (facts.bot_is_in or facts.archived):
            raise NotPermitted(self.invitation(), reason=NOT_IN_CHANNEL)
        try:
            if facts.bot_is_in:
                await self._access.may_see(person, facts)
        except NotPermitted:
            raise NotPermitted(words.NOT_YOUR_CHANNEL(), reason="not in channel") from None
        if facts.archived:
            raise NotPermitted(words.ARCHIVED(), reason="archived channel")
        return person

    async def _readable_files(
        self, person: Person, files: Sequence[FileRef]
    ) -> tuple[FileRef, ...]:
        """Return the files that the person may see, as a modal's metadata could be forged."""
        return tuple([file for file in files if await self.may_read_file(person, file.id)])

    async def may_read_file(self, person: Person, file: str) -> bool:
        """Return whether the person uploaded the file, or shares a channel with it and the bot."""
        try:
            facts = (await self._clients.reads.files_info(file=file))["file"]
        except SlackApiError as error:
            if error_code(error) in ("file_not_found", "file_deleted"):
                return False
            raise
        if facts.get("user") == person.id:
            return True
        for place in places_of(facts):
            try:
                if channel := await self._access.channel(place):
                    await self._access.may_see(person, channel)
                    return True
            except NotPermitted:
                continue
        return False

    @asynccontextmanager
    async def _once(self, key: str) -> AsyncGenerator[bool]:
        """Yield whether no other call with the same key is under way."""
        if key in self._under_way:
            yield False
            return
        self._under_way.add(key)
        try:
            yield True
        finally:
            self._under_way.discard(key)

    async def _question_ts(self, question: Question, person: Person, text: str, quoted: str) -> str:
        """Return the ts of the message with the question; the time now for a private question."""
        if question.private:
            return f"{time.time():.6f}"
        post = partial(self.post_once, question.key, question.channel, question.thread)
        locale = locale_for((text,), reader=person.locale)
        await load_catalogue(locale)
        if question.scheduled and question.due:
            with reader(locale):
                said, line = scheduled_line(
                    person.id, person.name, question.scheduled, question.due, text
                )
            return await post(said, [line.block], since=question.due)
        about = "" if question.thread else quoted  # in its thread everybody sees it
        # What the bot posts counts as quoted when it is read; addresses of the model must not.
        visible = LinkGate().plain(text) if question.suggested else without_broadcasts(text)
        visible, name = shortened(visible, _MAX_SHOWN), without_broadcasts(person.name)
        with reader(locale):
            how, lead = words.ASKED(), words.ABOUT()
        return await post(
            escape_mrkdwn(name + shortened(f"{how} {visible}", _MAX_NOTICE)),
            [_question_block(name, how, visible, lead, shortened(about, _MAX_ABOUT))],
        )

    async def post_once(
        self,
        key: str,
        channel: str,
        thread: str | None,
        text: str,
        blocks: Sequence[Block],
        *,
        since: datetime | None = None,
    ) -> str:
        """Post a message unless the one with this `key` was posted before, and return its ts.

        It was posted no earlier than `since`, if given. Raises NotPermitted where nobody may post,
        SlackApiError and TRANSPORT_ERRORS; then it is safe to repeat.
        """
        found = await self._find_posted(key, channel, thread, since)
        return found or await self._post(key, channel, thread, text, blocks)

    async def _find_posted(
        self, key: str, channel: str, thread: str | None, since: datetime | None
    ) -> str | None:
        reads, cursor = self._clients.reads, None
        look = {"oldest": f"{since.timestamp() - _CLOCK_SECONDS:.6f}"} if since else {}
        for _ in range(_MAX_PAGES if since else 1):
            asked: dict[str, Any] = {"channel": channel, "include_all_metadata": True, **look}
            if thread:
                page = await reads.conversations_replies(
                    ts=thread, limit=200, cursor=cursor, **asked
                )
            else:
                limit = 200 if since else 30
                page = await reads.conversations_history(limit=limit, cursor=cursor, **asked)
            for message in page["messages"]:
                payload = (message.get("metadata") or {}).get("event_payload") or {}
                if payload.get("key") == key and message.get("bot_id") == self._identity.bot:
                    return str(message["ts"])
            cursor = (page.get("response_metadata") or {}).get("next_cursor")
            if not cursor:
                break
        return None

    async def _post(
        self, key: str, channel: str, thread: str | None, text: str, blocks: Sequence[Block]
    ) -> str:
        failpoint("question-saying")
        try:
            posted = await self._clients.writes.chat_postMessage(
                channel=channel,
                thread_ts=thread,
                text=text,
                blocks=blocks,
                metadata={"event_type": "asked", "event_payload": {"key": key}},
                unfurl_links=False,
                unfurl_media=False,
            )
        except SlackApiError as error:
            code = error_code(error)
            if code in ("not_in_channel", "channel_not_found"):
                raise NotPermitted(self.invitation()) from None
            if code in NO_PLACE:
                reason = words.GONE_REASONS.get(code, words.GONE_OTHERWISE)()
                raise NotPermitted(words.CANNOT_ASK(reason=reason)) from None
            raise
        failpoint("question-said")
        return str(posted["ts"])


def _question_block(name: str, how: str, question: str, lead: str, about: str) -> Block:
    """Return the question as rich text, in which nothing notifies a channel or is formatted."""
    who = text_element(name, bold=True)
    parts = [rich("section", who, text_element(how)), rich("quote", text_element(question))]
    if about:
        parts += [
            rich("section", text_element(lead)),
            rich("quote", text_element(about)),
        ]
    return rich_text(*parts)
