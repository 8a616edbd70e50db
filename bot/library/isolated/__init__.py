"""Isolated processes: work on untrusted data in children that the kernel closes.

A child imports this package before it is closed, so it holds only what both sides share.
"""

from __future__ import annotations

import re

_PATH = re.compile(
    r"(?<![\w:/.])(?:file://)?(?:/[^\s/'\"`,;:()\[\]<>]+){2,}/?|[A-Za-z]:\\[^\s'\"`]+"
)


class Refused(Exception):
    """The job cannot be done as requested; the message says why, and what to do instead."""


class Busy(Exception):
    """No process can be had now; the message says so in a sentence."""


class ProcessLost(Exception):
    """The process ended before its job did: it needed more memory than is allowed, or crashed."""


class ComputingTimeout(TimeoutError):
    """The job took more CPU time than it may."""


def without_paths(message: str, own: str = "") -> str:
    """Return an error message without paths of this machine. Paths in `own`, the text of the person
    who reads it, reveal nothing new and stay."""
    return _PATH.sub(lambda path: path[0] if path[0] in own else "[path]", message)
