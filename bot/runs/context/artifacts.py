"""Artifacts of a thread: the toolkit's artifacts in the store, scoped to the current request.

Artifacts of a private request are visible only to private requests of the same person, and so are
those that are saved once a run has read data of the asker's own accounts.
"""

from __future__ import annotations

import difflib
import hashlib
from collections.abc import Sequence

from bot.core.chain import SavedArtifact
from bot.core.context import RequestContext, current_request
from bot.core.errors import ToolError
from bot.core.ids import new_id
from bot.core.request import Request
from bot.store import ArtifactStore
from bot.store.values import decode
from bot.toolkit.provided.artifacts import Artifact, Column

MAX_BYTES = 32 * 1024 * 1024
PER_DAY = 500 * 1024 * 1024
"""Bytes that one person may save in a day: Redis keeps them for a week, and must not fill up."""


class ThreadArtifacts:
    """The artifacts of the current request's thread; see `bot.toolkit.provided.artifacts.Artifacts`."""

    def __init__(
        self, store: ArtifactStore, *, max_bytes: int = MAX_BYTES, per_day: int = PER_DAY
    ) -> None:
        self._store = store
        self._max_bytes = max_bytes
        self._per_day = per_day

    async def save(
        self,
        data: bytes,
        *,
        name: str,
        media_type: str,
        prefix: str = "art",
        rows: int | None = None,
        columns: tuple[Column, ...] = (),
        source_title: str = "",
        source_url: str | None = None,
        left_out: Sequence[str] = (),
        raw_sha256: str = "",
    ) -> Artifact:
        if len(data) > self._max_bytes:
            raise ToolError(
                f"{name} is too large to keep: {len(data):,} bytes, and {self._max_bytes:,} are "
                "allowed. Ask for less of it: fewer rows or columns, or a shorter range."
            )
        artifact = Artifact(
            handle=new_id(prefix, 8),
            name=name,
            media_type=media_type,
            size=len(data),
            sha256=hashlib.sha256(data).hexdigest(),
            raw_sha256=raw_sha256,
            rows=rows,
            columns=columns,
            source_title=source_title,
            source_url=source_url,
            left_out=tuple(left_out),
        )
        context = current_request()
        request, place = context.request, _place(context.request, is_private=_is_private(context))
        if await self._store.count(request.team, request.user, len(data)) > self._per_day:
            raise ToolError(
                f"{name} cannot be kept: what this person has had saved today is as much as one may. "
                "Go on with what is saved, and say so."
            )
        await self._store.put(place, artifact.handle, artifact.model_dump_json(), data)
        current_request().artifacts.saved[artifact.handle] = SavedArtifact(
            handle=artifact.handle, sha256=artifact.sha256, raw_sha256=raw_sha256
        )
        return artifact

    async def find(self, handle: str) -> Artifact:
        found = await self._find(handle)
        current_request().artifacts.read[handle] = None
        return found

    async def all(self) -> list[Artifact]:
        found = [await self._find(handle) for handle in await self._handles()]
        return sorted(found, key=lambda each: each.created, reverse=True)

    async def read(self, handle: str) -> bytes:
        data = await self._in(await self._places(current_request()), handle)
        if data is None:
            raise await self._unknown(handle)
        current_request().artifacts.read[handle] = None
        return data

    async def _find(self, handle: str) -> Artifact:
        for place in await self._places(current_request()):
            description = await self._store.description(place, handle)
            if description is not None:
                return decode(Artifact, description)
        raise await self._unknown(handle)

    async def of(self, request: Request, handle: str) -> bytes | None:
        """Return the content of an artifact that `request` may see; None when there is none."""
        return await self._in(await self._places_of(request, is_private=request.private), handle)

    async def _in(self, places: Sequence[str], handle: str) -> bytes | None:
        for place in places:
            data = await self._store.data(place, handle)
            if data is not None:
                return data
        return None

    async def _unknown(self, handle: str) -> ToolError:
        handles = await self._handles()
        near = difflib.get_close_matches(handle, handles, n=3, cutoff=0.5) or handles[-3:]
        if not near:
            return ToolError(f"There is no artifact {handle}: this thread has none.")
        return ToolError(
            f"There is no artifact {handle}, or it has expired. Nearest: {', '.join(near)}."
        )

    async def _places(self, context: RequestContext) -> list[str]:
        return await self._places_of(context.request, is_private=_is_private(context))

    async def _places_of(self, request: Request, *, is_private: bool) -> list[str]:
        """Return the scopes in which the artifacts that `request` may use are found.

        A thread of a direct message also has those of the exchanges that it was given.
        """
        own = [_place(request, is_private=True)] if is_private else []
        if not request.channel.startswith("D"):
            return [*own, request.thread_key]
        return [*own, *await self._store.places(request.thread_key)]

    async def _handles(self) -> list[str]:
        places = await self._places(current_request())
        return [each for place in places for each in await self._store.handles(place)]


def _is_private(context: RequestContext) -> bool:
    """Return whether what the run saves is for its asker alone."""
    return context.request.private or context.is_personal


def _place(request: Request, *, is_private: bool) -> str:
    """Return the scope of a thread, or of what the asker alone may see of it."""
    key = request.thread_key
    return f"{key}:{request.user}" if is_private else key
