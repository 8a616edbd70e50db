"""`python -m tests.bench`: the table."""

from __future__ import annotations

import asyncio
import os
import subprocess
import sys
from statistics import median

from tests.bench.measure import ROWS, measured, tracing_seconds
from tests.bench.memory import growth, per_waiting_run
from tests.bench.mention import functions_of_a_mention
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


async def main() -> None:
    rows = []
    for each in ROWS:
        cpu = await measured(each, rounds=5, runs=100)
        for what, taken, share, goal in (
            ("the loop", cpu.loop, cpu.loop_share, each.loop_goal),
            ("with runner and Redis", cpu.runner, cpu.runner_share, each.runner_goal),
        ):
            compared = f"{share:.2f} of the bare loop's {cpu.bare:.1f} ms (goal {goal})"
            rows.append((f"CPU of a run, {each.name}: {what}", f"{taken:.1f} ms", compared))
    for characters in (200, 2_000):
        seconds = await tracing_seconds(characters, runs=30)
        name = f"CPU of filling in and tracing, outputs of {characters:,} characters"
        rows.append((name, f"{seconds * 1000:.1f} ms", "of the run above (goal 2 to 4)"))
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
        sys.stdout.write(f"{name:<66} {value:>14}   {compared}\n")


asyncio.run(main())
