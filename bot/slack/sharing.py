"""An answer that one person saw alone, posted for all in its thread when that person says so."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field

from bot.core.errors import NotPermitted
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.slack.asking import Asking
from bot.slack.client import Clients, Identity
from bot.slack.poster import Poster
from bot.slack.pressed import Pressed
from bot.slack.render import words
from bot.slack.render.outcome import render_shared
from bot.slack.render.parts import Upload
from bot.slack.streams import Streams

Answered = Callable[[str], Awaitable[tuple[Request, Outcome] | None]]
"""A request by its id, and how it ended; None when that is not kept."""

FindArtifact = Callable[[Request, str], Awaitable[bytes | None]]
"""The content of an artifact of the request's thread, by its handle."""


@dataclass(frozen=True, slots=True)
class _SharedPost:
    """Marks the messages as shared of that run. No worker holds the thread for them: they are found
    again by their marks."""

    run_id: str

    async def may_write(self) -> None:
        """It always may."""


@dataclass(frozen=True, slots=True)
class Sharing:
    """Posts each answer once: what is up of it already is not posted again."""

    identity: Identity
    clients: Clients
    asking: Asking
    answered: Answered
    find_artifact: FindArtifact
    _under_way: set[str] = field(default_factory=set)

    async def wanted(self, press: Pressed) -> tuple[Request, Outcome]:
        """What the button is about. Raises NotPermitted with a sentence for who pressed."""
        found = await self.answered(press.value)
        if found is None or not found[1].result:
            raise NotPermitted(words.CANNOT_SHARE)
        request, outcome = found
        is_theirs = request.private and request.user == press.user
        if not is_theirs or request.channel != press.channel or request.team != self.identity.team:
            raise NotPermitted(words.CANNOT_SHARE)
        await self.asking.permitted(press.user, request.channel)
        return request, outcome

    async def post(self, request: Request, outcome: Outcome) -> bool:
        """Post it; False when that is under way."""
        if request.id in self._under_way:
            return False
        self._under_way.add(request.id)
        try:
            await self._post(request, outcome)
        finally:
            self._under_way.discard(request.id)
        return True

    async def _post(self, request: Request, outcome: Outcome) -> None:
        rendered = await asyncio.to_thread(render_shared, outcome, request)
        poster = Poster(
            request.model_copy(update={"private": False}),
            _SharedPost(f"{outcome.run_id}:shared"),
            clients=self.clients,
            identity=self.identity,
            streams=Streams(self.clients, self.identity),
        )
        posted = [await poster.post(number, part) for number, part in enumerate(rendered.parts)]
        for upload in rendered.uploads:
            if data := await self._data(request, upload):
                await poster.attach(upload, data, since=posted[0])

    async def _data(self, request: Request, upload: Upload) -> bytes | None:
        return await self.find_artifact(request, upload.handle) if upload.handle else upload.data
