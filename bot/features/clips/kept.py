"""Transcripts that were paid for, kept for a few days, so that nobody pays twice for the same clip.

Each is encrypted with a key made of the bytes of its clip. Whoever may download the clip can read it,
and nobody else, from Redis neither; once a clip is deleted, its transcript cannot be read any more.
"""

from __future__ import annotations

import asyncio
import base64
import hashlib
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from pydantic import BaseModel, ConfigDict, ValidationError

from bot.core.background import alongside
from bot.features.clips.transcript import Transcript
from bot.store import Stores
from bot.store.families import Family
from bot.store.leases import Lock, locked
from bot.store.sealed import SealedBox
from bot.store.values import Value

KEPT, LOCK = "clips", "clips-lock"
FAMILIES = (Family(KEPT, is_brief=True), Family(LOCK, is_brief=True))
DAYS = 7
_LOCK_SECONDS, _RENEW_SECONDS, _POLL_SECONDS = 6, 2.0, 0.25


class Sealed(BaseModel):
    """An encrypted transcript."""

    model_config = ConfigDict(frozen=True)

    text: str
    version: int = 1


@dataclass(frozen=True, slots=True)
class KeptTranscript:
    """The transcript that one model made of one clip: a place for it, which may be empty."""

    value: Value[Sealed]
    lock: tuple[str, ...]
    box: SealedBox

    @classmethod
    def of(
        cls, stores: Stores, team: str, by: str, file_id: str, digest: bytes, model: str
    ) -> KeptTranscript:
        """Return the place for a clip of the person `by`, with whom it is erased; `digest` is the
        SHA-256 of its bytes."""
        name = hashlib.sha256(b"name" + digest + model.encode()).hexdigest()[:32]
        key = base64.urlsafe_b64encode(hashlib.sha256(b"seal" + digest).digest()).decode()
        place = (team, by or "unknown", file_id, name)
        value = Value(stores.redis, stores.redis.key(KEPT, *place), Sealed, DAYS * 86_400)
        return cls(value, (LOCK, *place), SealedBox([key]))

    async def get(self) -> Transcript | None:
        """Return the transcript; None if there is none yet."""
        sealed = await self.value.get_readable()
        try:
            opened = self.box.decrypt(sealed.text.encode()) if sealed else None
            return Transcript.model_validate_json(opened) if opened else None
        except ValidationError:
            return None

    async def set(self, transcript: Transcript) -> None:
        """Keep a transcript."""
        text = self.box.encrypt(transcript.model_dump_json().encode()).decode()
        await self.value.set(Sealed(text=text))

    @asynccontextmanager
    async def made_once(self) -> AsyncGenerator[Transcript | None]:
        """Let one run at a time make the transcript. Yield one that is there, or that another has made
        meanwhile; None to the run that makes it in the body.

        A worker that was killed blocks others for some seconds.
        """
        while True:
            if transcript := await self.get():
                yield transcript
                return
            async with locked(self.value.redis, *self.lock, seconds=_LOCK_SECONDS) as lock:
                if lock:
                    async with alongside(_hold(lock), name="a clip is transcribed"):
                        yield await self.get()
                    return
            await asyncio.sleep(_POLL_SECONDS)


async def _hold(lock: Lock) -> None:
    while True:
        await asyncio.sleep(_RENEW_SECONDS)
        await lock.hold()
