"""Handing a run over: a run stops early so that another worker resumes it at once."""

from __future__ import annotations

from bot.agent.builtin.complete_task import NAME as COMPLETE
from bot.agent.events import Event, Recorded, SavePoint, TurnStarted
from bot.agent.state import OpenResponse


class Requeue(Exception):
    """Raised by a handler to leave its request at the head of the mailbox for another worker.

    The attempt does not count as a failure. `delay` is the time in seconds until the next attempt.
    """

    def __init__(self, delay: float = 0.0) -> None:
        super().__init__("requeued")
        self.delay = delay


class Held(Exception):
    """Raised by a handler to leave its request at the head of the mailbox until the pause ends."""


def can_requeue(event: Event) -> bool:
    """Return whether a run can stop after `event` is saved without repeating any work later.

    That is so before a call to the model, and while tool calls are left that have not begun.
    """
    if isinstance(event, TurnStarted):
        return True
    if not isinstance(event, Recorded | SavePoint) or event.state.open is None:
        return False
    return has_work_left(event.state.open)


def has_work_left(response: OpenResponse) -> bool:
    """Return whether a response has tool calls left that another worker can safely make.

    A response with only a result left is posted sooner than handed over, and the effect of a call
    that began and did not end is unknown.
    """
    answered = {output.call_id for output in response.outputs}
    unanswered = [call for call in response.response.calls if call["call_id"] not in answered]
    return answered.issuperset(response.begun) and any(
        call["name"] != COMPLETE for call in unanswered
    )
