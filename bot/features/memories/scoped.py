"""Memories, limited to those that may be shown where the current request was made."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

from bot.core.context import current_request
from bot.core.errors import ToolError
from bot.core.request import RepeatReason, Request
from bot.features.memories.clauses import has_clauses
from bot.features.memories.store import MemoryStore
from bot.runs.policy.preferences import MAX_STYLE, PreferenceBook
from bot.store import Stores
from bot.toolkit import Memory, MemoryScope

_MOST = 100  # of one person, channel or workspace
_LONGEST = 500  # characters of one
_WISH = "wish_"


@dataclass(frozen=True, slots=True)
class ScopedMemories:
    """The memories that the current request may use; see `bot.toolkit.provided.memories.Memories`.

    Their holder follows from the request alone, never from the model.
    """

    store: MemoryStore
    preferences: PreferenceBook

    @classmethod
    def of(cls, stores: Stores) -> ScopedMemories:
        """Return the memories in `stores`."""
        return cls(MemoryStore.of(stores), PreferenceBook(stores.preferences))

    async def remember(self, text: str, scope: MemoryScope) -> Memory:
        request, flat = current_request().request, _flat(text)
        holder = holder_of(scope, request)
        for known in await self.store.all(scope, holder):  # a repetition is not stored twice
            if known.by == request.user and known.text.casefold() == flat.casefold():
                return known
        memory = Memory(scope=scope, text=flat, by=request.user, own_words=_is_written(flat))
        if not await self.store.add(holder, memory, most=_MOST):
            raise ToolError(f"{_MOST} things are remembered there already: forget some first.")
        return memory

    async def wish(self, text: str) -> str:
        request, flat = current_request().request, _flat(text)
        if not _is_written(flat):
            raise ToolError(
                "That is not what the person wrote in this message. Copy a whole sentence of their own words, or "
                "what follows the words that ask to remember it; or leave it: "
                "they can write it themselves in the Home tab."
            )

        def with_wish(style: str) -> str:
            wishes = [w for w in style.splitlines() if w.casefold() != flat.casefold()]
            longer = "\n".join([*wishes, flat])
            if len(longer) > MAX_STYLE:
                raise ToolError(
                    f"Their wishes may have {MAX_STYLE:,} characters. They can shorten them in the Home tab."
                )
            return longer

        await self.preferences.restyle(request.team, request.user, with_wish)
        return _wish(request, flat).id

    async def recall(self) -> list[Memory]:
        request = current_request().request
        return [*await self.known_to(request), *await self._wishes(request)]

    async def _wishes(self, request: Request) -> list[Memory]:
        """Return the asker's wishes how they want to be answered, where nobody else reads them."""
        if not request.is_for_one:
            return []
        style = (await self.preferences.of(request.team, request.user)).style
        return [_wish(request, line) for line in style.splitlines() if line.strip()]

    async def forget(self, memory_id: str) -> Memory:
        request = current_request().request
        if memory_id.startswith(_WISH):
            return await self._forget_wish(request, memory_id)
        memory = await self._find(request, memory_id)
        if memory.by != request.user:
            raise ToolError(
                "Somebody else had that remembered; they can have it forgotten, and an admin can "
                "with forget_for_others."
            )
        await self._forget(request, memory)
        return memory

    async def _forget_wish(self, request: Request, wish_id: str) -> Memory:
        gone = list[Memory]()

        def without_wish(style: str) -> str:
            wishes = {line: _wish(request, line) for line in style.splitlines()}
            gone[:] = [wish for wish in wishes.values() if wish.id == wish_id]
            return "\n".join(line for line, wish in wishes.items() if wish.id != wish_id)

        await self.preferences.restyle(request.team, request.user, without_wish)
        if not gone:
            raise ToolError(f"There is no wish {wish_id}. In a direct message recall lists them.")
        return gone[0]

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
        if request.is_by_rule:
            return []
        scopes = [MemoryScope.WORKSPACE, MemoryScope.CHANNEL]
        if request.is_for_one:
            scopes.append(MemoryScope.USER)
        return await self._of(request, scopes)

    async def _of(self, request: Request, scopes: list[MemoryScope]) -> list[Memory]:
        return await self.store.all_of([(scope, holder_of(scope, request)) for scope in scopes])


def _flat(text: str) -> str:
    """Return the text in one line. Raises ToolError if it is empty or too long."""
    flat = " ".join(text.split())
    if not flat or len(flat) > _LONGEST:
        raise ToolError(f"Give 1 to {_LONGEST} characters; this has {len(flat)}.")
    return flat


def _is_written(flat: str) -> bool:
    """Return whether these words are whole clauses of what the asker wrote in what the run answers.

    What others wrote, a page for example, can so neither become a wish nor be told as the asker's.
    Who presses Retry in a channel may be another person than who wrote the question.
    """
    context = current_request()
    return any(
        has_clauses(request.text, flat)
        for request in context.requests
        if request.user == context.user
        and not request.suggested
        and (request.again in (None, RepeatReason.EDITED) or request.is_for_one)
    )


def _wish(request: Request, line: str) -> Memory:
    """Return a line of the asker's answer style as a memory, whose id follows from its words."""
    number = hashlib.sha256(" ".join(line.split()).casefold().encode()).hexdigest()[:8]
    return Memory(
        id=f"{_WISH}{number}", scope=MemoryScope.USER, text=line, by=request.user, own_words=True
    )


def holder_of(scope: MemoryScope, request: Request) -> str:
    """Return the key of the person, channel or workspace whose memories a request uses."""
    holders = {
        MemoryScope.USER: f"{request.team}:{request.user}",
        MemoryScope.CHANNEL: f"{request.team}:{request.channel}",
        MemoryScope.WORKSPACE: request.team,
    }
    return holders[scope]
