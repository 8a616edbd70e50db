"""Artifacts in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from bot.core.errors import ToolError
from bot.core.ids import new_id
from bot.toolkit.provided.artifacts import Artifact, Column


class MemoryArtifacts:
    """The toolkit's `Artifacts` in memory: `kept` has metadata and content by handle, in order."""

    def __init__(self) -> None:
        self.kept: dict[str, tuple[Artifact, bytes]] = {}

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
        """See `Artifacts.save`; there is no limit."""
        artifact = Artifact(
            handle=new_id(prefix, 6),
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
        self.kept[artifact.handle] = (artifact, data)
        return artifact

    async def find(self, handle: str) -> Artifact:
        """See `Artifacts.find`."""
        if handle not in self.kept:
            raise ToolError(
                f"There is no handle {handle}. Known: {', '.join(self.kept) or 'none'}."
            )
        return self.kept[handle][0]

    async def all(self) -> list[Artifact]:
        """See `Artifacts.all`."""
        return [artifact for artifact, _ in reversed(self.kept.values())]

    async def read(self, handle: str) -> bytes:
        """See `Artifacts.read`."""
        await self.find(handle)
        return self.kept[handle][1]
