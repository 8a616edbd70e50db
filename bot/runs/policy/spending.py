"""Spending of one run: room in the budgets is reserved before each model call and charged after it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, Awaitable, Collection
from contextlib import aclosing, asynccontextmanager
from dataclasses import dataclass
from datetime import date
from types import TracebackType
from typing import TYPE_CHECKING

from pydantic import BaseModel
from typing_extensions import override

from bot.agent.events import RoomAwaited
from bot.agent.hooks.chain import Hooks, Permission
from bot.agent.state import LoopState
from bot.core.budgets import Account, Budget, Cap, OverBudget, Pause, Spent, accounts_of
from bot.core.chain import NO_USAGE, Usage
from bot.core.context import current_request
from bot.core.errors import CallRefused, ModelError, ModelErrorKind, StoreUnavailable
from bot.core.ids import new_id
from bot.core.outcome import Outcome, StopReason
from bot.model import (
    ArgumentsPart,
    Model,
    ModelRequest,
    ModelResponse,
    Progress,
    ReasoningPart,
    TextPart,
)
from bot.runs.outcomes import CauseAndAdvice, explain, not_admitted
from bot.runs.policy import budget_words
from bot.runs.policy.budgets import BudgetUse
from bot.runs.policy.estimates import ExpectedCall, expected_call
from bot.runs.watching import ModelCalled
from bot.store import Place, Reservation, Reserved, Room
from bot.store.values import Command
from bot.toolkit.tool import Tool

if TYPE_CHECKING:
    from bot.runs.run import Run

log = logging.getLogger(__name__)

_POLL_SECONDS = (0.05, 0.5)
"""Seconds between two attempts to reserve room: they grow from the first to the second."""

_SETTLE_SECONDS = 2.0  # for charging a call that broke off: a hold that is not released expires
_HOLD_MARGIN = 60  # seconds that a hold outlasts the timeout of its call


@dataclass(frozen=True, slots=True)
class _Hold:
    """A reservation for one call.

    The call may spend `most`, which is zero where no budget is set, and counts towards `accounts`.
    """

    call_id: str
    most: Spent
    accounts: tuple[Account, ...]


@dataclass(slots=True)
class Payment:
    """What a call of the service costs: what was expected until `take` or `refuse` says more.

    `outcome` is that of `ModelCalled`. `usage` is None until the service has billed one.
    """

    spent: Spent
    outcome: str = "abandoned"
    usage: Usage | None = None
    cost: float | None = None

    def take(self, usage: Usage, cost: float | None) -> None:
        """Note what the service billed; `cost` is in dollars, None if the price is unknown."""
        self.outcome, self.usage, self.cost = "ok", usage, cost
        self.spent = Spent.of(usage, cost)

    def refuse(self, kind: ModelErrorKind) -> None:
        """Note that the service refused the call, which costs nothing."""
        self.outcome, self.spent = kind, Spent()


class Spending(Hooks):
    """The budget control of one run, as a hook of the loop and a context manager.

    The run may call the model while there is room in every budget and the bot is not paused. From
    its first call on, the run reserves room for one last call, so that it ends with an answer. On
    exit all reservations are released. Listeners hear when the run waits for room, and of each call.

    Raises StoreUnavailable: nothing is spent without a check.
    """

    def __init__(self, run: Run) -> None:
        self._run = run
        self._request = run.request
        self._policy = run.deps.budgets
        self._caps = self._policy.caps_in(run.channel)
        self._estimates = run.deps.estimates
        self._interrupt = run.interrupt
        self._seconds = int(run.limits.turn_seconds) + _HOLD_MARGIN
        self._run_seconds = int(run.limits.run_seconds) + self._seconds
        self._first_hold: _Hold | None = None  # for the first call
        self._held: set[str] = set()  # ids of calls for which something may be held
        self._held_on: set[Account] = set()
        self._had_room = False
        self._usage = NO_USAGE
        self._responses: dict[str, Usage] = {}
        self._before = NO_USAGE
        self._has_called = False
        self._unsaved: dict[str, tuple[_Hold, Spent]] = {}  # by the ids of their calls
        self._accounts_of: tuple[date, tuple[Account, ...]] | None = None
        self._paused: Pause | None = None
        # A job has no lease, and its record was not read.
        self._switch, self._has_read_switch = run.record.pause, run.lease is not None
        self._exceeded: BudgetUse | None = None

    async def __aenter__(self) -> Spending:
        return self

    async def __aexit__(
        self,
        exception_type: type[BaseException] | None,
        exception: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._unsaved:
            await _settle_briefly(self._charge_unsaved())
        if self._caps:
            # A worker that died may have left a hold of this run, which will make no more calls.
            accounts = self._accounts()
            held_on = self._held_on | self._capped(accounts).keys()
            ids = {self._run.run_id, *self._held}
            await _settle_briefly(self._policy.store.release(held_on, ids))

    def model(self, model: Model) -> Model:
        """Return `model` with budget checks, for all calls of the run, its hooks and sub-agents."""
        return _SpendingModel(model, self)

    def begin(self, state: LoopState) -> None:
        """Start from the usage that the run, or the thread before it, already has in `state`."""
        self._usage, self._before = state.usage, state.last_usage
        self._has_called = state.turn > 0

    async def admits(self, model_name: str) -> bool:
        """Reserve room for the first call and the last one, waiting while others hold it.

        Return False when there is none.
        """
        try:
            self._first_hold = await self._room_for(self._new_id(), ExpectedCall(model_name))
        except CallRefused:
            return self._interrupt.requested  # the loop then ends the run as stopped by a person
        return True

    async def hold(self, call: ExpectedCall, *, is_last: bool) -> _Hold:
        """Reserve room for a call. Raises CallRefused when there is none."""
        hold, self._first_hold = self._first_hold, None
        if hold and self._caps and hold.most.covers(self._estimates.forecast(call).most):
            return hold
        return await self._room_for(hold.call_id if hold else self._new_id(), call, is_last=is_last)

    @asynccontextmanager
    async def paying(self, model: str, expected: Spent) -> AsyncGenerator[Payment]:
        """Make a call of the model service that is no response, such as a transcription, in the body,
        which says in the `Payment` what it cost.

        Room for what it is `expected` to cost is reserved first; that is charged, too, if the body
        does not say more. Raises CallRefused before the body when there is none, or when the limits of a
        run are lower, and StoreUnavailable.
        """
        limits = self._run.limits
        if limits.cost and expected.cost > limits.cost:
            raise CallRefused(StopReason.COST_BUDGET, may_close=True)
        if expected.tokens > limits.tokens:
            raise CallRefused(StopReason.TOKEN_BUDGET, may_close=True)
        hold = await self._room_for(
            self._new_id(), ExpectedCall(self._run.models.names[0], price=expected)
        )
        clock = asyncio.get_running_loop().time
        payment, began = Payment(expected), clock()
        try:
            yield payment
        finally:
            is_estimated = payment.outcome == "abandoned"
            if payment.usage:
                current_request().spent.add(payment.usage, payment.cost)
            ended = ModelCalled(
                model,
                payment.outcome,
                clock() - began,
                usage=payment.usage,
                cost=payment.cost,
                estimated=payment.spent if is_estimated else None,
            )
            try:
                await _settle_briefly(self.settle(hold, payment.spent))
            finally:
                self._run.hear("on_model_call", ended)

    def expected(self, request: ModelRequest) -> ExpectedCall:
        """Return what is known of a call before it is made."""
        own = self._responses.get(request.previous_response_id or "")
        before = self._before if own is None else own
        return expected_call(request, before, is_warm=own is not None)

    async def settle(self, hold: _Hold, spent: Spent) -> None:
        """Charge the cost of a call at once, once per call however often this is called."""
        capped = self._capped(hold.accounts)
        await self._policy.store.settle(hold.accounts, spent, hold.call_id, capped)
        self._held.discard(hold.call_id)

    def charge(self, hold: _Hold, spent: Spent) -> None:
        """Charge the cost of a call with the next save point, or when the run ends without one.

        The money is spent even if the run fails later.
        """
        self._unsaved[hold.call_id] = hold, spent

    def charges(self) -> dict[str, Command]:
        """Return the commands that charge the calls since the last save point, by their ids."""
        charging = self._policy.store.charging
        return {
            call_id: charging(hold.accounts, spent, call_id, self._capped(hold.accounts))
            for call_id, (hold, spent) in self._unsaved.items()
        }

    def on_saved(self, charged: Collection[str]) -> None:
        """Note that a save point charged these calls."""
        for call_id in charged:
            self._unsaved.pop(call_id, None)
            self._held.discard(call_id)

    def on_switch_read(self, pause: Pause | None) -> None:
        """Note whether the bot is paused just now."""
        self._switch, self._has_read_switch = pause, True

    async def _charge_unsaved(self) -> None:
        for call_id, (hold, spent) in [*self._unsaved.items()]:
            await self.settle(hold, spent)
            self._unsaved.pop(call_id, None)

    def count(self, call: ExpectedCall, response: ModelResponse) -> Spent:
        """Return the cost of a response, and update the estimates."""
        usage = response.billed.beyond(self._usage)
        self._usage += usage
        self._responses[response.id] = response.usage
        self._has_called = True
        return self._estimates.learn(call, usage)

    def count_failed(self, call: ExpectedCall, usage: Usage) -> Spent:
        """Return the cost of a call that failed, but whose usage the service gave."""
        return self._estimates.learn(call, usage.beyond(self._usage))

    def estimate(self, call: ExpectedCall, output_bytes: int) -> Spent:
        """Return the estimated cost of a call without a response, after `output_bytes` bytes of output."""
        return self._estimates.interrupted(call, output_bytes)

    def cost(self, model: str, usage: Usage | None) -> float | None:
        """Return the price of `usage` in dollars, None if either is not known."""
        return self._estimates.prices.cost(model, usage) if usage else None

    def tell(self, call: ModelCalled) -> None:
        """Tell the listeners of a call that ended."""
        self._run.hear("on_model_call", call)

    @override
    async def before_tool(self, tool: Tool, arguments: BaseModel) -> Permission:
        """Check the pause switch before every change: minutes may have passed since the model call."""
        if not tool.mutates:
            return None
        self._paused = await self._policy.paused()
        if self._paused is None:
            return None
        self._interrupt.request(StopReason.PAUSED)
        return "Not done: the bot was paused. Nothing was changed."

    def refusal(self) -> Outcome:
        """Return the outcome of a run that was not admitted; no model was called."""
        reason = self._exceeded.reason if self._exceeded else StopReason.PAUSED
        return self._explained(not_admitted(self._request, self._run.run_id, reason), ())

    async def ending(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        """Return `outcome` with its budget warnings or explanation; `done` are the successful steps."""
        await self._charge_unsaved()
        if outcome.stop_reason is StopReason.PAUSED:
            self._paused = self._paused or await self._policy.paused()
            return self._explained(outcome, done)
        if outcome.stop_reason in (StopReason.COST_BUDGET, StopReason.TOKEN_BUDGET):
            # No used-up budget means that the limit of one run was reached. A resumed run may have
            # started to close in an earlier attempt, so the budgets are checked again.
            self._exceeded = self._exceeded or await self._policy.used_up(self._request)
            return self._explained(outcome, done) if self._exceeded else outcome
        near = await self._policy.nearly_used_up(self._request) if self._caps else None
        notes = (budget_words.nearly_used_up(near),) if near else ()
        return outcome.model_copy(update={"warnings": notes})

    async def _room_for(self, call_id: str, call: ExpectedCall, *, is_last: bool = False) -> _Hold:
        """Reserve room for `call` and for the run's last call, waiting while others hold it.

        Raises CallRefused when there is none in time.
        """
        clock = asyncio.get_running_loop().time
        deadline, pause, is_waiting = clock() + self._policy.patience, _POLL_SECONDS[0], False
        place = Place.BETWEEN if self._has_called else Place.FIRST
        place = Place.LAST if is_last else place
        try:
            while True:
                accounts = self._accounts()
                # Estimated again each time: other calls may have improved the estimates meanwhile.
                most = self._estimates.forecast(call).most if self._caps else Spent()
                reserved = await self._reserve(call_id, call, place, accounts)
                if reserved.room is Room.GO:
                    self._had_room = True
                    return _Hold(call_id, most, accounts)
                if (
                    reserved.room is not Room.HELD
                    or clock() >= deadline
                    or self._interrupt.requested
                ):
                    raise await self._refusal(reserved, place)
                if not is_waiting:
                    is_waiting = True
                    await self._run.tell(RoomAwaited())
                await asyncio.sleep(pause)
                pause = min(2 * pause, _POLL_SECONDS[1])
        finally:
            if is_waiting:
                await self._run.tell(RoomAwaited(ended=True))

    async def _reserve(
        self, call_id: str, call: ExpectedCall, place: Place, accounts: tuple[Account, ...]
    ) -> Reserved:
        caps = self._capped(accounts)
        if not caps:
            # Between a save point and the call after it nobody looks at the switch again.
            pause = self._switch if self._has_read_switch else await self._policy.paused()
            self._has_read_switch = False
            return Reserved(Room.PAUSED if pause else Room.GO, pause=pause)
        if self._unsaved:  # or they would hold room against this call
            await self._charge_unsaved()
        reservation = Reservation(
            call_id=call_id,
            run_id=self._run.run_id,
            place=place,
            forecast=self._estimates.forecast(call),
            seconds=self._seconds,
            run_seconds=self._run_seconds,
            takes_over=not self._had_room,
        )
        self._held.add(call_id)
        self._held_on |= caps.keys()
        return await self._policy.store.reserve(reservation, caps)

    async def _refusal(self, reserved: Reserved, place: Place) -> CallRefused:
        if reserved.account is None:
            self._paused = reserved.pause
            return CallRefused(StopReason.PAUSED)
        self._exceeded = await self._policy.use_of(reserved.account)
        may_close = reserved.room is not Room.FULL and place is Place.BETWEEN
        return CallRefused(self._exceeded.reason, may_close=may_close)

    def _accounts(self) -> tuple[Account, ...]:
        """Return the accounts that a call counts towards now.

        A thread's spending is stored only where threads have a budget: nothing else reads it.
        """
        now = self._policy.clock()
        if self._accounts_of is None or self._accounts_of[0] != now.date():
            counted = {*Budget} if Budget.THREAD in self._caps else {*Budget} - {Budget.THREAD}
            accounts = accounts_of(self._request, now)
            current = tuple(account for account in accounts if account.budget in counted)
            self._accounts_of = now.date(), current
        return self._accounts_of[1]

    def _new_id(self) -> str:
        return f"{self._run.run_id}/{new_id('call')}"

    def _capped(self, accounts: tuple[Account, ...]) -> dict[Account, Cap]:
        return {
            account: self._caps[account.budget]
            for account in accounts
            if account.budget in self._caps
        }

    def _explained(self, outcome: Outcome, done: tuple[str, ...]) -> Outcome:
        changes: dict[str, object] = {}
        cut_short: CauseAndAdvice | None = None
        if self._paused:
            cut_short = budget_words.paused(self._paused)
        elif self._exceeded:
            cut_short = budget_words.used_up(self._exceeded, self._policy.clock())
            position = self._exceeded.position
            changes = {"over": OverBudget(account=position.account, factor=position.factor)}
        has_result = outcome.result is not None
        note = explain(outcome.stop_reason, None, done, result=has_result, cut_short=cut_short)
        return outcome.model_copy(update=changes | {"note": note})


@dataclass(frozen=True, slots=True)
class _SpendingModel:
    """A model whose calls `spending` checks and charges, and of which its listeners hear."""

    inner: Model
    spending: Spending

    async def respond(self, request: ModelRequest) -> AsyncGenerator[Progress]:
        """Respond as `Model.respond` does. Raises CallRefused before anything is sent."""
        spending, clock = self.spending, asyncio.get_running_loop().time
        call = spending.expected(request)
        hold = await spending.hold(call, is_last=request.is_last)
        began, output_bytes, spent, is_settled = clock(), 0, None, False
        outcome, response, usage, estimated = "abandoned", None, None, None
        try:
            async with aclosing(self.inner.respond(request)) as parts:
                async for part in parts:
                    if isinstance(part, ModelResponse):
                        outcome, response, usage = "ok", part, part.billed
                        spent = spending.count(call, part)
                        spending.charge(hold, spent)
                        is_settled = True
                    elif isinstance(part, TextPart | ReasoningPart | ArgumentsPart):
                        output_bytes += len(part.text.encode())
                    yield part
        except ModelError as error:
            outcome, usage = error.kind, error.usage
            if error.usage:
                spent = spending.count_failed(call, error.usage)
            elif not output_bytes and error.kind is not ModelErrorKind.INTERRUPTED:
                spent = Spent()  # the service refused it
            raise
        finally:
            if spent is None:
                spent = estimated = spending.estimate(call, output_bytes)
            seconds = clock() - began
            try:
                if not is_settled:
                    await _settle_briefly(spending.settle(hold, spent))
            finally:
                spending.tell(
                    ModelCalled(
                        request.model,
                        outcome,
                        seconds,
                        response,
                        usage,
                        spending.cost(request.model, usage),
                        estimated,
                    )
                )


async def _settle_briefly(settling: Awaitable[None]) -> None:
    """Await `settling` for a short time only: a hold that is not released expires."""
    try:
        async with asyncio.timeout(_SETTLE_SECONDS):
            await settling
    except (StoreUnavailable, TimeoutError):
        log.warning("the cost of a call was not charged; its reservation expires")
