"""How hard property tests try, in which order tests run, and what all tests are spared.

`HYPOTHESIS_PROFILE=heavy` searches long, for nights and releases.
"""

import gc
import os
import sys
from collections.abc import Generator
from functools import cache
from importlib import metadata
from itertools import groupby
from typing import Any

import pytest
from hypothesis import settings
from redis import utils as redis_utils

from tests.support.redis import redis, redis_server, redis_url, stores

__all__ = ["redis", "redis_server", "redis_url", "stores"]
"""Fixtures of all tests, here alone: each module that imports them would start a server of its own."""

settings.register_profile("heavy", deadline=None, max_examples=1_000, stateful_step_count=40)
# How long one example takes says how busy the machine is: no test fails by it.
settings.register_profile("usual", deadline=None, max_examples=15)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

# redis-py reads its package's metadata for each connection: 2 ms, seven times for each bot.
vars(redis_utils)["get_lib_version"] = cache(redis_utils.get_lib_version)

# Each bot that starts reads three times which packages are installed, 10 ms each. Only packages that a
# test puts on the path of its own come and go.
_PATH, _entry_points = tuple(sys.path), metadata.entry_points
_installed_entry_points = cache(_entry_points)


def _cached_entry_points(**wanted: str) -> Any:
    read = _installed_entry_points if tuple(sys.path) == _PATH else _entry_points
    return read(**wanted)


vars(metadata)["entry_points"] = _cached_entry_points

# To look for garbage among all that the tests import takes a seventh of their CPU time. Nothing of it
# is garbage: it is looked through neither while it is loaded nor afterwards.
gc.disable()

_LONG = {"evals", "faults", "operators", "security", "stored"}
"""Folders whose tests start many processes and wait for them."""


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let each worker begin with a share of the long tests, so that no long one is left for the end.

    `--dist worksteal` first gives each worker an equal part of the list, as it stands.
    """
    workers = int(os.environ.get("PYTEST_XDIST_WORKER_COUNT", "1"))
    long, rest = list[list[pytest.Item]](), list[pytest.Item]()
    for path, group in groupby(items, lambda item: item.path):
        if _LONG.isdisjoint(path.parts):
            rest += group
        else:
            long.append(list(group))
    shares = [list[pytest.Item]() for _ in range(workers)]
    for module in long:
        min(shares, key=len).extend(module)
    sizes = [(len(items) + number) // workers for number in range(workers)]
    items.clear()
    for share, size in zip(shares, sizes, strict=True):
        room = max(0, size - len(share))
        items += [*share, *rest[:room]]
        del rest[:room]
    items += rest


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Collect garbage of the tests alone, and less often."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Write half characters in a report as they are typed: xdist cannot send them, and its end would
    be that of all other tests."""
    report = yield
    if report.failed:
        report.longrepr = _whole(str(report.longrepr))
    report.sections = [(name, _whole(text)) for name, text in report.sections]
    return report


def _whole(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
