"""Jobs whose libraries take their time to load, as all do on a busy machine."""

from __future__ import annotations

import time

from tests.support.jobs import echo as echo

time.sleep(1.5)
