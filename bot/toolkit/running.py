"""Isolated execution of tool functions.

Tool authors write any code: a tool that hangs, blocks or exits must not end the run.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import logging
import threading
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeVar

T = TypeVar("T")

log = logging.getLogger(__name__)

_GRACE = 1.0
"""Seconds that a cancelled tool has to clean up."""

_abandoned: set[asyncio.Task[Any]] = set()
"""Cancelled tasks that have not ended. asyncio itself keeps no strong reference to a task."""


class ToolCrashed(Exception):
    """The tool tried to end its thread, its task or the process."""


class ToolTimeout(TimeoutError):
    """The call took longer than it may. A TimeoutError of the tool's own is another one."""


async def call_function(
    function: Callable[..., Any], given: Mapping[str, Any], *, name: str, seconds: float
) -> Any:
    """Call `function` and return its result; a blocking function runs in a thread.

    Raises ToolTimeout after `seconds`, ToolCrashed, and any exception of the function. A task that
    ignores cancellation is abandoned after a second, and so is a thread, which nothing can end.
    """
    work = partial(function, **given)
    if inspect.iscoroutinefunction(function):
        return await _bounded(_catch_exit(work()), name, seconds)
    return await _bounded(in_own_thread(work, name), name, seconds)


async def _bounded(work: Coroutine[Any, Any, T], name: str, seconds: float) -> T:
    loop = asyncio.get_running_loop()
    began, task = loop.time(), asyncio.create_task(work, name=name)
    in_time = False
    try:
        await asyncio.wait({task}, timeout=seconds)
        in_time = task.done()
    finally:
        if not in_time:
            await _cancel(task)
    if not in_time:
        raise ToolTimeout
    if (took := loop.time() - began) > seconds + _GRACE:
        # The task ended too late, yet the timeout did not fire: the task blocked the event loop.
        log.warning("%s held the event loop: %.1f s, %g s are allowed", name, took, seconds)
    if task.cancelled():
        raise ToolCrashed("it cancelled its own task")
    return task.result()


async def _cancel(task: asyncio.Task[Any]) -> None:
    """Cancel the task and wait up to a second for its end."""
    _abandoned.add(task)
    task.add_done_callback(_settle_abandoned)
    task.cancel()
    await asyncio.wait({task}, timeout=_GRACE)
    if not task.done():
        log.error("%s goes on although it was cancelled", task.get_name())


def _settle_abandoned(task: asyncio.Task[Any]) -> None:
    _abandoned.discard(task)
    if not task.cancelled():
        task.exception()  # marks the exception as retrieved, so that asyncio does not log it


async def _catch_exit(work: Coroutine[Any, Any, T]) -> T:
    try:
        return await work
    except (SystemExit, KeyboardInterrupt) as error:  # would end the event loop
        raise ToolCrashed(f"it raised {type(error).__name__}") from error


async def in_own_thread(work: Callable[[], T], name: str) -> T:
    """Run `work` in a new daemon thread and return its result.

    A thread that hangs then occupies no worker of a pool and does not keep the process from ending.
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[T] = loop.create_future()
    context = contextvars.copy_context()

    def settle(set_outcome: Callable[[Any], None], outcome: Any) -> None:
        if not future.done():
            set_outcome(outcome)

    def run() -> None:
        try:
            settled = partial(settle, future.set_result, context.run(work))
        except (StopIteration, SystemExit, KeyboardInterrupt) as error:
            crashed = ToolCrashed(f"it raised {type(error).__name__}")
            crashed.__cause__ = error
            settled = partial(settle, future.set_exception, crashed)
        except BaseException as error:  # noqa: BLE001 - raised where it is awaited
            settled = partial(settle, future.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settled)

    threading.Thread(target=run, name=name, daemon=True).start()
    return await future
