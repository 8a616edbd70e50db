"""Runs that stop early so that another worker goes on at once (reliability 7)."""

from __future__ import annotations

from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.events import Event, Recorded, SavePoint, TurnStarted
from bot.agent.state import OpenResponse


class Requeue(Exception):
    """Raised by a handler to leave its request at the head of the mailbox for another worker.

    The attempt is not counted, nor is one that ended in StoreUnavailable. `delay` is in seconds.
    """

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__("handed back")
        self.delay = delay


def can_rest(event: Event) -> bool:
    """Whether a run can stop after `event`, once that is kept, with nothing to be done twice: before
    the model is called, and before tools are run that nobody has begun."""
    if isinstance(event, TurnStarted):
        return True
    if not isinstance(event, Recorded | SavePoint) or event.state.open is None:
        return False
    return has_work_left(event.state.open)


def has_work_left(response: OpenResponse) -> bool:
    """A result alone is put up sooner than handed on; nobody knows what became of a change that was
    begun and left."""
    answered = {output.call_id for output in response.outputs}
    left = [call for call in response.response.calls if call["call_id"] not in answered]
    return answered.issuperset(response.begun) and any(call["name"] != COMPLETE for call in left)
