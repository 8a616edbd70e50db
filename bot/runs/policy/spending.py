"""What one run spends: room is held before each call to a model, and charged after it (G6)."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from dataclasses import dataclass
from types import TracebackType

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.events import Event, RoomAwaited
from bot.agent.hooks.chain import Hooks, Permission
from bot.agent.interrupt import Interrupt
from bot.agent.limits import Limits
from bot.agent.state import LoopState
from bot.core.budgets import Account, Budget, Cap, OverBudget, Pause, Spent, accounts_of
from bot.core.chain import NO_USAGE, Usage
from bot.core.errors import CallRefused, ModelError, ModelErrorKind, StoreUnavailable
from bot.core.ids import new_id
from bot.core.outcome import Outcome, StopReason
from bot.core.request import Request
from bot.model import (
    ArgumentsPart,
    Model,
    ModelRequest,
    ModelResponse,
    Progress,
    ReasoningPart,
    TextPart,
)
from bot.runs.endings import CauseAndAdvice, explain
from bot.runs.outcomes import not_admitted
from bot.runs.policy import budget_words
from bot.runs.policy.budgets import BudgetPolicy, Standing
from bot.runs.policy.estimates import CallEstimates, ExpectedCall, expected_call
from bot.store import Place, Reservation, Reserved, Room
from bot.toolkit.tool import Tool

log = logging.getLogger(__name__)

_LOOKS = (0.05, 0.5)
"""Seconds between two looks at what others hold: they grow from the first to the second."""

_SETTLE_SECONDS = 2.0  # for what is settled late: a hold that is not released expires
_LONGER = 60  # seconds that a hold lasts beyond what it is for


@dataclass(frozen=True, slots=True)
class _Hold:
    """Room for one call, at most `most`, which nobody reckons where nothing is bounded; it counts towards
    `accounts`."""

    call_id: str
    most: Spent
    accounts: tuple[Account, ...]


class Spending(Hooks):
    """Of one run: lets it call the model while there is room in every budget, and not while somebody
    has paused the bot. From its first call on it keeps room for one last call, so that it ends with
    an answer. Use it as a context manager: on exit the run holds nothing any more. `show` tells
    people that the run waits.

    Raises StoreUnavailable: what cannot be checked is not spent.
    """

    def __init__(
        self,
        request: Request,
        run_id: str,
        policy: BudgetPolicy,
        caps: Mapping[Budget, Cap],
        estimates: CallEstimates,
        limits: Limits,
        interrupt: Interrupt,
        show: Callable[[Event], Awaitable[None]],
    ) -> None:
        self._request = request
        self._run_id = run_id
        self._policy = policy
        self._caps = caps
        self._estimates = estimates
        self._interrupt = interrupt
        self._show = show
        self._seconds = int(limits.turn_seconds) + _LONGER
        self._run_seconds = int(limits.run_seconds) + self._seconds
        self._in_hand: _Hold | None = None  # for the first call
        self._held: set[str] = set()  # ids of calls for which something may be held
        self._held_on: set[Account] = set()
        self._had_room = False
        self._usage = NO_USAGE
        self._responses: dict[str, Usage] = {}
        self._before = NO_USAGE
        self._has_called = False
        self._paused: Pause | None = None
        self._over: Standing | None = None

    async def __aenter__(self) -> Spending:
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._caps:
            # A worker that died may have left a hold of this run, which makes no call any more.
            accounts = self._accounts()
            held_on = self._held_on | self._capped(accounts).keys()
            ids = {self._run_id, *self._held}
            await _settled_late(self._policy.store.release(held_on, ids))

    def model(self, model: Model) -> Model:
        """Return `model` for all calls of this run, those of its hooks and sub-agents included."""
        return _SpendingModel(model, self)

    def begin(self, state: LoopState) -> None:
        """Take note of what the run, or the thread before it, has on its chain."""
        self._usage, self._before = state.usage, state.last_usage
        self._has_called = state.turn > 0

    async def admits(self, model_name: str) -> bool:
        """Hold room for the first call and the last one, waiting while others hold it; False when
        there is none."""
        try:
            self._in_hand = await self._room_for(self._new_id(), ExpectedCall(model_name))
        except CallRefused:
            return self._interrupt.requested  # then the loop ends the run, as a person wants it
        return True

    async def hold(self, call: ExpectedCall, *, is_last: bool) -> _Hold:
        """Hold room for a call. Raises CallRefused when there is none."""
        hold, self._in_hand = self._in_hand, None
        if hold and (not self._caps or hold.most.covers(self._estimates.forecast(call).most)):
            return hold
        return await self._room_for(hold.call_id if hold else self._new_id(), call, is_last=is_last)

    def expected(self, request: ModelRequest) -> ExpectedCall:
        """Return what is known of a call before it is made."""
        own = self._responses.get(request.previous_response_id or "")
        before = self._before if own is None else own
        return expected_call(request, before, is_warm=own is not None)

    async def settle(self, hold: _Hold, spent: Spent) -> None:
        """Charge what a call took, at once: it is spent, whatever becomes of the run. Once for a call,
        however often this is called."""
        capped = self._capped(hold.accounts)
        await self._policy.store.settle(hold.accounts, spent, hold.call_id, capped)
        self._held.discard(hold.call_id)

    def count(self, call: ExpectedCall, response: ModelResponse) -> Spent:
        """Return what a response took, and learn from it."""
        usage = response.usage.beyond(self._usage)
        self._usage += usage
        self._responses[response.id] = response.usage
        self._has_called = True
        return self._estimates.learn(call, usage)

    def estimate(self, call: ExpectedCall, heard: int) -> Spent:
        """Return what a call took that was left without a response."""
        return self._estimates.broken_off(call, heard)

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        """Ask the switch again before every change: minutes may have passed since the call."""
        if not tool.mutates:
            return None
        self._paused = await self._policy.paused()
        if self._paused is None:
            return None
        self._interrupt.request(StopReason.PAUSED)
        return "Not done: the bot was paused. Nothing was changed."

    async def rests(self) -> bool:
        """Whether a run that is taken up again must wait with its calls: the bot is paused."""
        return await self._policy.paused() is not None

    def refusal(self, run_id: str) -> Outcome:
        """The end of a run that was not admitted; no model was asked."""
        reason = self._over.reason if self._over else StopReason.PAUSED
        return self._explained(not_admitted(self._request, run_id, reason), ())

    async def ending(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        """`outcome` with what the budgets had to do with it; `done` are the steps that went well."""
        if outcome.stop_reason is StopReason.PAUSED:
            self._paused = self._paused or await self._policy.paused()
            return self._explained(outcome, done)
        if outcome.stop_reason in (StopReason.COST_BUDGET, StopReason.TOKEN_BUDGET):
            # Else it was the limit of one run. A resumed run may have been closing before it began.
            self._over = self._over or await self._policy.used_up(self._request)
            return self._explained(outcome, done) if self._over else outcome
        near = await self._policy.nearly_used_up(self._request) if self._caps else None
        notes = (budget_words.nearly_used_up(near, self._request.locale),) if near else ()
        return outcome.model_copy(update={"warnings": notes})

    async def _room_for(self, call_id: str, call: ExpectedCall, *, is_last: bool = False) -> _Hold:
        """Hold room for `call`, and for the run's last call besides. Raises CallRefused when there is
        none, nor will be in time."""
        clock = asyncio.get_running_loop().time
        deadline, pause, is_waiting = clock() + self._policy.patience, _LOOKS[0], False
        place = Place.BETWEEN if self._has_called else Place.FIRST
        place = Place.LAST if is_last else place
        try:
            while True:
                accounts = self._accounts()
                # Seen anew each time: other calls may have shown by now what calls take.
                most = self._estimates.forecast(call).most if self._caps else Spent()
                found = await self._reserve(call_id, call, place, accounts)
                if found.room is Room.GO:
                    self._had_room = True
                    return _Hold(call_id, most, accounts)
                if found.room is not Room.HELD or clock() >= deadline or self._interrupt.requested:
                    raise await self._refused(found, place)
                if not is_waiting:
                    is_waiting = True
                    await self._show(RoomAwaited())
                await asyncio.sleep(pause)
                pause = min(2 * pause, _LOOKS[1])
        finally:
            if is_waiting:
                await self._show(RoomAwaited(ended=True))

    async def _reserve(
        self, call_id: str, call: ExpectedCall, place: Place, accounts: tuple[Account, ...]
    ) -> Reserved:
        caps = self._capped(accounts)
        if not caps:
            pause = await self._policy.paused()
            return Reserved(Room.PAUSED if pause else Room.GO, pause=pause)
        wanted = Reservation(
            call_id=call_id,
            run_id=self._run_id,
            place=place,
            forecast=self._estimates.forecast(call),
            seconds=self._seconds,
            run_seconds=self._run_seconds,
            takes_over=not self._had_room,
        )
        self._held.add(call_id)
        self._held_on |= caps.keys()
        return await self._policy.store.reserve(wanted, caps)

    async def _refused(self, found: Reserved, place: Place) -> CallRefused:
        if found.account is None:
            self._paused = found.pause
            return CallRefused(StopReason.PAUSED)
        self._over = await self._policy.standing(found.account)
        may_close = found.room is not Room.FULL and place is Place.BETWEEN
        return CallRefused(self._over.reason, may_close=may_close)

    def _accounts(self) -> tuple[Account, ...]:
        """Return what a call counts towards now. What a thread takes is kept only where it is bounded:
        nothing else reads it."""
        every = accounts_of(self._request, self._policy.clock())
        kept = Budget.THREAD in self._caps
        return tuple(each for each in every if kept or each.budget is not Budget.THREAD)

    def _new_id(self) -> str:
        return f"{self._run_id}/{new_id('call')}"

    def _capped(self, accounts: tuple[Account, ...]) -> dict[Account, Cap]:
        return {each: self._caps[each.budget] for each in accounts if each.budget in self._caps}

    def _explained(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        changes: dict[str, object] = {}
        cut_short: CauseAndAdvice | None = None
        if self._paused:
            cut_short = budget_words.paused(self._paused, self._request.locale)
        elif self._over:
            cut_short = budget_words.used_up(self._over, self._policy.clock(), self._request.locale)
            position = self._over.position
            changes = {"over": OverBudget(account=position.account, factor=position.factor)}
        has_result = outcome.result is not None
        note = explain(outcome.stop_reason, None, done, result=has_result, cut_short=cut_short)
        return outcome.model_copy(update=changes | {"note": note})


@dataclass(frozen=True, slots=True)
class _SpendingModel:
    """A model whose calls `spending` allows and charges."""

    inner: Model
    spending: Spending

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """See `Model.respond`. Raises CallRefused before anything is sent."""
        call = self.spending.expected(request)
        hold = await self.spending.hold(call, is_last=request.is_last)
        heard, spent, is_settled = 0, None, False
        try:
            async with aclosing(self.inner.respond(request)) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse):
                        spent = self.spending.count(call, part)
                        await self.spending.settle(hold, spent)
                        is_settled = True
                    elif isinstance(part, TextPart | ReasoningPart | ArgumentsPart):
                        heard += len(part.text.encode())
                    yield part
        except ModelError as error:
            if not heard and error.kind is not ModelErrorKind.INTERRUPTED:
                spent = Spent()  # the service refused it
            raise
        finally:
            if not is_settled:
                spent = self.spending.estimate(call, heard) if spent is None else spent
                await _settled_late(self.spending.settle(hold, spent))


async def _settled_late(settling: Awaitable[None]) -> None:
    """Await `settling`, but not for long: what is not released expires."""
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            await settling
    except (StoreUnavailable, TimeoutError):
        log.warning("what a call took or held is not settled: its hold expires")
