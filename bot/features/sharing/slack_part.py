"""A private answer that its asker shares in its thread."""

from __future__ import annotations

import asyncio
from functools import partial

from typing_extensions import override

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
from bot.slack.ui.outcome import render_shared
from bot.store import Lock


class AnswerSharing:
    """The sharing of private answers in one workspace. Parts already posted are not posted again."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._artifacts = ThreadArtifacts(app.stores.artifacts)

    async def shareable(self, press: ButtonPress) -> tuple[Request, Outcome]:
        """Return the request and outcome of the button. Raises NotPermitted with a sentence."""
        found = await self._app.requests.answered(press.value)
        if found is None or not found[1].result:
            raise NotPermitted(words.CANNOT_SHARE())
        request, outcome = found
        is_theirs = request.private and request.user == press.user
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
            await self._post(request, outcome, lock)
            return True

    async def _post(self, request: Request, outcome: Outcome, lock: Lock) -> None:
        rendered = await asyncio.to_thread(render_shared, outcome, request)
        writer = MessageWriter(
            request.model_copy(update={"private": False}),
            PostFence(f"{outcome.run_id}:shared", lock.hold),
            clients=self._app.clients,
            identity=self._app.identity,
            streams=Streams(self._app.clients, self._app.identity),
        )
        posted = [await writer.post(number, part) for number, part in enumerate(rendered.parts)]
        attaching = Attachments(writer, partial(self._artifact, request), writer.post)
        for number, upload in enumerate(rendered.uploads, len(posted)):
            await attaching.attach_or_say(number, upload, since=posted[0])

    async def _artifact(self, request: Request, handle: str) -> bytes:
        data = await self._artifacts.of(request, handle)
        if data is None:
            raise ToolError("The artifact is no longer stored.")
        return data


SHARE = "share_answer"
_SOON = 3.0  # seconds in which posting an answer is usually complete


class SharingPart(SlackPart):
    """Sharing in one workspace. The private answer is deleted when the shared one is posted."""

    def __init__(self, app: SlackApp) -> None:
        self._sharing = AnswerSharing(app)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(SHARE)(self._pressed)

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
        await press.respond(delete_original=True)
        return ""
