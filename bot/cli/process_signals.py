"""Termination of a process: the signals that ask for it, and a forced exit."""

from __future__ import annotations

import os
import signal
import threading
from types import FrameType


def ending_signals() -> tuple[signal.Signals, ...]:
    """Return the signals that ask this process to end: SIGINT, SIGTERM and SIGHUP.

    SIGHUP is left out when the process ignores it, as under nohup.
    """
    hangup = () if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN else (signal.SIGHUP,)
    return (signal.SIGINT, signal.SIGTERM, *hangup)


def treat_signals_as_ctrl_c() -> None:
    """Turn SIGTERM and SIGHUP into KeyboardInterrupt so that cleanup runs."""
    for each in ending_signals():
        if signal.getsignal(each) is signal.SIG_DFL:
            signal.signal(each, _handle_as_sigint)


def _handle_as_sigint(number: int, frame: FrameType | None) -> None:
    handler = signal.getsignal(signal.SIGINT)  # asyncio.run has its own
    if not callable(handler):
        handler = signal.default_int_handler
    handler(number, frame)


_EXIT_SECONDS = 1.0
_INTERRUPTED_EXIT_CODE = 130


def end_soon() -> None:
    """Exit with code 130 after one second, even if something hangs."""
    timer = threading.Timer(_EXIT_SECONDS, os._exit, [_INTERRUPTED_EXIT_CODE])
    timer.daemon = True
    timer.start()
