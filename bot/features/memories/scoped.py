"""Memories, limited to those that may be shown where the current request was made."""

from __future__ import annotations

from dataclasses import dataclass

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.request import Request
from bot.features.memories.store import MemoryStore
from bot.toolkit import Memory, MemoryScope

_MOST = 100  # of one person, channel or workspace
_LONGEST = 500  # characters of one


@dataclass(frozen=True, slots=True)
class ScopedMemories:
    """The memories that the current request may use; see `bot.toolkit.provided.memories.Memories`.

    Their holder follows from the request alone, never from the model.
    """

    store: MemoryStore

    async def remember(self, text: str, scope: MemoryScope) -> Memory:
        request = current_request().request
        flat = " ".join(text.split())
        if not flat or len(flat) > _LONGEST:
            raise ToolError(f"Give 1 to {_LONGEST} characters; this has {len(flat)}.")
        holder = holder_of(scope, request)
        for known in await self.store.all(scope, holder):  # a repetition is not stored twice
            if known.by == request.user and known.text.casefold() == flat.casefold():
                return known
        memory = Memory(scope=scope, text=flat, by=request.user)
        if not await self.store.add(holder, memory, most=_MOST):
            raise ToolError(f"{_MOST} things are remembered there already: forget some first.")
        return memory

    async def recall(self) -> list[Memory]:
        return await self.known_to(current_request().request)

    async def forget(self, memory_id: str) -> Memory:
        request = current_request().request
        memory = await self._find(request, memory_id)
        if memory.by != request.user:
            raise ToolError(
                "Somebody else had that remembered; they can have it forgotten, and an admin can "
                "with forget_for_others."
            )
        await self._forget(request, memory)
        return memory

    async def forget_anybodys(self, memory_id: str, *, text: str) -> None:
        request = current_request().request
        memory = await self._find(request, memory_id)
        if memory.text != " ".join(text.split()):
            raise ToolError(f"{memory_id} says something else: {memory.text}")
        await self._forget(request, memory)

    async def _find(self, request: Request, memory_id: str) -> Memory:
        for memory in await self._of(request, list(MemoryScope)):
            if memory.id == memory_id:
                return memory
        raise ToolError(f"There is no memory {memory_id} here. recall lists them with ids.")

    async def _forget(self, request: Request, memory: Memory) -> None:
        await self.store.forget(memory.scope, holder_of(memory.scope, request), memory.id)

    async def known_to(self, request: Request) -> list[Memory]:
        """Return the memories that may be shown where the request was made."""
        scopes = [MemoryScope.WORKSPACE, MemoryScope.CHANNEL]
        if request.is_for_one:
            scopes.append(MemoryScope.USER)
        return await self._of(request, scopes)

    async def _of(self, request: Request, scopes: list[MemoryScope]) -> list[Memory]:
        return await self.store.all_of([(scope, holder_of(scope, request)) for scope in scopes])


def holder_of(scope: MemoryScope, request: Request) -> str:
    """Return the key of the person, channel or workspace whose memories a request uses."""
    holders = {
        MemoryScope.USER: f"{request.team}:{request.user}",
        MemoryScope.CHANNEL: f"{request.team}:{request.channel}",
        MemoryScope.WORKSPACE: request.team,
    }
    return holders[scope]
