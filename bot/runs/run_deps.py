"""Dependencies of runs: the services that all runs of a place share."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from bot.agent.calls.call import Toolbox
from bot.agent.hooks.chain import HookChain
from bot.agent.limits import Limits
from bot.core.request import Entry, Request
from bot.model import Model, ModelChoices, PriceList, ServerTraits
from bot.runs.context.run_loader import RunLoader
from bot.runs.policy.access import Policy
from bot.runs.policy.approval_hook import MayAdminister, MayAsk, MayDecide
from bot.runs.policy.budgets import BudgetPolicy
from bot.runs.policy.channels import Channels
from bot.runs.policy.estimates import CallEstimates
from bot.runs.run_parts import RunPartFor
from bot.runs.settings import DirectSettings
from bot.runs.surface import EndedBy, OpenSurface, PostedMessages, Surface, never_ended
from bot.runs.watching import Listener, ListenerFor, ObservedRun, Observer
from bot.store import Stores
from bot.toolkit import Conversation
from bot.toolkit.catalogue import Catalogue
from bot.toolkit.skill import Skill
from bot.toolkit.tool import Services, Tool

if TYPE_CHECKING:
    from bot.runs.run import Run

log = logging.getLogger(__name__)

_MOST = 16
"""Catalogues in the cache: one for each list of allowed tools that is in use."""


class ToolsetCache:
    """A cache of catalogues: building one with 500 tools takes about 40 ms, finding it 20 µs."""

    def __init__(self) -> None:
        self._catalogues: deque[tuple[object, Catalogue]] = deque(maxlen=_MOST)

    def catalogue(
        self,
        own: Catalogue,
        more: Sequence[Tool],
        allowed: Sequence[str] | None,
        listed: int,
        skills: Sequence[Skill] = (),
    ) -> Catalogue:
        """Return the catalogue of the `allowed` tools out of `own` and `more`, and of the `skills`.

        The model sees the names of up to `listed` of them.
        """
        key = (own.tools, own.hosted, tuple(more), tuple(skills), allowed, listed)
        for known, catalogue in self._catalogues:
            if known == key:  # fast, as the tools are mostly the same objects
                return catalogue
        catalogue = own.joined_by(more).with_skills(skills).only(allowed).listing(listed)
        self._catalogues.append((key, catalogue))
        return catalogue


class ServerTools(Protocol):
    """Tools of servers, which may change while the bot runs; `allowed` limits them by name or group."""

    async def tools(
        self, allowed: Sequence[str] | None = None, user: str | None = None
    ) -> Sequence[Tool]:
        """Return the tools that exist now for a user. Raises StoreUnavailable."""

    def missing(self, allowed: Sequence[str] | None = None) -> Sequence[str]:
        """Return the names of servers whose tools had to be left out."""


class ToolClients(Protocol):
    """The clients that tools' own providers open; they may open and end while the bot runs."""

    @property
    def open(self) -> Mapping[type, object]:
        """The clients that are open now, by type."""

    async def settle(self) -> None:
        """Wait until each provider has opened its client or failed once."""

    def missing(self, tools: Iterable[Tool]) -> Sequence[str]:
        """Return the groups of `tools` that are off because a client is not open."""


@dataclass(frozen=True, slots=True)
class Frontend:
    """A place where people ask and read answers: a Slack workspace, a terminal, an evaluation case.

    `services` are what it offers to tools besides `conversation`; a tool whose services are missing
    is not offered. The three functions decide who may approve a call, who is an admin, and whether
    the asker may still ask. `reaches_asker` says whether questions reach a person. `ended_by` finds answers that stand there already. `surfaces` are those of
    some entries instead of `open_surface`, and `listeners` listen to its runs.
    """

    conversation: Conversation
    open_surface: OpenSurface
    may_decide: MayDecide
    may_administer: MayAdminister
    may_ask: MayAsk
    services: Services
    reaches_asker: bool = False
    ended_by: EndedBy = never_ended
    surfaces: Mapping[Entry, OpenSurface] = field(default_factory=dict)
    listeners: Sequence[ListenerFor] = ()

    def surface(
        self, request: Request, post: PostedMessages
    ) -> AbstractAsyncContextManager[Surface]:
        """Open the surface of a request."""
        return self.surfaces.get(request.entry, self.open_surface)(request, post)


HooksFor = Callable[["Run"], HookChain]
"""Returns all hooks of a run, in order."""


@dataclass(frozen=True, slots=True)
class RunDeps:
    """The dependencies that all runs of a frontend share.

    With `images`, the model sees the images that people attach. `parts` make what features add to a
    run, and `observers` listen to it. Once `draining` is set, runs stop at their next save point.
    """

    stores: Stores
    frontend: Frontend
    toolbox: Toolbox
    model: Model
    models: ModelChoices
    prices: PriceList
    estimates: CallEstimates
    limits: Limits
    hooks_for: HooksFor
    budgets: BudgetPolicy
    channels: Channels
    server_tools: ServerTools
    clients: ToolClients
    toolset_cache: ToolsetCache
    policy: Policy
    draining: asyncio.Event
    images: bool
    direct: DirectSettings
    parts: tuple[RunPartFor, ...] = ()
    observers: tuple[Observer, ...] = ()
    temperature: float | None = None
    traits: ServerTraits = field(default_factory=ServerTraits)
    dry_run: bool = False

    @property
    def loader(self) -> RunLoader:
        """The loader of the state that a run starts from."""
        conversation = self.frontend.conversation
        return RunLoader(self.stores, conversation, self.images, self.direct)

    def observed(self, request: Request) -> tuple[ObservedRun, ...]:
        """Return what the observers of the process make of a run."""
        return tuple(observer.listener(request) for observer in self.observers)

    def listeners_to(self, request: Request) -> tuple[Listener, ...]:
        """Return the listeners of features to a run; without those that cannot be made."""
        made = list[Listener]()
        for listener_for in self.frontend.listeners:
            try:
                made.append(listener_for(request))
            except Exception:
                log.exception("a run has no listener of %r", listener_for)
        return tuple(made)
