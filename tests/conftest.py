"""How hard property tests try: `HYPOTHESIS_PROFILE=heavy` searches long, for nights and releases."""

import os

from hypothesis import settings

settings.register_profile("heavy", deadline=None, max_examples=1_000, stateful_step_count=40)
# How long one example takes says how busy the machine is: no test fails by it.
settings.register_profile("usual", deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "usual"))
