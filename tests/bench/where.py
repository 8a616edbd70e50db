"""Where the CPU of a run goes: `python -m tests.bench.where loop`, or `runner` for a run with its records
in Redis. Prints the functions with all that they call, in milliseconds of a run, looked at by the
process's own CPU timer, which costs hardly anything."""

from __future__ import annotations

import argparse
import asyncio
import signal
import sysconfig
import time
from collections import Counter
from functools import partial
from pathlib import Path
from types import FrameType

from bot.core.garbage import look_seldom_for_garbage
from tests.bench import scene
from tests.bench.measure import FIGURES, model_server
from tests.bench.ours import loop_once

_EVERY = 0.001  # seconds of CPU
_ROOTS = (f"{Path(__file__).parents[2]}/", "site-packages/", f"{sysconfig.get_path('stdlib')}/")


class _Samples:
    """How often each function was at work, itself or in what it called."""

    def __init__(self) -> None:
        self.count = 0
        self.of_functions = Counter[str]()

    def take(self, _signal: int, frame: FrameType | None) -> None:
        self.count += 1
        functions = set[str]()
        while frame:
            file = frame.f_code.co_filename
            for root in _ROOTS:
                file = file.rpartition(root)[2] or file
            functions.add(f"{file}: {frame.f_code.co_qualname}")
            frame = frame.f_back
        self.of_functions.update(functions)


async def sampled(kind: str, characters: int, runs: int) -> tuple[float, _Samples]:
    """Return the seconds of CPU of a run, and the samples of all."""
    samples = _Samples()
    async with (
        model_server(characters) as (url, key),
        scene.composed(url, key, stream=False) as bot,
    ):
        for _ in range(3):
            await bot.answer()
        works = [
            bot.answer if kind == "runner" else partial(loop_once, await bot.parts())
            for _ in range(runs)
        ]
        look_seldom_for_garbage()
        signal.signal(signal.SIGPROF, samples.take)
        signal.setitimer(signal.ITIMER_PROF, _EVERY, _EVERY)
        before = time.process_time()
        for work in works:
            await work()
        seconds = time.process_time() - before
        signal.setitimer(signal.ITIMER_PROF, 0)
    return seconds / runs, samples


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.where", description=__doc__)
    parser.add_argument("kind", choices=("loop", "runner"))
    parser.add_argument("--figures", action="store_true", help="outputs of 2 kB full of figures")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--lines", type=int, default=80)
    asked = parser.parse_args()
    characters = FIGURES if asked.figures else 200
    seconds, samples = asyncio.run(sampled(asked.kind, characters, asked.runs))
    print(f"{1000 * seconds:.1f} ms of CPU a run")
    for function, count in samples.of_functions.most_common(asked.lines):
        print(f"{1000 * seconds * count / samples.count:8.2f} {function}")


if __name__ == "__main__":
    main()
