"""What asks a process to end."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType


def ending_signals() -> tuple[signal.Signals, ...]:
    """Ctrl-C, what a host sends, and the closing of the terminal, unless that is ignored (nohup)."""
    more = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *more)


def end_as_by_ctrl_c() -> None:
    """From now on those that would end the process at once have it put away first what it made."""
    for each in ending_signals():
        if signal.getsignal(each) is signal.SIG_DFL:
            signal.signal(each, _ctrl_c)


def _ctrl_c(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)  # asyncio.run has its own
    if not callable(handler):
        handler = signal.default_int_handler
    handler(number, frame)


_AT_ONCE = 1.0  # seconds
_INTERRUPTED = 130


def end_soon() -> None:
    """End the process when it has not ended by itself in a second, whatever hangs."""
    timer = threading.Timer(_AT_ONCE, os._exit, [_INTERRUPTED])
    timer.daemon = True
    timer.start()
