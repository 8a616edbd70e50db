"""JSON values with something else at one of their places."""

from __future__ import annotations

import json
from typing import Any

ODD: tuple[Any, ...] = (
    ..., None, True, 0, -1, 7, 1.5, 10**30, "", "x", " ", "\x00", "\ud800", "../../*", "1.5",
    "x" * 5_000, [], [None], ["x"], [[]], [{}], {}, {"id": None}, {"id": 7}, {"x": {"y": []}},
)  # fmt: skip
"""What stands there instead; `...` is nothing at all."""


def places(value: object, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place inside a JSON value."""
    inside: dict[Any, Any] = value if isinstance(value, dict) else {}
    if isinstance(value, list):
        inside = dict(enumerate(value))
    found = [path] if path else []
    return found + [place for key, each in inside.items() for place in places(each, (*path, key))]


def mutated(value: Any, path: tuple[Any, ...], odd: object) -> Any:
    """A copy with `odd` at one place, or without what was there."""
    copy = json.loads(json.dumps(value))
    at = copy
    for key in path[:-1]:
        at = at[key]
    if odd is ...:
        del at[path[-1]]
    else:
        at[path[-1]] = odd
    return copy
