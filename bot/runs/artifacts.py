"""The toolkit's artifacts, kept in the store and scoped to the thread of the current request."""

from __future__ import annotations

import difflib
import hashlib

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.ids import new_id
from bot.store import ArtifactStore
from bot.store.values import decode
from bot.toolkit.artifacts import Artifact, Column

MAX_BYTES = 32 * 1024 * 1024


class ThreadArtifacts:
    """Implements `Artifacts` (its contracts stand there)."""

    def __init__(self, store: ArtifactStore, *, max_bytes: int = MAX_BYTES) -> None:
        self._store = store
        self._max_bytes = max_bytes

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
            rows=rows,
            columns=columns,
            source_title=source_title,
            source_url=source_url,
        )
        await self._store.put(_thread(), artifact.handle, artifact.model_dump_json(), data)
        return artifact

    async def find(self, handle: str) -> Artifact:
        description = await self._store.description(_thread(), handle)
        if description is None:
            raise await self._unknown(handle)
        return decode(Artifact, description)

    async def read(self, handle: str) -> bytes:
        data = await self._store.data(_thread(), handle)
        if data is None:
            raise await self._unknown(handle)
        return data

    async def _unknown(self, handle: str) -> ToolError:
        handles = await self._store.handles(_thread())
        near = difflib.get_close_matches(handle, handles, n=3, cutoff=0.5) or handles[-3:]
        if not near:
            return ToolError(f"There is no artifact {handle}: this thread has none.")
        return ToolError(
            f"There is no artifact {handle}, or it has expired. Nearest: {', '.join(near)}."
        )


def _thread() -> str:
    return current_request().request.thread_key
