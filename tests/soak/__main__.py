"""`python -m tests.soak`: 10,000 runs with faults; a table, soak.csv and soak.png in `--out`.

Exits with 1 when the bot's memory, tasks or open files still grow in the second half. Redis keeps
what it is told to keep (threads for thirty days), so there it is the keys for each run that count.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
import tempfile
from pathlib import Path

from tests.soak.soak import Sample, growth, soak, write

LIMITS = {"memory": 0.05, "tasks": 0.25, "files": 0.25}
"""Growth over the last half that is put down to chance, as a share."""

_ROW = "{:>7} {:>9} {:>10} {:>7} {:>7} {:>10} {:>10}"


def tell(sample: Sample) -> None:
    cells = (f"{sample.seconds:.0f}", f"{sample.memory:.1f}", sample.tasks, sample.files)
    redis = (f"{sample.redis_memory:.1f}", sample.redis_keys)
    print(_ROW.format(sample.runs, *cells, *redis), flush=True)  # noqa: T201 - a command prints


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.soak", description=__doc__)
    parser.add_argument("--runs", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path("soak"))
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    print(_ROW.format("runs", "seconds", "memory MB", "tasks", "files", "Redis MB", "keys"))  # noqa: T201
    with tempfile.TemporaryDirectory(prefix="bot-soak-") as folder:
        samples = asyncio.run(soak(options.runs, Path(folder), tell))
    write(samples, options.out)
    grown = {name: growth(samples, name) for name in LIMITS}
    print("growth over the last half:", {name: f"{share:+.1%}" for name, share in grown.items()})  # noqa: T201
    return int(any(grown[name] > limit for name, limit in LIMITS.items()))


sys.exit(main())
