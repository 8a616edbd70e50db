"""Scripted brains: one reply per request, and an error when the script does not fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from .errors import test_error
from .replies import Reply
from .request import ModelRequest

Responder = Callable[[ModelRequest], Reply]


@dataclass(frozen=True, slots=True)
class Respond:
    """A step that computes its reply from the request."""

    function: Responder


def respond(function: Responder) -> Respond:
    """Return a step of a script that answers with `function(request)`."""
    return Respond(function)


class Script:
    """Replies in a fixed order; `assert_done` fails when some are left."""

    def __init__(self, replies: Iterable[Reply | Respond]) -> None:
        self._left = list(replies)
        self._given = 0
        self._beyond = 0

    def __call__(self, request: ModelRequest) -> Reply:
        """Return the next reply, or a test error when none is left."""
        if not self._left:
            self._beyond += 1
            raise test_error(
                f"the script is used up: {self._given} replies were given and one more request "
                f"came, ending with {request.last_words!r}"
            )
        step = self._left.pop(0)
        self._given += 1
        return step.function(request) if isinstance(step, Respond) else step

    def add(self, *replies: Reply | Respond) -> None:
        """Append replies."""
        self._left.extend(replies)

    def assert_done(self) -> None:
        """Check that every reply was requested, and no request found the script empty."""
        if self._left:
            raise AssertionError(f"{len(self._left)} scripted replies were never asked for")
        if self._beyond:
            raise AssertionError(f"{self._beyond} requests came after the script was used up")


class ScriptBook:
    """Several conversations at once: the script whose key the conversation contains answers."""

    def __init__(self, pages: Mapping[str, Iterable[Reply | Respond]]) -> None:
        self.scripts = {needle: Script(replies) for needle, replies in pages.items()}

    def __call__(self, request: ModelRequest) -> Reply:
        """Return the next reply of the script that fits."""
        text = request.text
        for needle, script in self.scripts.items():
            if needle in text:
                return script(request)
        raise test_error(f"no script for this conversation; keys are {sorted(self.scripts)}")

    def assert_done(self) -> None:
        """Check that all scripts are used up."""
        for script in self.scripts.values():
            script.assert_done()
