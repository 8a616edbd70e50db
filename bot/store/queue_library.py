"""What is used of the queue's library, docket, loaded without beartype: 400 modules, 6 MB.

docket's store of results, which no ticket uses, has its own calls checked by beartype.
"""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TypeVar

from bot.core.fronts import leave_out

T = TypeVar("T")


def _unchecked(call: T) -> T:
    return call


class _Unchecked(ModuleType):
    """In place of the module that has calls checked."""

    bear_enforce = bear_spray = staticmethod(_unchecked)


leave_out("key_value.aio")
_CHECKING = "key_value.aio._utils.beartype"
sys.modules.setdefault(_CHECKING, _Unchecked(_CHECKING))

from docket import ConcurrencyLimit, Docket, Execution, Worker  # noqa: E402
from docket._redis_sentinel import OwnedSentinelConnectionPool, parse_sentinel_url  # noqa: E402
from docket.dependencies import _concurrency  # noqa: E402
from docket.execution import TaskFunction  # noqa: E402

__all__ = [
    "ConcurrencyLimit",
    "Docket",
    "Execution",
    "OwnedSentinelConnectionPool",
    "TaskFunction",
    "Worker",
    "_concurrency",
    "parse_sentinel_url",
]
