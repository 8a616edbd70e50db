"""Error messages of databases and readers, made safe for the model and for people."""

from __future__ import annotations

import re

_PATH = re.compile(
    r"(?<![\w:/.])(?:file://)?(?:/[^\s/'\"`,;:()\[\]<>]+){2,}/?|[A-Za-z]:\\[^\s'\"`]+"
)


def without_paths(message: str, given: str = "") -> str:
    """Return `message` without paths of this machine. Paths in `given`, the asker's own text, reveal
    nothing new and stay."""
    return _PATH.sub(lambda found: found[0] if found[0] in given else "[path]", message)
