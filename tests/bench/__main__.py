"""`python -m tests.bench`: the table of CPU beside a bare loop, and then what else runs cost.

`--rounds 2 --runs 20` takes less time, `--table` prints the table alone, `--ours` leaves out the
frameworks of others.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import subprocess
import sys
from statistics import median

from tests.bench.measure import (
    BARE,
    COLUMNS,
    FIGURES,
    MORE_FOR_FIGURES,
    OURS,
    Column,
    Cpu,
    measured,
    tracing_seconds,
)
from tests.bench.memory import growth, per_waiting_run
from tests.bench.mention import functions_of_a_mention
from tests.bench.peers import peers
from tests.bench.traffic import traffic

_IMPORT = (
    "import sys, time; t = time.process_time(); import {}; "
    "print(time.process_time() - t, len(sys.modules))"
)


def import_cost(module: str) -> tuple[float, int]:
    """CPU seconds that importing `module` takes in a fresh interpreter, the median of five, and the
    number of modules that are loaded then."""
    command = [sys.executable, "-c", _IMPORT.format(module)]
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    costs = [subprocess.check_output(command, env=environment).split() for _ in range(5)]
    return median(float(seconds) for seconds, _ in costs), int(costs[0][1])


async def print_table(rounds: int, runs: int, *, with_peers: bool) -> None:
    """Print CPU of a run by contender: milliseconds of the bare loop, and of others their share."""
    others, missing = peers() if with_peers else ({}, [])
    print(
        f"CPU of a run, as a share of the bare loop's; medians of {rounds} rounds of {runs} runs."
    )
    print(f"Load of the machine before: {os.getloadavg()[0]:.1f}\n")
    heads = "".join(f"{column.name:>22}" for column in COLUMNS)
    print(f"{'':<24}{heads}")
    for characters, contenders in ((200, {**OURS, **others}), (FIGURES, OURS)):
        found = [
            await measured(each, contenders, characters=characters, rounds=rounds, runs=runs)
            for each in COLUMNS
        ]
        for name in contenders:
            cells = "".join(
                f"{_cell(name, cpu[name], column, characters):>22}"
                for column, cpu in zip(COLUMNS, found, strict=True)
            )
            print(f"{name + (', 2 kB' if characters == FIGURES else ''):<24}{cells}", flush=True)
    print(
        f"\nGoals in brackets; with outputs of 2 kB at most {MORE_FOR_FIGURES} times the share above."
    )
    print(f"Load of the machine after: {os.getloadavg()[0]:.1f}")
    print("\n".join(missing))


def _cell(name: str, cpu: Cpu, column: Column, characters: int) -> str:
    if name == BARE:
        return f"{cpu.milliseconds:.1f} ms"
    goal = column.goals.get(name) if characters != FIGURES else None
    return f"{cpu.share:.2f}" + (f" (<= {goal:.2f})" if goal else "")


async def print_more() -> None:
    rows = []
    for characters in (200, FIGURES):
        seconds = await tracing_seconds(characters, runs=30)
        name = f"CPU of filling in and tracing, outputs of {characters:,} characters"
        rows.append((name, f"{seconds * 1000:.1f} ms", "of a run (goal 2 to 4)"))
    sdk, _ = import_cost("openai")
    for module in ("bot.app.process", "bot.settings", "bot.agent.loop"):
        seconds, modules = import_cost(module)
        compared = f"{modules:,} modules, {seconds / sdk:.2f} of `import openai`"
        rows.append((f"imports: {module}", f"{seconds:.2f} s CPU", compared))
    ran = await functions_of_a_mention()
    files = len({file for file, _ in ran})
    rows.append(
        ("one mention with one tool", f"{len(ran):,} functions", f"in {files} files of bot/")
    )
    waiting = await per_waiting_run(1_000)
    rows.append(("memory of one of 1,000 waiting runs", f"{waiting / 1e6:.3f} MB", "(goal 0.5 MB)"))
    more, objects = await growth(2_000)
    left = f"{objects:.2f} objects a run left (goal: flat)"
    rows.append(("memory that 2,000 runs add", f"{more / 1e6:.1f} MB", left))
    redis = await traffic()
    idle, question = f"{redis.idle:.1f} per second", f"{redis.question:.0f}"
    inside = f"{redis.inside} more inside scripts (goal 120)"
    rows.append(("Redis commands of an idle process", idle, "(goal 10)"))
    rows.append(("Redis commands of a question with two tools", question, inside))
    for name, value, compared in rows:
        print(f"{name:<66} {value:>14}   {compared}")


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--runs", type=int, default=50)
    parser.add_argument("--table", action="store_true")
    parser.add_argument("--ours", action="store_true")
    asked = parser.parse_args()
    asyncio.run(print_table(asked.rounds, asked.runs, with_peers=not asked.ours))
    if not asked.table:
        asyncio.run(print_more())


main()
