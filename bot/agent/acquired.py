"""The texts of what was acquired, in the conversation: what a tool says of itself, such as a
database's schema, and whatever else the catalogue has an `AcquiredText` for.

Each is one note of ours. It enters the conversation before the request after it was acquired, and is put
back in front wherever a chain begins anew. `LoopState.noted` says which texts the chain has.
"""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Iterable, Mapping
from dataclasses import replace

from bot.agent import prompts
from bot.agent.calls.outputs import mark_as_data
from bot.agent.compaction import UNKNOWN_WINDOW
from bot.agent.interrupt import Interrupted
from bot.agent.phases import Phases
from bot.agent.state import LoopState
from bot.core.chain import Item
from bot.core.context import bound_request
from bot.core.errors import ToolError
from bot.text.invisible_text import without_invisible
from bot.text.redaction import redacted
from bot.text.token_estimate import estimated_tokens
from bot.toolkit.acquired_text import AcquiredText
from bot.toolkit.size import Room, shortened

log = logging.getLogger(__name__)

_SHARE = 10  # the notes of one time take at most the window divided by this
_NAMED = ""  # in the place of the digest of a text that had no room

Notes = tuple[Item, ...]


async def in_front(
    phases: Phases, state: LoopState, items: Iterable[Item]
) -> tuple[LoopState, Notes]:
    """Return the `items` with which a chain begins anew, with the notes of all that is acquired in
    front, each once, and `state` with what the chain has."""
    state, notes = await lacking(phases, state.replace(noted={}))
    return state, (*notes, *without_notes(items))


async def lacking(phases: Phases, state: LoopState) -> tuple[LoopState, Notes]:
    """Return the notes that the chain of `state` lacks, and the state after they are added.

    These are the texts of what was acquired since the last request, and those that have changed.
    Together they take at most a tenth of the window, the newest first: one that is too long alone is
    cut, the others are named, so that the model can acquire them again. Stop and the deadline
    interrupt their making, and then they are still lacking. What is no longer available, such as a skill
    that the channel does not have any more, is said to count no longer.
    """
    text_of = phases.deps.toolbox.catalogue.text_of
    noted = _noted(state)
    if gone := [name for name, digest in noted.items() if digest and text_of(name) is None]:
        noted = {name: digest for name, digest in noted.items() if name not in gone}
        state, added = await lacking(phases, state.replace(noted=noted))
        return state, (prompts.acquired_before(gone), *added)
    known = {name: text_of(name) for name in (*noted, *state.acquired)}
    wanted = {name: text for name, text in known.items() if text and _lacks(noted, name, text)}
    if not wanted:
        return state if noted == state.noted else state.replace(noted=noted), ()
    try:
        with phases.deps.interrupt.within(phases.hook_deadline(state)):
            made = await asyncio.gather(*(_made(phases, *each) for each in wanted.items()))
    except (Interrupted, TimeoutError):
        return state.replace(noted=noted), ()
    notes, digests, named = list[Item](), dict[str, str](), list[str]()
    room = (phases.window_size(state) or UNKNOWN_WINDOW) // _SHARE
    for (name, text), words in reversed([*zip(wanted.items(), made, strict=True)]):
        tokens = estimated_tokens(words)
        if notes and tokens > room:
            named.append(name)
            digests[name] = _NAMED
            continue
        digests[name] = text.digest or hashlib.sha256(words.encode()).hexdigest()
        if words:
            shown = shortened(words, Room(len(words), room))
            if text.is_data:
                shown = mark_as_data(shown, _mark(phases.deps.context.run_id, words))
            notes.append(prompts.acquired(name, shown, is_new=bool(noted.get(name))))
            room -= min(room, tokens)
    if named:
        notes.append(prompts.acquired_without_text(named[::-1]))
    others = {name: digest for name, digest in noted.items() if name not in wanted}
    noted = others | {name: digests[name] for name in wanted}
    return state.replace(noted=noted), tuple(reversed(notes))


def without_notes(items: Iterable[Item]) -> Notes:
    """Return `items` without the notes of what is acquired."""
    return tuple(item for item in items if not prompts.names_acquired(item))


def _noted(state: LoopState) -> dict[str, str]:
    """Return what the chain has; a stateless one may have lost it, as entries of the ledger expire."""
    if not state.stateless:
        return dict(state.noted)
    has = {name for item in state.conversation for name in prompts.names_acquired(item)}
    return {name: digest for name, digest in state.noted.items() if name in has}


def _lacks(noted: Mapping[str, str], name: str, text: AcquiredText) -> bool:
    """Return whether a chain that has the texts `noted` lacks one, or has an older one."""
    if name not in noted:
        return True
    return bool(text.digest) and noted[name] not in (_NAMED, text.digest)


def _mark(run_id: str, words: str) -> str:
    """Return a mark that the author of the words cannot know, and that is the same when a run resumes."""
    return hashlib.sha256(f"{run_id}\n{words}".encode()).hexdigest()[:8]


async def _made(phases: Phases, name: str, text: AcquiredText) -> str:
    """Return the words of a text; "" if it cannot be made."""
    deps = phases.deps
    deadline = phases.began + deps.limits.run_seconds
    try:
        with bound_request(replace(deps.context, deadline=deadline)):
            async with asyncio.timeout(text.seconds):
                words = await text.make(deps.toolbox.services)
    except (ToolError, TimeoutError) as error:
        return f"(Its notes could not be loaded: {str(error) or 'it took too long'})"
    except Exception:
        log.exception("the text of what was acquired failed", extra={"tool": name})
        return ""
    return redacted(without_invisible(words))
