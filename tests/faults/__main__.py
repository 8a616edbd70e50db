"""`python -m tests.faults`: the table of crash windows; exits with 1 when anything is lost or doubled.

`--only WORDS` runs the cases whose names hold them, `--random N` that many random kills after them.
`--storm` kills processes every few seconds while `--questions` are asked, with each of `--seeds`. With
`--restore` all is lost in the midst of it, and a backup that was made before is restored.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import shutil
import signal
import sys
import tempfile
from pathlib import Path

from tests.faults.fleet import COMMANDS, Fleet, fleet
from tests.faults.storm import restored_storm, storm
from tests.faults.windows import (
    SHORT,
    Asked,
    Brain,
    Case,
    Verdict,
    all_cases,
    judge,
    run_case,
    run_once,
    settled,
)

_ROW = "{:>6}  {:<42} {:<11} {:<7} {:>7} {:>4} {:>7} {:>6} {:>8}"


def say(*cells: object) -> None:
    print(_ROW.format(*cells), flush=True)  # noqa: T201 - a command prints


def tell(verdict: Verdict) -> None:
    case = verdict.case
    place = f"{case.place} turn {case.turn}" if case.turn else case.place
    say(
        *(case.window, place, case.action, case.scene, "yes" if verdict.reached else "NO"),
        *(verdict.lost, verdict.doubled, "yes" if verdict.ordered else "NO"),
        f"{verdict.seconds:.1f} s",
    )


async def random_kills(running: Fleet, brain: Brain, count: int) -> list[tuple[Verdict, Asked]]:
    """Questions while processes are killed at any moment, those that recover included."""
    found = []
    for number in range(count):
        name = random.choice(list(COMMANDS))
        case = Case(0, f"{name}, any moment", "kill -9")
        asking = asyncio.create_task(run_once(running, brain, case))
        for _ in range(1 + number % 3):
            await asyncio.sleep(random.uniform(0.05, 3.0))
            running.signal(random.choice(list(COMMANDS)), signal.SIGKILL)
        verdict, asked = await asking
        verdict.reached = True
        await judge(running, verdict, asked)
        tell(verdict)
        found.append((verdict, asked))
    return found


async def main(options: argparse.Namespace) -> int:
    cases = list(SHORT if options.short else all_cases())
    cases = [case for case in cases if options.only in case.name]
    brain = Brain()
    done: list[tuple[Verdict, Asked]] = []
    say("window", "place", "action", "scene", "reached", "lost", "doubled", "order", "recover")
    with tempfile.TemporaryDirectory(prefix="bot-faults-") as folder:
        async with fleet(brain, Path(folder)) as running:
            for case in cases:
                verdict, asked = await run_case(running, brain, case)
                await judge(running, verdict, asked)
                tell(verdict)
                done.append((verdict, asked))
            done += await random_kills(running, brain, options.random)
            await settled(running)
            for verdict, asked in done:
                await judge(running, verdict, asked)
            bad = [verdict for verdict, _ in done if not verdict.clean]
    print(f"\n{len(done)} cases, {running.deaths} processes ended; not clean: {len(bad)}")  # noqa: T201
    for verdict in bad:
        tell(verdict)
    slowest = max((verdict.seconds for verdict, _ in done), default=0)
    print(f"slowest recovery: {slowest:.1f} s")  # noqa: T201
    return 1 if bad else 0


async def storms(options: argparse.Namespace) -> int:
    row = "{:>5} {:>10} {:>6} {:>12} {:>6} {:>8} {:>9} {:>10} {:>11} {:>8}"
    heads = "seed questions kills redis-rested lost doubled given-up disordered no-progress seconds"
    print(row.format(*heads.split()), flush=True)  # noqa: T201
    clean = True
    for seed in options.seeds:
        with tempfile.TemporaryDirectory(prefix="bot-storm-") as folder:
            play = restored_storm if options.restore else storm
            found = await play(seed, options.questions, Path(folder))
            if not found.is_clean:
                shutil.copytree(folder, f"{folder}-logs", ignore=shutil.ignore_patterns("orders"))
                print(f"logs: {folder}-logs")  # noqa: T201
        lists = (found.lost, found.doubled, found.given_up, found.disordered)
        counts = [len(each) for each in (*lists, found.without_progress)]
        facts = (
            seed,
            len(found.asked),
            found.kills,
            found.rests,
            *counts,
            f"{found.seconds:.0f}",
        )
        print(row.format(*facts), flush=True)  # noqa: T201
        for name, each in zip(("lost", "doubled", "given up", "disordered"), lists, strict=True):
            print(*(f"    {name}: {what}" for what in each), sep="\n", end="\n" * bool(each))  # noqa: T201
        print(f"    no progress: {found.without_progress}, workers killed by {found.killed_by}")  # noqa: T201
        if options.restore:
            since, lost = len(found.answered_since), len(found.open_when_lost)
            print(f"    answered since the backup: {since}, open and only in Slack: {lost}")  # noqa: T201
            print(*(f"    overtaken: {what}" for what in found.overtaken), sep="\n")  # noqa: T201
        clean = clean and found.is_clean
    return 0 if clean else 1


parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
parser.add_argument("--short", action="store_true", help="only the most telling cases")
parser.add_argument("--only", default="", help="cases whose name holds this")
parser.add_argument("--random", type=int, default=20, help="random kills afterwards")
parser.add_argument("--storm", action="store_true", help="kill all the time instead")
parser.add_argument("--restore", action="store_true", help="a storm in which all is lost")
parser.add_argument("--questions", type=int, default=300, help="of a storm")
parser.add_argument("--seeds", "--seed", type=int, nargs="+", default=[1, 2, 3], help="of storms")
given = parser.parse_args()
sys.exit(asyncio.run(storms(given) if given.storm else main(given)))
