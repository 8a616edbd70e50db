"""`python -m tests.dabench FOLDER` asks the questions for which there is a program.

FOLDER holds the data of InfiAgent-DABench, which are not part of this project: da-dev-questions.jsonl,
da-dev-labels.jsonl, da-dev-tables. A scripted model reads the attached file, runs the program, and
answers with references to the figures of its result; the rest is the product: tools, processes,
references, the check of answers. An answer is right if each value equals its label at the digits of
that. Exit code 1 if one is wrong.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import statistics
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal, InvalidOperation
from pathlib import Path
from typing import Any

from bot.dev.model import ModelRequest, Reply, call, finish
from bot.library.tracing.findings import Finding, Verdict
from bot.store import open_stores
from bot.store.embedded import embedded_redis
from tests.dabench.programs import PROGRAMS, program_for
from tests.support.runs import answer, bot_with

_HANDLE = re.compile(r"^handle: (tbl_\w+)", re.MULTILINE)
_VALUE = re.compile(r"@(\w+)\[(.*?)\](?=\s@|$)")


@dataclass(frozen=True)
class Question:
    """A question of the benchmark: what people ask, the attached file, and the expected values."""

    number: int
    text: str
    table: Path
    labels: dict[str, str]


@dataclass(frozen=True)
class Answered:
    """What came of a question: the values by name, and what tracing the answer found."""

    question: Question
    values: dict[str, str]
    findings: tuple[Finding, ...]
    seconds: float

    @property
    def is_right(self) -> bool:
        """Whether each value is its label."""
        labels = self.question.labels
        return all(is_same(self.values.get(name, ""), label) for name, label in labels.items())

    def __str__(self) -> str:
        mark = "right" if self.is_right else f"WRONG, not {self.question.labels}"
        untraced = [item.text for item in self.findings if not is_traced(item)]
        warning = f", UNTRACED {untraced}" if untraced else ""
        return f"{self.question.number}: {self.values} {mark}{warning}, {self.seconds:.1f} s"


def questions_in(folder: Path) -> Iterator[Question]:
    """Yield the questions for which there is a program."""
    labels = _by_number(folder / "da-dev-labels.jsonl")
    for number, row in sorted(_by_number(folder / "da-dev-questions.jsonl").items()):
        if number in PROGRAMS:
            text = "\n".join((row["question"], row["constraints"], row["format"]))
            table = folder / "da-dev-tables" / row["file_name"]
            yield Question(number, text, table, dict(labels[number]["common_answers"]))


def solving(question: Question) -> Callable[[ModelRequest], Reply]:
    """Return a model that reads the file, runs the program and refers to its figures."""

    def reply(request: ModelRequest) -> Reply:
        outputs = [
            str(item["output"])
            for item in request.items
            if item.get("type") == "function_call_output"
        ]
        handles = _HANDLE.findall("\n".join(outputs))
        if not outputs:
            return call("read_file", {"file_id": "F1"})
        if len(outputs) == 1:
            program = program_for(question.number, handles[0])
            return call("run_python", {"program": program})
        values = (
            f"@{name}[{{{{{handles[-1]}.{name}{form_of(label)}}}}}]"
            for name, label in question.labels.items()
        )
        return finish(answer(" ".join(values)))

    return reply


def form_of(label: str) -> str:
    """Return the form of a reference with the decimals that a question asks for: those of its label."""
    decimals = re.fullmatch(r"-?\d+\.(\d+)", label)
    return f"|0.{'0' * len(decimals[1])}" if decimals else ""


def is_same(value: str, label: str) -> bool:
    """Return whether a value is a label: a number at the digits of that, else the same words."""
    try:
        wanted = Decimal(label)
        number = Decimal(value.replace(",", ""))
    except InvalidOperation:
        return value.replace("\\", "").strip().casefold() == label.strip(' "').casefold()
    return number.quantize(wanted, ROUND_HALF_UP) == wanted


def is_traced(item: Finding) -> bool:
    """Return whether a claim came from what was read, and nobody is warned of it."""
    return item.verdict is Verdict.READ and not item.warned


async def ask(question: Question, redis_url: str) -> Answered:
    """Ask a question of a bot whose stores are empty."""
    begun = time.monotonic()
    async with open_stores(redis_url) as stores, bot_with(stores, solving(question)) as bot:
        await stores.redis.call("FLUSHALL")
        file = bot.conversation.attach(question.table.name, question.table.read_bytes())
        outcome = await bot.ask(question.text, files=(file,))
    values = dict(_VALUE.findall(str((outcome.result or {}).get("summary", ""))))
    items = outcome.traced.items if outcome.traced else ()
    return Answered(question, values, items, time.monotonic() - begun)


async def main(folder: Path, only: list[int], at_once: int) -> int:
    """Ask the questions, print what came of each, and return how many answers are wrong."""
    waiting = (one for one in questions_in(folder) if not only or one.number in only)
    answered = list[Answered]()

    async def work() -> None:
        async with embedded_redis(None) as redis_url:
            for question in waiting:
                answered.append(await ask(question, redis_url))
                print(answered[-1], flush=True)  # noqa: T201 - a command prints

    await asyncio.gather(*(work() for _ in range(at_once)))
    right = sum(one.is_right for one in answered)
    figures = [item for one in answered for item in one.findings if item.reference]
    seconds = statistics.median(one.seconds for one in answered)
    print(  # noqa: T201
        f"{right} of {len(answered)} right; {len(figures)} figures by reference, "
        f"{sum(map(is_traced, figures))} of them traced; median {seconds:.1f} s, {at_once} at once"
    )
    return len(answered) - right


def _by_number(path: Path) -> dict[int, dict[str, Any]]:
    return {row["id"]: row for row in map(json.loads, path.read_text("utf-8").splitlines())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m tests.dabench", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", type=int, nargs="*", default=[], help="numbers of questions")
    parser.add_argument("--at-once", type=int, default=2)
    options = parser.parse_args()
    wrong = asyncio.run(main(options.folder, options.only, options.at_once))
    raise SystemExit(1 if wrong else 0)
