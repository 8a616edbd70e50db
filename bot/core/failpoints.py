"""Failpoints: named places before and after each external side effect where tests cause a crash.

A disabled failpoint costs one comparison. `arm` sets the directory with the orders: a file with the
name of a failpoint is an order, which the first process that reaches the failpoint obeys once and
renames to `<name>.taken`. Orders are `kill` (SIGKILL), `raise`, and `hang <seconds>`, which blocks
the whole process.
"""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from types import MappingProxyType

from bot.core.errors import ConfigurationError

FAILPOINTS = MappingProxyType(
    {
        "question-saying": (1,),
        "question-said": (1,),
        "request-submitting": (1,),
        "request-kept": (2,),
        "request-queued": (2,),
        "ticket-taken": (3,),
        "run-started": (3,),
        "message-posting": (4, 15),
        "message-posted": (4, 15),
        "message-saved": (4, 15),
        "stream-starting": (4,),
        "stream-started": (4, 18),
        "stream-ending": (18,),
        "stream-ended": (15, 18),
        "message-updating": (14, 16),
        "message-updated": (15, 16),
        "message-left": (14,),
        "message-replaced": (14, 16),
        "part-saved": (15, 16),
        "whisper-posting": (14,),
        "whisper-posted": (16,),
        "file-sharing": (10, 15),
        "file-shared": (10, 15),
        "elsewhere-posting": (10,),
        "elsewhere-posted": (10,),
        "person-telling": (21,),
        "person-told": (21,),
        "step-returning": (14,),
        "step-returned": (16,),
        "model-asking": (5, 12),
        "model-asked": (5,),
        "model-streaming": (6,),
        "model-answered": (7,),
        "step-keeping": (7, 9, 10, 11, 19),
        "step-kept": (8, 11, 12),
        "messages-joining": (12,),
        "messages-joined": (12,),
        "change-intended": (8, 10),
        "tool-running": (8, 9, 10),
        "tool-ran": (9, 10, 11),
        "outputs-kept": (11,),
        "wait-kept": (13,),
        "card-posting": (13,),
        "card-posted": (13,),
        "run-parked": (13,),
        "approval-decided": (13,),
        "card-updating": (13,),
        "card-updated": (13,),
        "run-finishing": (14, 19),
        "run-finished": (14,),
        "run-delivered": (16,),
        "run-closed": (17,),
        "ticket-returning": (20,),
        "sweep-found": (20,),
        "drain-begun": (20,),
        "erase-noting": (23,),
        "erase-noted": (23,),
        "erase-swept": (23,),
        "erase-removing": (23,),
        "erase-removed": (23,),
        "response-deleting": (23,),
        "response-deleted": (23,),
    }
)
"""Each failpoint with the numbers of its crash windows:

1 event in → claim · 2 claim → acknowledgement · 3 acknowledged → lease · 4 placeholder posted → its
ts saved · 5 model asked → response begun · 6 during the stream · 7 response complete → saved ·
8 calls saved → intent · 9 read-only tool done → saved · 10 mutating tool done → saved · 11 some of
several outputs saved · 12 outputs saved → next request · 13 approval asked → given → executed ·
14 result saved → posted · 15 between the parts of an answer · 16 posted → marked · 17 marked → queue
released · 18 stream started → stopped · 19 lease lost, the old holder alive · 20 in sweep or drain ·
21 the notice of a failure fails · 22 formats that change during a run · 23 in an erase.
"""

_orders: Path | None = None


class FailpointRaised(Exception):
    """Raised by the order `raise`. Not a BotError: it stands in for a bug in the bot."""


def arm(orders: Path) -> None:
    """Obey the orders in the directory `orders`. Raises ConfigurationError if it does not exist."""
    if not orders.is_dir():
        raise ConfigurationError(f"BOT_FAILPOINTS names {orders}, which is not a directory.")
    global _orders  # noqa: PLW0603 - one per process, like the environment variable it comes from
    _orders = orders


def failpoint(name: str) -> None:
    """Crash here if there is an order for `name`, one of FAILPOINTS."""
    if _orders is not None:
        _obey(_orders / name)


def _obey(order: Path) -> None:
    taken = order.with_name(f"{order.name}.taken")
    try:
        order.rename(taken)  # of several processes only one succeeds
    except FileNotFoundError:
        return
    match taken.read_text("utf-8").split():
        case ["kill"]:
            os.kill(os.getpid(), signal.SIGKILL)
        case ["raise"]:
            raise FailpointRaised(order.name)
        case ["hang", seconds]:
            time.sleep(float(seconds))
        case other:
            raise ValueError(f"{order.name}: unknown order {other}")
