"""How often Python looks for garbage whose objects refer to each other, such as a run and its hooks once
it is over."""

from __future__ import annotations

import gc

_NEW_OBJECTS = 10_000  # what some 25 runs leave behind; about 16 MB then wait to be freed
_SEARCHES = 5  # of the newest objects for each of older ones, and of these for each of the oldest


def look_seldom_for_garbage() -> None:
    """Look no more through what the process holds now, and through later objects less often than Python
    does by itself. `gc.unfreeze` takes back the former."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(_NEW_OBJECTS, _SEARCHES, _SEARCHES)
