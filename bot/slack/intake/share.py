"""Sharing of a private answer: posted for everybody in the thread when its asker chooses to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from functools import partial

from bot.core.errors import NotPermitted, ToolError
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.runs.policy import budget_words
from bot.slack.edge.client import Clients, Identity
from bot.slack.intake.questions import QuestionIntake
from bot.slack.message.attachments import Attachments
from bot.slack.message.message_writer import MessageWriter, PostFence
from bot.slack.message.streams import Streams
from bot.slack.ui import words
from bot.slack.ui.button_payload import ButtonPress
from bot.slack.ui.outcome import render_shared
from bot.store import Lock, PauseSwitch

Answered = Callable[[str], Awaitable[tuple[Request, Outcome] | None]]
"""Returns a request by its id with its outcome; None when they are no longer stored."""

FindArtifact = Callable[[Request, str], Awaitable[bytes | None]]
"""Returns the content of an artifact of the request's thread, by its handle."""

LockSharing = Callable[[str], AbstractAsyncContextManager[Lock | None]]
"""Locks the posting of a request's answer, by the request's id; yields None when another process
holds the lock."""


@dataclass(frozen=True, slots=True)
class AnswerSharing:
    """The sharing of private answers in one workspace. Parts already posted are not posted again."""

    identity: Identity
    clients: Clients
    questions: QuestionIntake
    answered: Answered
    find_artifact: FindArtifact
    alone: LockSharing
    switch: PauseSwitch

    async def shareable(self, press: ButtonPress) -> tuple[Request, Outcome]:
        """Return the request and outcome of the button. Raises NotPermitted with a sentence."""
        found = await self.answered(press.value)
        if found is None or not found[1].result:
            raise NotPermitted(words.CANNOT_SHARE())
        request, outcome = found
        is_theirs = request.private and request.user == press.user
        in_direct = request.kept_private and press.channel.startswith("D")
        is_here = in_direct or request.channel == press.channel
        if not is_theirs or not is_here or request.team != self.identity.team:
            raise NotPermitted(words.CANNOT_SHARE())
        await self.questions.permitted(press.user, request.channel)
        if pause := await self.switch.get():
            raise NotPermitted(budget_words.paused_card(pause))
        return request, outcome

    async def post(self, request: Request, outcome: Outcome) -> bool:
        """Post the answer. Return False when another process is posting it.

        Raises StoreError, SlackApiError and TRANSPORT_ERRORS.
        """
        async with self.alone(request.id) as lock:
            if lock is None:
                return False
            await self._post(request, outcome, lock)
            return True

    async def _post(self, request: Request, outcome: Outcome, lock: Lock) -> None:
        rendered = await asyncio.to_thread(render_shared, outcome, request)
        writer = MessageWriter(
            request.model_copy(update={"private": False}),
            PostFence(f"{outcome.run_id}:shared", lock.hold),
            clients=self.clients,
            identity=self.identity,
            streams=Streams(self.clients, self.identity),
        )
        posted = [await writer.post(number, part) for number, part in enumerate(rendered.parts)]
        attaching = Attachments(writer, partial(self._artifact, request), writer.post)
        for number, upload in enumerate(rendered.uploads, len(posted)):
            await attaching.attach_or_say(number, upload, since=posted[0])

    async def _artifact(self, request: Request, handle: str) -> bytes:
        data = await self.find_artifact(request, handle)
        if data is None:
            raise ToolError("The artifact is no longer stored.")
        return data
