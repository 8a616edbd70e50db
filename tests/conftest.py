"""How hard property tests try, and what all tests are spared.

`HYPOTHESIS_PROFILE=heavy` searches long, for nights and releases.
"""

import gc
import os

import pytest
from hypothesis import settings

settings.register_profile("heavy", deadline=None, max_examples=1_000, stateful_step_count=40)
# How long one example takes says how busy the machine is: no test fails by it.
settings.register_profile("usual", deadline=None, max_examples=40)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))

# To look for garbage among all that the tests import takes a seventh of their CPU time. Nothing of it
# is garbage: it is looked through neither while it is loaded nor afterwards.
gc.disable()


@pytest.hookimpl(trylast=True)
def pytest_collection_finish() -> None:
    """Collect garbage of the tests alone, and less often."""
    gc.freeze()
    gc.set_threshold(10_000, 10, 10)
    gc.enable()
