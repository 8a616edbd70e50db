"""What a person had remembered about themselves, in their Home tab."""

from __future__ import annotations

from collections.abc import Sequence

from typing_extensions import override

from bot.features.memories import words
from bot.features.memories.store import MemoryStore
from bot.slack.intake.press import Press
from bot.slack.intake.slack_app import SlackApp
from bot.slack.intake.slack_part import HomeViewer, SlackPart
from bot.slack.ui.blocks import (
    Block,
    button,
    divider,
    header,
    plain_section,
    with_confirmation,
    with_label,
)
from bot.slack.ui.parts import context
from bot.toolkit import Memory, MemoryScope

FORGET = "forget_memory"
_MOST = 40  # a Home tab has at most 100 blocks


class MemoriesHome(SlackPart):
    """The memories of people in one workspace: each listed for its person, with a button."""

    def __init__(self, app: SlackApp) -> None:
        self._app = app
        self._store = MemoryStore.of(app.stores)

    @override
    def register(self, app: SlackApp) -> None:
        app.button(FORGET)(self._forget)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        memories = await self._store.all(MemoryScope.USER, self._holder(viewer.user))
        return memory_blocks(memories, may_ask=viewer.may_ask)

    async def _forget(self, press: Press) -> None:
        await self._store.forget(MemoryScope.USER, self._holder(press.user), press.value)
        self._app.refresh_home(press.user)

    def _holder(self, user: str) -> str:
        return f"{self._app.team}:{user}"


def memory_blocks(memories: Sequence[Memory], *, may_ask: bool) -> list[Block]:
    """Return the section of a person's memories; with `may_ask` it says how to add one."""
    heading = [divider(), header(words.HOME_MEMORIES())]
    if not memories:
        how = f" {words.HOME_REMEMBER()}" if may_ask else ""
        return [*heading, context(words.HOME_NO_MEMORIES() + how).block]
    newest = memories[-_MOST:]
    note = words.NEWEST_MEMORIES(shown=len(newest), count=len(memories))
    more = [context(note).block] if len(memories) > len(newest) else []
    return [*heading, *map(_memory, newest), *more]


def _memory(memory: Memory) -> Block:
    forget = with_confirmation(
        with_label(button(words.FORGET(), FORGET, memory.id), memory.text),
        words.FORGET_TITLE(),
        memory.text,
        yes=words.FORGET_IT(),
        no=words.KEEP_IT(),
    )
    return plain_section(memory.text, forget, block_id=memory.id)
