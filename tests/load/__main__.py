"""`python -m tests.load`: acknowledgements and first signs under bursts, and what a run costs.

`python -m tests.load --acks`: mentions faster than runs can be made, to `bot web` with one worker, then to
`bot serve`. All on one machine: on a busy one, look at the CPU an event and at what is late by itself.

tests/load/README.md reads the figures. Measured on a busy machine they say little: repeat.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import platform
import tempfile
from pathlib import Path

from tests.faults.processes import started
from tests.load.acks import Acks, acks
from tests.load.load import Burst, Work, bursts, engine_cpu, quantile, site, work


def say(line: str = "") -> None:
    print(line, flush=True)  # noqa: T201 - a command prints


def tell_bursts(state: str, found: Burst) -> None:
    say(f"\n{found.events} events in bursts, to one web process, {state}")
    for name, values, goal in (
        ("acknowledged", found.acks, "p99 ≤ 100 ms"),
        ("first sign", found.first_status, "p50 ≤ 300 ms"),
    ):
        p50, p99 = (1000 * quantile(values, share) for share in (0.5, 0.99))
        say(f"  {name:<14} p50 {p50:7.1f} ms   p99 {p99:7.1f} ms   (goal: {goal})")
    lag = 1000 * quantile(found.lag, 0.99)
    say(f"  the stand-ins' own event loop was late by {lag:.0f} ms at p99, which is in the above")


def tell_work(found: Work) -> None:
    cpu = ", ".join(f"{name} {ms:.1f} ms" for name, ms in found.cpu.items())
    say(f"\n{found.runs} runs at once, two turns and two tools each, a model that answers at once")
    say(f"  {found.per_second:.1f} runs a second; CPU a run: {cpu}")
    say(f"  Redis keeps {found.redis_bytes / 1000:.1f} kB a run")
    calls, spent = (sum(each[index] for each in found.redis.values()) for index in (0, 1))
    say(f"  Redis commands a run: {calls:.1f}, {spent:.2f} ms in the server")
    for name, (count, ms) in sorted(found.redis.items(), key=lambda each: -each[1][1]):
        say(f"    {name:<22} {count:6.2f} calls {1000 * ms:8.1f} µs")
    say("  Slack calls a run:")
    for name, count in sorted(found.slack.items(), key=lambda each: -each[1]):
        say(f"    {name:<32} {count:6.2f}")


def tell_acks(commands: tuple[str, ...], found: Acks) -> None:
    say(f"\n{found.mentions} mentions, to bot {' and bot '.join(commands)}")
    for name, values in (
        ("acknowledged", found.acks),
        ("answered", found.answers),
        ("the stand-in late", found.late),
    ):
        p50, p99, most = (quantile(values, share) for share in (0.5, 0.99, 1.0))
        say(
            f"  {name:<18} {len(values):6,}   p50 {p50:.3f} s   p99 {p99:.3f} s   most {most:.3f} s"
        )
    slow = sum(each > 1 for each in found.acks)
    say(
        f"  later than 1 s: {slow:,} envelopes (goal: 0); answered {len(found.answers)} (goal: all)"
    )
    spent = ", ".join(f"{name} {ms:.1f} ms" for name, ms in found.cpu.items())
    say(f"  CPU an event while they came: {spent}; load {os.getloadavg()[0]:.1f}")


async def main(options: argparse.Namespace) -> None:
    if options.acks:
        for commands in (("web", "worker"), ("serve",)):
            with tempfile.TemporaryDirectory(prefix="bot-load-") as folder:
                tell_acks(commands, await acks(commands, Path(folder), rate=100, seconds=10))
        return
    load = os.getloadavg()[0]
    say(f"{os.cpu_count()} CPUs ({platform.machine()}), load before the start {load:.1f}")
    say(f"the engine alone: {await engine_cpu(options.runs):.2f} ms CPU a run (goal: ≤ 10)")
    with tempfile.TemporaryDirectory(prefix="bot-load-") as folder:
        async with site(Path(folder)) as at:
            shape = {"events_per_second": options.rate, "seconds": options.seconds}
            tell_bursts("just started", await bursts(at, **shape, count=1))
            tell_bursts("warm", await bursts(at, **shape, count=options.bursts))
            async with started("worker", at.worker, Path(folder) / "worker"):
                await at.rest(300)
                tell_work(await work(at, options.runs))


parser = argparse.ArgumentParser(prog="python -m tests.load", description=__doc__)
parser.add_argument("--acks", action="store_true", help="100 mentions a second for ten seconds")
parser.add_argument("--rate", type=int, default=200, help="events a second")
parser.add_argument("--seconds", type=float, default=1.0, help="length of a burst")
parser.add_argument("--bursts", type=int, default=5)
parser.add_argument("--runs", type=int, default=300)
asyncio.run(main(parser.parse_args()))
