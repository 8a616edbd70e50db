"""A storm: processes are killed -9 all the time, Redis stands still now and then, and people go on
asking in threads of several turns.

Real processes and a real Redis. The model never says the same thing twice, so that an accepted answer
that was forgotten shows; the files that it shares are counted in Slack, which is a witness that no
process of ours can deceive. Some questions kill every worker that asks the model about them.
"""

from __future__ import annotations

import asyncio
import os
import random
import secrets
import signal
import time
from collections import Counter
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from redis.asyncio import Redis

from bot.core.outcome import StopReason
from bot.dev.model import ModelRequest, Reply, call, calls, finish, held
from bot.dev.model.replies import Item
from bot.dev.workspace import ADA, BEN, CHLOE
from bot.slack.message import message_metadata
from bot.store import Stores, open_stores
from tests.faults.conversation import answered_by, asked_in, since_result
from tests.faults.fleet import COMMANDS, Fleet, Life, fleet
from tests.support.deployment import is_terminal
from tests.support.runs import answer

PLACES = ("C0SALES001", "C0GENERAL1")
PEOPLE = (ADA, BEN, CHLOE)
AT_ONCE = 8  # threads in which people write at the same time
KILL_EVERY = (2.0, 4.0)  # seconds; on a busy machine, where all takes longer, as much longer
REDIS_RESTS_EVERY, REDIS_RESTS = (12.0, 25.0), (2.0, 6.0)  # seconds
PATIENCE = 90.0  # seconds without a new answer until what is left counts as lost
RETRIES = (0.3, 1.0, 2.0, *[4.0] * 200)
"""Seconds between Slack's deliveries: a web process that is killed while it starts must be up once."""
MOST_DEATHS = 3  # under a run and without a save point between them, before it may be given up
SETTLING = 6.0  # seconds in which a process that was thought dead may still do harm

_KEPT = ("the model responded", "goes on:", "took in ")
"""How a worker's log says that a step of a run was kept."""
_LEFT = ("requeued", "success:", "partial:", "failed:")


@dataclass(frozen=True)
class Asked:
    """A question that the bot accepted."""

    tag: str
    channel: str
    thread: str
    ts: str


@dataclass
class Storm:
    """What is asked and what becomes of it. `without_progress` are questions that may be given up: so
    many workers were killed while they held the run, and no step was kept between. `given_up` are
    all others that were. Where all is lost, `answered_since` are questions that were open in the backup and had
    their answer before the loss, and `open_when_lost` those asked since without one. `overtaken` are threads in which a question
    that only Slack still had was found after a later one was answered: it is late, and not lost."""

    seed: int
    asked: list[Asked] = field(default_factory=list)
    kills: int = 0
    rests: int = 0
    seconds: float = 0.0
    lost: list[str] = field(default_factory=list)
    doubled: list[str] = field(default_factory=list)
    given_up: list[str] = field(default_factory=list)
    without_progress: list[str] = field(default_factory=list)
    disordered: list[str] = field(default_factory=list)
    killed_by: Counter[str] = field(default_factory=Counter)
    answered_since: set[str] = field(default_factory=set)
    open_when_lost: set[str] = field(default_factory=set)
    overtaken: list[str] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        return not (self.lost or self.doubled or self.given_up or self.disordered)


class Model:
    """Answers what people wrote since its last result, each time in other words; on the way it shares
    a file, or only looks at the clock. `steps` are those at which it was asked about a question, each with when it was first;
    `kills` are the times at which it killed a worker. It answers nobody while `answers` is not set."""

    def __init__(self, dice: random.Random, *, shares: bool = True) -> None:
        self.running: Fleet | None = None
        self.answers = asyncio.Event()
        self.answers.set()
        self._shares = shares
        self.killed_by = Counter[str]()
        self._dice = dice

    def __call__(self, request: ModelRequest) -> Reply:
        items = since_result(request.items)
        tags = asked_in(items)
        if tags and tags[0].startswith("killer"):
            self._kill_who_asks(tags[0], request)
        pause = self._dice.uniform(0, 0.6)
        reply = self._reply(request, items, tags)
        return held(Reply(reply.items, pause=pause), self.answers)

    def _reply(self, request: ModelRequest, items: list[Item], tags: list[str]) -> Reply:
        mark = secrets.token_hex(4)
        called = {item["name"] for item in items if item.get("type") == "function_call"}
        offered = {tool.get("name") for tool in request.tools}
        if not tags:
            return finish(answer(f"{mark}: as I said."))
        if not self._shares and "current_time" not in called:
            return call("current_time", {})
        if self._shares and "share_file" not in offered and "acquire_tools" not in called:
            return call("acquire_tools", {"names": ["share_file"]})
        if self._shares and "share_file" not in called and "share_file" in offered:
            share = {"name": f"{tags[0]}.txt", "content": mark, "handle": None, "comment": ""}
            return calls(("calculate", {"expression": "1+1"}), ("share_file", share))
        return finish(answer(f"{mark}: this is for {' '.join(f'[{tag}]' for tag in tags)}."))

    def _kill_who_asks(self, tag: str, request: ModelRequest) -> None:
        assert self.running is not None
        received = self.running.bot.api.requests
        headers = next(each.headers for each in reversed(received) if each.body is request.body)
        named = {name.casefold(): value for name, value in headers.items()}
        self.killed_by[tag] += 1
        self.running.signal(named["openai-organization"], signal.SIGKILL)


