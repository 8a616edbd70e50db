"""What a person had remembered about themselves, in their Home tab."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from slack_bolt.async_app import AsyncApp
from slack_bolt.context.ack.async_ack import AsyncAck
from typing_extensions import override

from bot.features.memories import words
from bot.features.memories.store import MemoryStore
from bot.slack.edge.payloads import value_of
from bot.slack.intake.slack_part import HomeViewer, SlackPart, SlackPartDeps
from bot.slack.ui.buttons import with_confirmation, with_label
from bot.slack.ui.parts import Block, context, text_object
from bot.toolkit import Memory, MemoryScope

FORGET = "forget_memory"
_MOST = 40  # a Home tab has at most 100 blocks

Body = dict[str, Any]


class MemoriesHome(SlackPart):
    """The memories of people in one workspace: each listed for its person, with a button."""

    def __init__(self, deps: SlackPartDeps) -> None:
        self._team = deps.slack.identity.team
        self._store = MemoryStore.of(deps.stores)
        self._refresh_home = deps.refresh_home

    @override
    def register(self, app: AsyncApp) -> None:
        app.action(FORGET)(self._forget)

    @override
    async def home(self, viewer: HomeViewer) -> Sequence[Block]:
        memories = await self._store.all(MemoryScope.USER, f"{self._team}:{viewer.user}")
        return memory_blocks(memories, may_ask=viewer.may_ask)

    async def _forget(self, body: Body, action: Body, ack: AsyncAck) -> None:
        user = str(body["user"]["id"])
        await self._store.forget(MemoryScope.USER, f"{self._team}:{user}", value_of(action))
        self._refresh_home(user)
        await ack()


def memory_blocks(memories: Sequence[Memory], *, may_ask: bool) -> list[Block]:
    """Return the section of a person's memories; with `may_ask` it says how to add one."""
    heading: list[Block] = [
        {"type": "divider"},
        {"type": "header", "text": text_object(words.HOME_MEMORIES())},
    ]
    if not memories:
        how = f" {words.HOME_REMEMBER()}" if may_ask else ""
        return [*heading, context(words.HOME_NO_MEMORIES() + how).block]
    newest = memories[-_MOST:]
    note = words.NEWEST_MEMORIES(shown=len(newest), count=len(memories))
    more = [context(note).block] if len(memories) > len(newest) else []
    return [*heading, *map(_memory, newest), *more]


def _memory(memory: Memory) -> Block:
    forget = {
        "type": "button",
        "action_id": FORGET,
        "text": text_object(words.FORGET()),
        "value": memory.id,
    }
    sure = {"yes": words.FORGET_IT(), "no": words.KEEP_IT()}
    return {
        "type": "section",
        "block_id": memory.id,
        "text": text_object(memory.text),
        "accessory": with_confirmation(
            with_label(forget, memory.text), words.FORGET_TITLE(), memory.text, **sure
        ),
    }
