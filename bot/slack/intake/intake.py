"""Intake of messages: each becomes a request stored in the mailbox, or is ignored by a rule.

An exception leaves the event unacknowledged, so Slack delivers it again. While Redis is
unavailable the event is also retried here, in the order of its thread.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import TYPE_CHECKING, Any

from bot.core.approvals import Approval
from bot.core.errors import NotPermitted
from bot.core.request import Entry, Request
from bot.runs.audit_trail import refused
from bot.runs.policy.access import Person
from bot.slack.edge.payloads import (
    Event,
    action_token,
    channel_beside,
    is_direct,
    is_of_a_person,
    is_of_another_app,
)
from bot.slack.edge.text import mentions_from, question_from
from bot.slack.intake.addressing import (
    Addressing,
    ThreadReplies,
    is_stop,
    is_to_others,
    is_yes,
    may_be_request,
)
from bot.slack.intake.press import Press
from bot.slack.intake.slack_part import ChannelMessage, bug_logged
from bot.slack.message.message_contents import attached_to, file_refs
from bot.slack.message.message_metadata import reply_metadata
from bot.slack.ui import approval_words, words
from bot.slack.ui.buttons import MEANT, MeantMessage, meant_button
from bot.slack.ui.parts import context
from bot.text.mentions import Mention
from bot.text.translation import load_catalogue, reader

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp


_DAY = 86_400  # seconds


def register(app: SlackApp) -> None:
    """Listen to mentions and messages: Slack sends both for a mention in a channel."""

    @app.bolt.event("app_mention")
    async def mentioned(event: Event, body: Event) -> None:
        await app.intake.message(event, body["event_id"])

    @app.bolt.event("message")
    async def posted(event: Event, body: Event) -> None:
        await app.intake.message(event, body["event_id"], app_id=str(body.get("api_app_id") or ""))

    @app.button(MEANT)
    async def meant(press: Press) -> str:
        is_new = await app.intake.meant(press.user, press.channel, MeantMessage.read(press.value))
        app.background.start(press.respond(delete_original=True), "taking a question back")
        return "" if is_new else words.ALREADY_ASKED()


class Intake:
    """The message handler of one workspace, which turns messages into requests."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._identity, self._clients, self._access = app.identity, app.clients, app.access
        self._gate, self._threads, self._requests = app.gate, app.stores.threads, app.requests
        self._background, self._retries = app.background, app.retries
        self._addressing = Addressing(
            app.identity, app.clients, app.gate, app.stores.threads, app.requests.asker_of
        )

    async def message(
        self,
        event: Event,
        event_id: str,
        *,
        late: bool = False,
        restored: datetime | None = None,
        app_id: str = "",
    ) -> None:
        """Handle a `message` or `app_mention` event; Slack sends both for one mention.

        `late` marks a message that was found in the history after the bot had been down, and
        `restored` one that may have been worked on since a backup of that time.
        """
        me, marks = self._identity, {"late": late, "restored": restored}
        if not is_of_a_person(event, me.user):
            if is_of_another_app(event, me.user, me.bot, app_id):
                work = partial(self._look_at, event, marks)
                await self._retries.run_in_order(event_id, work, line=event_id)
            return
        thread, when = event.get("thread_ts") or event["ts"], float(event["ts"])
        waits = partial(self._say_waiting, event, thread)
        if self._says(event, is_stop) and not event.get("files"):
            stop = partial(self._stop, event)
            mark = f"{event_id}:stop"  # what stops a run waits for nothing in its thread
            if await self._retries.run_in_order(mark, stop, line=mark, on_trouble=waits):
                return
        work = partial(self._handle, event, event_id, marks)
        in_line = event.get("thread_ts") or ("" if is_direct(event) else event["ts"])
        line = self._app.thread_key(event["channel"], in_line)
        await self._retries.run_in_order(event_id, work, line=line, when=when, on_trouble=waits)

    def _say_waiting(self, event: Event, thread: str) -> None:
        if event["type"] == "app_mention" or is_direct(event):
            self._background.start(self._show_waiting(event, thread), "saying that nothing is kept")

    async def _show_waiting(self, event: Event, thread: str) -> None:
        with reader(await self._gate.people.locale(event["user"])):
            await self._app.status.show(event["channel"], thread, words.STATUS_WAITING())

    async def _look_at(self, event: Event, marks: Mapping[str, Any]) -> None:
        """Let features look at a message in a channel that is not to the bot."""
        message = ChannelMessage(event, **marks)
        for part in self._app.parts:
            with bug_logged(part):
                await part.posted(message)

    async def _handle(self, event: Event, event_id: str, marks: Mapping[str, Any]) -> None:
        if await self._is_typed_yes(event):
            return
        thread = self._addressing.thread_of(event)
        entry = await self._addressing.entry(event, thread) or await self._answering(event)
        if entry is None:
            await self._look_at(event, marks)
            if event.get("thread_ts"):
                if not any(marks.values()):  # what was missed is long past
                    await self._ask_whether_meant(event, thread)
                await self._is_first_notice(event)  # so that catching up ignores it as well
            return
        is_answered = _is_answered(event, entry)
        try:
            person = await self._gate.asker(event["user"], event["channel"])
        except NotPermitted as refusal:
            if is_answered:
                await self.refused(event["user"], event["channel"], refusal)
            if is_answered and await self._is_first_notice(event):
                self._tell_author(event, str(refusal))
            return
        with reader(person.locale):
            await self._take(event, event_id, entry, person, marks)

    async def _take(
        self,
        event: Event,
        event_id: str,
        entry: Entry,
        person: Person,
        marks: Mapping[str, object],
    ) -> bool:
        """Submit the request that a message makes, with `marks`, or say what can be asked.

        Return whether the request is new.
        """
        is_answered = _is_answered(event, entry)
        question = await self.question(str(event.get("text") or ""))
        quoted = await self.question(attached_to(event))
        if not (question or quoted or event.get("files")):
            if is_answered and await self._is_first_notice(event):
                self._help(event)
            return False
        request = await self._request(event, entry, person, question, quoted)
        return await self.accept(request.model_copy(update=marks), event_id)

    def _says(self, event: Event, what: Callable[[str, str], bool]) -> bool:
        return what(str(event.get("text") or ""), self._identity.user)

    async def _stop(self, event: Event) -> bool:
        with reader(await self._gate.people.locale(event["user"])):
            return await self._stop_runs(event)

    async def _stop_runs(self, event: Event) -> bool:
        """Stop runs for a message that only says stop. Return whether the message is handled.

        "Stop" alone is never a question; "cancel it" is a request where nothing runs, so the result
        is then False. In a direct message outside a thread it stops every run of the conversation.
        """
        channel, thread = event["channel"], event.get("thread_ts")
        is_ambiguous = self._says(event, may_be_request)
        if is_ambiguous and await self._app.stop.is_request(channel, event["ts"]):
            return False
        direct = is_direct(event)
        stopped, refused = False, ""
        try:
            if thread or direct:
                stopped = await self._app.stop.stop(
                    channel, thread, event["user"], before=event["ts"]
                )
        except NotPermitted as refusal:
            refused = str(refusal)
        if is_ambiguous and not (stopped or refused):
            # Of the two events of a mention the other may have stopped what ran.
            return await self._threads.was_noticed(self._identity.team, channel, event["ts"])
        first = await self._is_first_notice(event)  # of the two events
        rule = self._addressing.entry
        if not stopped and first and await rule(event, self._addressing.thread_of(event)):
            self._tell_author(event, refused or words.NOTHING_RUNS())
        return True

    async def accept(self, request: Request, event_id: str) -> bool:
        """Store the request, and show its first status in the background. Return whether it is new."""
        new = await self._app.submit(request, event_id)
        if new:
            self._background.start(self._begin(request), "first status")
        return new

    async def _begin(self, request: Request) -> None:
        """Show the first status, or tell the asker which approvals block the thread."""
        pending: Sequence[Approval] = ()
        if not request.opens_thread:
            pending = await self._requests.pending(request.team, request.channel, request.thread)
        if not pending:
            await load_catalogue(request.spoken_locale)
            with reader(request.spoken_locale):
                line, loading = words.STATUS_STARTING(), [text() for text in words.LOADING]
            await self._app.status.begin(request, line, loading)
        else:
            hint = self._app.waits.waits_behind(pending, request.user)
            self._tell(request.channel, request.reply_to, request.user, hint)

    async def refused(self, user: str, channel: str, refusal: NotPermitted) -> None:
        """Write a refusal to the audit trail."""
        await self._app.record(
            [refused(self._identity.team, user, refusal.reason, channel=channel)]
        )

    async def _ask_whether_meant(self, event: Event, replies: ThreadReplies) -> None:
        """Ask the author of a reply among several people, in private, whether it is for the bot.

        Once a day for what the bot said last: who does not press was not speaking to it.
        """
        channel, thread, user = event["channel"], event["thread_ts"], event["user"]
        text = str(event.get("text") or "")
        is_courtesy = text.isascii() and len(text.split()) < 2 and not event.get("files")
        last = "" if is_courtesy else await self._addressing.may_be_meant(event, replies)
        if not last:
            return
        notice = f"{thread}:{user}:{last}:{int(float(event['ts']) // _DAY)}"
        if not await self._threads.first_notice(self._identity.team, channel, notice):
            return
        with reader(await self._gate.people.locale(user)):
            if await self._requests.pending(self._identity.team, channel, thread):
                self._tell_author(event, approval_words.MENTION_ME())
                return
            hint, button = words.IS_IT_FOR_ME(), meant_button(MeantMessage(thread, event["ts"]))
        asking = self._clients.writes.chat_postEphemeral(
            channel=channel,
            user=user,
            thread_ts=thread,
            text=hint,
            blocks=[context(hint).block, button],
        )
        self._background.start(asking, "asking whether a reply is meant")

    async def meant(self, user: str, channel: str, message: MeantMessage) -> bool:
        """Take a message of `user` in a thread as one to the bot. Return False if it was taken before.

        Raises NotPermitted when it is gone, not theirs, or they may not ask, and SlackApiError.
        """
        page = await self._clients.reads.conversations_replies(
            channel=channel, ts=message.thread, oldest=message.ts, latest=message.ts, inclusive=True
        )
        own = (post for post in page["messages"] if post["ts"] == message.ts)
        post = next((post for post in own if post.get("user") == user), None)
        if post is None:
            raise NotPermitted(words.CANNOT_RETRY())
        person = await self._gate.asker(user, channel)
        event = {**post, "channel": channel}
        with reader(person.locale):
            return await self._take(
                event, f"meant:{channel}:{message.ts}", Entry.MENTION, person, {}
            )

    async def _answering(self, event: Event) -> Entry | None:
        """Return THREAD_REPLY for a reply by which its author answers a question of the bot.

        The bot waits for it, so it needs no mention, however many people write in the thread.
        """
        thread = event.get("thread_ts")
        if not thread or is_to_others(str(event.get("text"))):
            return None
        pending = await self._requests.pending(self._identity.team, event["channel"], thread)
        is_asked = any(
            approval.is_question and not approval.private and approval.requester == event["user"]
            for approval in pending
        )
        return Entry.THREAD_REPLY if is_asked else None

    async def _is_typed_yes(self, event: Event) -> bool:
        """Return whether the message is only "yes" to a pending approval, and tell its author so.

        Only the buttons of the card approve, because they show what is approved. A typed "yes" may be
        meant for another person, so it changes nothing.
        """
        if event.get("files") or not self._says(event, is_yes):
            return False
        team, channel, thread = self._identity.team, event["channel"], event.get("thread_ts")
        direct = is_direct(event)
        approvals = [
            *await self._requests.pending(
                team, channel, thread or (None if direct else event["ts"])
            ),
            *(await self._direct_approvals(event) if direct else ()),
        ]
        with reader(await self._gate.people.locale(event["user"])):
            hint = self._app.waits.yes_typed(approvals, event["user"])
        if not hint:
            return await self._threads.was_noticed(team, channel, event["ts"])
        if await self._is_first_notice(event):
            self._tell_author(event, hint)
        return True

    async def _direct_approvals(self, event: Event) -> list[Approval]:
        """Return the approvals with a card in this direct message, or above this thread."""
        cards = await self._requests.approvals_in_dm(self._identity.team, event["user"])
        return [approval for approval, ts in cards if event.get("thread_ts") in (None, ts)]

    async def _is_first_notice(self, event: Event) -> bool:
        return await self._threads.first_notice(self._identity.team, event["channel"], event["ts"])

    async def question(self, text: str) -> str:
        """Return the question in a message's text, as people read it."""
        return await question_from(text, bot=self._identity.user, name_of=self._app.name_of)

    async def mentioned(self, text: str) -> tuple[Mention, ...]:
        """Return the mentions in a message, except those of the bot."""
        return await mentions_from(text, bot=self._identity.user, name_of=self._app.name_of)

    async def _request(
        self, event: Event, entry: Entry, person: Person, question: str, quoted: str
    ) -> Request:
        asked_in, thread = "", event.get("thread_ts")
        is_top_level = is_direct(event) and not thread
        if is_direct(event):
            asked_in = await self._requests.asked_directly(
                self._identity.team, event["channel"], event["user"], below=thread
            )
        return Request(
            entry=entry,
            team=self._identity.team,
            channel=event["channel"],
            thread=asked_in or thread or event["ts"],
            top_level=is_top_level and (bool(asked_in) or await self._is_next(event)),
            ts=event["ts"],
            user=person.id,
            author=person.name,
            place=await self._access.place(event["channel"]),
            open_channel=await self._open_channel_name(event),
            text=question or words.ATTACHED_ONLY(),
            mentioned=await self.mentioned(str(event.get("text") or "")),
            quoted=quoted,
            files=file_refs(event.get("files") or ()),
            locale=person.locale,
            time_zone=person.time_zone,
            action_token=action_token(event),
        )

    async def _is_next(self, event: Event) -> bool:
        """Return whether nothing else is being answered in the direct message, outside its threads.

        Else the answer goes below its question, in a thread: nobody could tell what it answers.
        """
        return not await self._requests.is_busy(self._identity.team, event["channel"])

    async def _open_channel_name(self, event: Event) -> str:
        channel = channel_beside(event.get("app_context"))
        return await self._access.place(channel, otherwise="") if channel else ""

    def _help(self, event: Event) -> None:
        """Answer a message without a question with what can be asked."""
        posting = self._clients.writes.chat_postMessage(
            channel=event["channel"],
            thread_ts=event.get("thread_ts") or (None if is_direct(event) else event["ts"]),
            text=words.help_text(self._identity.name),
            metadata=reply_metadata(event["ts"]),
            unfurl_links=False,
            unfurl_media=False,
        )
        self._background.start(posting, "saying what can be asked")

    def _tell_author(self, event: Event, sentence: str) -> None:
        """Post a sentence that only the author of the message sees."""
        self._tell(event["channel"], event.get("thread_ts"), event["user"], sentence)

    def _tell(self, channel: str, thread: str | None, user: str, sentence: str) -> None:
        """Post a sentence that only `user` sees."""
        telling = self._app.tell(channel, thread, user, sentence)
        self._background.start(telling, "ephemeral reply")


def _is_answered(event: Event, entry: Entry) -> bool:
    """Return whether this event is answered directly: Slack sends two for a mention in a channel."""
    return event["type"] == "app_mention" or entry is Entry.DIRECT_MESSAGE
