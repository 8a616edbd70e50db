"""Imports of a few modules of a large package, without what the package's own `__init__` loads.

The `__init__` of some libraries loads all of them: of OpenAI's SDK 11 MB, where a call needs 2.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any


def leave_out(*packages: str) -> None:
    """Let modules of `packages` be imported without the `__init__` of these packages.

    Whoever asks one of them for anything but a module gets it: then its `__init__` runs after all.
    A package that is loaded already stays as it is. Name a package before those inside it.
    """
    for name in packages:
        if name not in sys.modules:
            _leave_out(name)


@contextmanager
def hidden(module: str) -> Iterator[None]:
    """Let libraries that are imported in this context not find an optional `module`, unless it is loaded."""
    if module in sys.modules:
        yield
        return
    sys.modules[module] = None  # type: ignore[assignment]  # as the import system has it
    try:
        yield
    finally:
        del sys.modules[module]


def _leave_out(name: str) -> None:
    parent, _, last = name.rpartition(".")
    inside = importlib.import_module(parent).__path__ if parent else None
    spec = PathFinder.find_spec(name, inside)
    if spec is None:
        raise ModuleNotFoundError(f"No module named {name!r}", name=name)
    package = sys.modules[name] = importlib.util.module_from_spec(spec)
    package.__dict__["__getattr__"] = _loading(package, spec)
    if parent:
        setattr(sys.modules[parent], last, package)


def _loading(package: ModuleType, spec: ModuleSpec) -> Any:
    """Return the `__getattr__` of a package whose `__init__` did not run yet."""

    def load(name: str) -> Any:
        if PathFinder.find_spec(f"{spec.name}.{name}", package.__path__):
            raise AttributeError(name)  # a module, which the import system then loads
        del package.__dict__["__getattr__"]  # the `__init__` may bring its own
        assert spec.loader is not None  # noqa: S101 - of a package with an `__init__`
        try:
            spec.loader.exec_module(package)
        except BaseException:
            package.__dict__["__getattr__"] = load  # so that the next one is told why, too
            raise
        return getattr(package, name)

    return load