async def storm(seed: int, questions: int, folder: Path, *, turns: int = 5) -> Storm:
    """Ask so many questions, `turns` in each thread, and one that kills its workers, while processes
    are killed; what became of them."""
    dice, result = random.Random(seed), Storm(seed)
    model, began = Model(dice), time.monotonic()
    async with fleet(model, folder) as running, open_stores(running.redis_url) as stores:
        model.running = running
        running.ws.delivery.retry_delays = RETRIES
        async with _bad_weather(running, result, dice, model.answers):
            threads = asyncio.Queue[int]()
            for number in range(-(-questions // turns)):
                threads.put_nowait(number)
            people = [
                _people(running, stores, result, dice, threads, turns) for _ in range(AT_ONCE)
            ]
            await asyncio.gather(*people, _ask_killer(running, stores, result))
            await _until_answered(running, result)
        await asyncio.sleep(SETTLING)
        await _judge(running, stores, result, model)
    result.seconds, result.killed_by = time.monotonic() - began, model.killed_by
    return result


async def restored_storm(seed: int, questions: int, folder: Path, *, turns: int = 5) -> Storm:
    """Make a backup while people ask and processes are killed; later lose all of them and all that Redis
    has, restore the backup, and go on. What became of the questions.

    Nothing is changed on the way: after a restore that needs a person's approval.
    """
    dice, result = random.Random(seed), Storm(seed)
    model, began = Model(dice, shares=False), time.monotonic()
    async with fleet(model, folder) as running, open_stores(running.redis_url) as stores:
        model.running = running
        running.ws.delivery.retry_delays = RETRIES
        batches = _batches(questions, turns, 3)
        async with asyncio.TaskGroup() as group:

            def go_on() -> None:
                threads, people = batches.pop(0), range(AT_ONCE)
                for _ in people:
                    group.create_task(_people(running, stores, result, dice, threads, turns))

            async with _bad_weather(running, result, dice, model.answers):
                go_on()
                in_backup = await _several_open(running, result, model, questions // 6)
                backup = folder / "backup.bak"
                while await running.command("backup", str(backup)):  # noqa: ASYNC110 - of a process
                    await asyncio.sleep(0.5)  # Redis stands still
                model.answers.set()
                await _until(lambda: not in_backup & _open(running, result), 60 * running.pace)
                asked = {each.tag for each in result.asked}
                go_on()
                await _several_open(running, result, model, len(asked) + questions // 6)
            result.answered_since = in_backup - _open(running, result)
            result.open_when_lost = _open(running, result) - asked
            await running.stop()
            before = _shown(running, result)
            async with Redis.from_url(running.redis_url) as redis:
                await redis.flushall()
            go_on()
            assert await running.command("restore", str(backup)) == 0
            model.answers.set()
            await running.start()
        await _until_answered(running, result)
        await asyncio.sleep(SETTLING)
        await _judge(running, stores, result, model)
        result.overtaken, result.disordered = result.disordered, []
        failed = [each.tag for each in result.asked if _is_named(running, each)]
        result.given_up += [tag for tag in result.lost if tag in failed]
        result.lost = [tag for tag in result.lost if tag not in failed]
        now = _shown(running, result)
        anew = [f"answered anew: {text}" for ts, text in before.items() if now.get(ts) != text]
        result.doubled += anew
    result.seconds = time.monotonic() - began
    return result


def _batches(questions: int, turns: int, count: int) -> list[asyncio.Queue[int]]:
    """Return the numbers of the threads in which so many questions are asked, in `count` parts."""
    parts = [asyncio.Queue[int]() for _ in range(count)]
    for number in range(-(-questions // turns)):
        parts[number % count].put_nowait(number)
    return parts


async def _several_open(running: Fleet, result: Storm, model: Model, least: int) -> set[str]:
    """Wait for so many questions, and have the model answer nobody. Return what is open, at least two."""
    await _until(lambda: len(result.asked) >= least, 600)
    model.answers.clear()
    await _until(lambda: len(_open(running, result)) > 1, 60 * running.pace)
    return _open(running, result)


def _shown(running: Fleet, result: Storm) -> dict[str, str]:
    """Return the texts of all final messages, by ts. The model never says the same thing twice."""
    threads = {(each.channel, each.thread) for each in result.asked}
    return {m["ts"]: str(m["text"]) for thread in threads for m in running.bot.terminals(*thread)}


def _is_named(running: Fleet, asked: Asked) -> bool:
    """Whether a final message says that it is the end of this question, be it a failure."""
    ends = running.bot.terminals(asked.channel, asked.thread)
    return any(asked.ts in message_metadata.answered_by(m) for m in ends)


def _open(running: Fleet, result: Storm) -> set[str]:
    return {each.tag for each in result.asked if each.tag not in _answered(running, each)}


@asynccontextmanager
async def _bad_weather(
    running: Fleet, result: Storm, dice: random.Random, answers: asyncio.Event
) -> AsyncGenerator[None]:
    """Kill a process every few seconds, and let Redis stand still now and then.

    None is killed while the model does not answer: runs without progress would soon be given up.
    """

    async def kill() -> None:
        while True:
            await asyncio.sleep(dice.uniform(*KILL_EVERY) * running.pace)
            await answers.wait()
            running.signal(dice.choice(list(COMMANDS)), signal.SIGKILL)
            result.kills += 1

    async def rest() -> None:
        async with Redis.from_url(running.redis_url) as redis:
            pid = int((await redis.info("server"))["process_id"])
        while True:
            await asyncio.sleep(dice.uniform(*REDIS_RESTS_EVERY) * running.pace)
            os.kill(pid, signal.SIGSTOP)
            try:
                await asyncio.sleep(dice.uniform(*REDIS_RESTS))
            finally:
                os.kill(pid, signal.SIGCONT)
            result.rests += 1

    weather = [asyncio.create_task(kill()), asyncio.create_task(rest())]
    try:
        yield
    finally:
        for each in weather:
            each.cancel()
        await asyncio.gather(*weather, return_exceptions=True)


async def _people(
    running: Fleet,
    stores: Stores,
    result: Storm,
    dice: random.Random,
    threads: asyncio.Queue[int],
    turns: int,
) -> None:
    """Several people in one thread after the other, who often write before they have an answer."""
    while not threads.empty():
        number = threads.get_nowait()
        channel, root, user = PLACES[number % len(PLACES)], None, dice.choice(PEOPLE)
        for turn in range(turns):
            if dice.random() < 0.4:
                user = dice.choice(PEOPLE)
            asked = await _ask(running, stores, user, f"q{number}-{turn}", channel, root)
            result.asked.append(asked)
            root = asked.thread
            if dice.random() < 0.5:
                await _until(lambda: asked.tag in _answered(running, asked), 20)  # noqa: B023
            else:
                await asyncio.sleep(dice.uniform(0, 1.5))


async def _ask_killer(running: Fleet, stores: Stores, result: Storm) -> None:
    await asyncio.sleep(3)
    result.asked.append(await _ask(running, stores, ADA, "killer-0", PLACES[0], None))


async def _ask(
    running: Fleet, stores: Stores, user: str, tag: str, channel: str, root: str | None
) -> Asked:
    """Ask, and wait until it is accepted: only then the next one has its place behind it."""
    ts = await running.bot.ask(user, channel, f"[{tag}] how many?", root)
    team = running.ws.people[user].team_id
    async with asyncio.timeout(PATIENCE * running.pace):
        asked = Asked(tag, channel, root or ts, ts)
        # What was answered before all was lost is not taken in anew.
        while not (  # noqa: ASYNC110 - Redis tells nobody
            tag in _answered(running, asked) or await _was_taken(stores, team, channel, ts)
        ):
            await asyncio.sleep(0.05)
    return asked


async def _was_taken(stores: Stores, team: str, channel: str, ts: str) -> bool:
    try:
        return await stores.mailbox.was_taken(team, channel, ts)
    except Exception:  # noqa: BLE001 - Redis stands still
        return False


async def _until(condition: Any, seconds: float) -> bool:
    ends = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > ends:
            return False
        await asyncio.sleep(0.1)
    return True


async def _until_answered(running: Fleet, result: Storm) -> None:
    """Returns when every question has an end, or when nothing new came for long."""
    left, since = -1, time.monotonic()
    while unanswered := _unanswered(running, result):
        if len(unanswered) != left:
            left, since = len(unanswered), time.monotonic()
        if time.monotonic() - since > PATIENCE * running.pace:
            return
        await asyncio.sleep(0.5)


def _unanswered(running: Fleet, result: Storm) -> list[Asked]:
    """Questions in threads that have fewer ends than they need, for all that can be seen in Slack."""
    threads = {(each.channel, each.thread) for each in result.asked}
    waiting = {
        thread
        for thread in threads
        if any(not is_terminal(m) and m.get("metadata") for m in running.bot.own(*thread))
        or not running.bot.terminals(*thread)
    }
    every = {each.thread: _answered(running, each) for each in result.asked}
    return [
        each
        for each in result.asked
        if (each.channel, each.thread) in waiting
        or (each.tag not in every[each.thread] and not _has_failure(running, each))
    ]


def _has_failure(running: Fleet, asked: Asked) -> bool:
    """Whether an end in the thread is an answer to nothing."""
    ends = running.bot.terminals(asked.channel, asked.thread)
    return any(not answered_by(m) for m in ends)


def _answered(running: Fleet, asked: Asked) -> list[str]:
    """The tags that the thread's final messages answer, in their order."""
    ends = running.bot.terminals(asked.channel, asked.thread)
    return [tag for m in ends for tag in answered_by(m)]


async def _judge(running: Fleet, stores: Stores, result: Storm, model: Model) -> None:
    threads: dict[str, list[Asked]] = {}
    for each in result.asked:
        threads.setdefault(each.thread, []).append(each)
    for thread, questions in threads.items():
        channel = questions[0].channel
        said = _answered(running, questions[0])
        runs = {each.tag: await _run_of(running, stores, each) for each in questions}
        given_up = {tag: run for tag, run in runs.items() if run and run.is_given_up}
        result.lost += [tag for tag in runs if tag not in (*said, *given_up)]
        result.doubled += [tag for tag, count in Counter(said).items() if count > 1]
        for tag, run in given_up.items():
            may_be = _fruitless_deaths(running.lives, run) >= MOST_DEATHS
            (result.without_progress if may_be else result.given_up).append(tag)
        turns = [int(tag.rsplit("-", 1)[1]) for tag in said]
        result.disordered += [f"{thread}: {said}"] * any(b < a for a, b in pairwise(turns))
        own = running.bot.own(channel, thread)
        parts = Counter(str(m["metadata"]["event_payload"]) for m in own if m.get("metadata"))
        files = Counter(file["name"] for m in own for file in m.get("files") or ())
        result.doubled += [what for what, count in (parts + files).items() if count > 1]
        left = [m for m in own if not is_terminal(m) and not m.get("files")]
        result.doubled += [f"left over in {thread}: {str(m)[:200]}" for m in left]


@dataclass(frozen=True)
class _Run:
    run_id: str
    request_id: str
    is_given_up: bool


async def _run_of(running: Fleet, stores: Stores, asked: Asked) -> _Run | None:
    """The run that a question began or joined."""
    team = running.ws.people[ADA].team_id
    request_id = await stores.mailbox.find(team, asked.channel, asked.ts)
    run_id = await stores.runs.id_of(request_id) if request_id else None
    begun = await stores.runs.begun_by(run_id) if run_id else None
    if run_id is None or begun is None:
        return None
    outcome = await stores.runs.outcome(run_id)
    failed = outcome is not None and outcome.stop_reason is StopReason.INTERNAL_ERROR
    return _Run(run_id, begun[0], failed)


def _fruitless_deaths(lives: list[Life], run: _Run) -> int:
    """Count the workers that were killed while they held the run, after the last step that was kept,
    by what each of them logged."""
    held: list[tuple[str, str]] = []  # when it was started, when its worker was killed
    kept_at = ""
    for life in lives:
        taken_at = ""
        for line in life.log.splitlines():
            at = line[: len("HH:MM:SS")]
            if f"Request {run.request_id} was started" in line:
                taken_at = at
            elif run.run_id in line and any(each in line for each in _KEPT):
                taken_at, kept_at = "", max(kept_at, at)
            elif run.run_id in line and any(each in line for each in _LEFT):
                taken_at = ""
        if taken_at and life.code == -signal.SIGKILL:
            held.append((taken_at, life.ended_at))
    held.sort()
    nexts = [taken for taken, _ in held[1:]]
    overtaken = sum(nxt < killed for nxt, (_, killed) in zip(nexts, held, strict=False))
    return sum(taken >= kept_at for taken, _ in held) - overtaken
