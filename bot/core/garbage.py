"""How often Python looks for objects that refer to each other and are garbage, as a run and its hooks
once it is over."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 10_000  # what some 25 runs leave behind
_SEARCHES = 5  # of the newest objects before one of the older; as rarely again of the oldest


def look_seldom_for_garbage() -> None:
    """Take what the process holds now for no garbage, and look through what comes less often than usual:
    a tenth of the CPU of 50 runs at once, for some 16 MB that wait for it."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _SEARCHES, _SEARCHES)
