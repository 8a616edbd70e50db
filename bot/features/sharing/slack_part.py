"""A private answer that its asker shares in its thread, and a draft that they post there."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial

from typing_extensions import override

from bot.core.answers import DraftReply, stored_name
from bot.core.audit import AuditEntry
from bot.core.audit_kinds import AuditKind
from bot.core.errors import NotPermitted, ToolError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.features.sharing import words
from bot.runs.context.artifacts import ThreadArtifacts
from bot.runs.policy import budget_words
from bot.slack.intake.press import ButtonPress, Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import SlackPart
from bot.slack.message.attachments import Attachments
from bot.slack.message.message_writer import MessageWriter, PostFence
from bot.slack.message.streams import Streams
from bot.slack.ui.buttons import without_actions
from bot.slack.ui.outcome import render_draft, render_shared
from bot.slack.ui.parts import Part, Upload
from bot.store import Lock


def is_draft(outcome: Outcome) -> bool:
    """Return whether the answer is a draft, of which the text alone is posted."""
    return outcome.response_type == stored_name(DraftReply)


def _rendered(outcome: Outcome, request: Request) -> tuple[Sequence[Part], Sequence[Upload]]:
    if is_draft(outcome):
        return render_draft(outcome, request), ()
    rendered = render_shared(outcome, request)
    return rendered.parts, rendered.uploads


class AnswerSharing:
    """The sharing of answers and drafts in one workspace. Parts already posted are not posted again."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._artifacts = ThreadArtifacts(app.stores.artifacts)

    async def shareable(self, press: ButtonPress) -> tuple[Request, Outcome]:
        """Return the request and outcome of the button. Raises NotPermitted with a sentence."""
        found = await self._app.requests.answered(press.value)
        if found is None or not found[1].result:
            raise NotPermitted(words.CANNOT_SHARE())
        request, outcome = found
        if is_draft(outcome) and not request.private and request.user != press.user:
            raise NotPermitted(words.ONLY_ASKER(person=request.user))
        is_theirs = (request.private or is_draft(outcome)) and request.user == press.user
        in_direct = request.kept_private and press.channel.startswith("D")
        is_here = in_direct or request.channel == press.channel
        if not is_theirs or not is_here or request.team != self._app.identity.team:
            raise NotPermitted(words.CANNOT_SHARE())
        await self._app.questions.permitted(press.user, request.channel)
        if pause := await self._app.stores.pause.get():
            raise NotPermitted(budget_words.paused_card(pause))
        return request, outcome

    async def post(self, request: Request, outcome: Outcome) -> bool:
        """Post the answer. Return False when another process is posting it.

        Raises StoreError, SlackApiError and TRANSPORT_ERRORS.
        """
        async with self._app.stores.sharing(request.id) as lock:
            if lock is None:
                return False
            entry = AuditEntry(
                kind=AuditKind.DECIDED,
                team=request.team,
                who=request.user,
                channel=request.channel,
                what="posted a draft" if is_draft(outcome) else "shared an answer",
            )
            await self._app.record([entry])  # first: never a post without an entry
            await self._post(request, outcome, lock)
            return True

    async def _post(self, request: Request, outcome: Outcome, lock: Lock) -> None:
        parts, uploads = await asyncio.to_thread(_rendered, outcome, request)
        writer = MessageWriter(
            request.model_copy(update={"private": False}),
            PostFence(f"{outcome.run_id}:shared", lock.hold),
            clients=self._app.clients,
            identity=self._app.identity,
            streams=Streams(self._app.clients, self._app.identity),
        )
        posted = [await writer.post(number, part) for number, part in enumerate(parts)]
        attaching = Attachments(writer, partial(self._artifact, request), writer.post)
        for number, upload in enumerate(uploads, len(posted)):
            await attaching.attach_or_say(number, upload, since=posted[0])

    async def _artifact(self, request: Request, handle: str) -> bytes:
        data = await self._artifacts.of(request, handle)
        if data is None:
            raise ToolError("The artifact is no longer stored.")
        return data


SHARE, POST = "share_answer", "post_draft"
_SOON = 3.0  # seconds in which posting an answer is usually complete


class SharingPart(SlackPart):
    """Sharing in one workspace. A private answer is deleted when the shared one is posted; the draft in
    a thread loses its button."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._sharing = AnswerSharing(app)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(SHARE, POST)(self._pressed)

    async def _pressed(self, press: Press) -> None:
        request, outcome = await self._sharing.shareable(press)
        press.later(self._share(press, request, outcome), "sharing an answer")

    async def _share(self, press: Press, request: Request, outcome: Outcome) -> str:
        done = await self._sharing.post(request, outcome)
        if not done:  # another press is posting it, as after a double click, or its process died
            await asyncio.sleep(_SOON)
            done = await self._sharing.post(request, outcome)
        if not done:
            return words.SHARING()
        if press.is_private or request.private:
            await press.respond(delete_original=True)
        else:
            await self._take_away(press)
        return ""

    async def _take_away(self, press: Press) -> None:
        """Remove the button from the message with the draft. Safe to repeat."""
        message = press.body.get("message") or {}
        if blocks := without_actions(message.get("blocks") or (), POST):
            await self._app.clients.updates.chat_update(
                channel=press.channel,
                ts=press.message,
                text=message.get("text") or "",
                blocks=blocks,
            )
