"""Plays the jobs and prints what each took: `python -m tests.jobs [--only NAME] [--stateless]`."""

from __future__ import annotations

import argparse
import asyncio
import logging
import sys
from collections.abc import Iterable
from pathlib import Path

from bot.slack.intake import schedules
from bot.store.embedded import embedded_redis
from tests.jobs.job import read_jobs
from tests.jobs.playing import Played, play


async def main(options: argparse.Namespace) -> int:
    """Play the jobs; return 1 if one of them did not go as it says."""
    jobs = [
        job
        for job in read_jobs()
        if (not options.only or any(name in job.name for name in options.only))
        and (job.quick or not options.quick)
    ]
    logging.disable(logging.CRITICAL)
    schedules.LOOK_SECONDS = 0.2
    played = list[Played]()
    async with embedded_redis(None) as url:
        for job in jobs:
            for stateless in (False, True) if options.stateless else (False,):
                one = await play(job, url, stateless=stateless)
                played.append(one)
                _report(one, options)
    _write(table(played))
    if options.sizes:
        _write(sizes(played))
    wrong = [one for one in played if one.problems]
    _write(f"{len(jobs)} jobs, {len(played)} played, {len(wrong)} with problems.")
    return bool(wrong)


def _report(one: Played, options: argparse.Namespace) -> None:
    name = f"{one.name}{' (stateless)' if one.stateless else ''}"
    for problem in one.problems:
        _write(f"✘ {name}: {problem}")
    if options.show:
        _write(f"\n══════ {name}\n" + "\n".join(one.transcript))
    if options.save:
        options.save.mkdir(parents=True, exist_ok=True)
        file = options.save / f"{one.name}{'.stateless' if one.stateless else ''}.txt"
        file.write_text("\n".join(one.transcript) + "\n", "utf-8")


def table(played: Iterable[Played]) -> str:
    """Return what each job took, in columns of one width: tokens of input, and how many of those the
    service had in its cache; `acquire` counts the model calls that only acquired tools,
    `guessed` the calls of listed tools whose arguments the model had not seen."""
    head = f"{'job':34} {'calls':>5} {'acquire':>7} {'guessed':>7} {'input':>7} {'cached':>7} {'output':>6} {'first':>7} {'Slack':>5}  tools"
    lines = [head]
    total = Played("all", stateless=False)
    for one in played:
        lines.append(_line(one, ", ".join(one.tools)))
        for name in (
            "calls",
            "only_acquiring",
            "guessed",
            "input_tokens",
            "cached_tokens",
            "output_tokens",
        ):
            setattr(total, name, getattr(total, name) + getattr(one, name))
        total.slack += one.slack
    return "\n".join([*lines, _line(total, "")])


def _line(one: Played, tools: str) -> str:
    name = f"{one.name}{' (stateless)' if one.stateless else ''}{' ✘' if one.problems else ''}"
    return (
        f"{name:34} {one.calls:5} {one.only_acquiring:7} {one.guessed:7} {one.input_tokens:7,} {one.cached_tokens:7,} "
        f"{one.output_tokens:6,} {one.first.get('request', 0):7,} {one.requests:5}  {tools}"
    )


def sizes(played: Iterable[Played]) -> str:
    """Return the parts of the first request of each job, in bytes, largest first."""
    lines = []
    for one in played:
        parts = sorted(one.first.items(), key=lambda part: -part[1])
        lines.append(f"{one.name}: " + ", ".join(f"{name} {size:,}" for name, size in parts))
    return "\n".join(lines)


def _write(text: str) -> None:
    sys.stdout.write(f"{text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.jobs", description=__doc__)
    parser.add_argument("--only", action="append", help="jobs whose names have this in them")
    parser.add_argument("--quick", action="store_true", help="the short form, as in CI")
    parser.add_argument("--stateless", action="store_true", help="without chains, too")
    parser.add_argument("--sizes", action="store_true", help="the parts of each first request")
    parser.add_argument("--show", action="store_true", help="each conversation, masked of ids")
    parser.add_argument("--save", type=Path, help="a folder for the conversations")
    sys.exit(asyncio.run(main(parser.parse_args())))
