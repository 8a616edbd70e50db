"""Every crash window, with every kind of crash in it, against real processes.

A case asks two questions in one thread and one in another, has a process die, stand still or fail
at one place of the first, or a reply be lost there, and looks at what Slack shows in the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib import resources
from pathlib import Path
from typing import Any, Literal

from bot.core.failpoints import FAILPOINTS
from bot.local.model import ModelRequest, Reply, calls, finish, refusal
from bot.local.workspace import ADA, BEN
from tests.faults.fleet import COMMANDS, Fleet
from tests.support.deployment import is_terminal
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
HANG = 5.0  # seconds; the lease is one
PATIENCE = 60.0  # seconds until a question without an end counts as lost

TRIES, PAUSE = 4, 15.0  # seconds between tries of a case whose place was not come by

_AFTER_RESULT = 4  # a turn that no run should take
_FORGOTTEN = "As I said before."

_TAG = re.compile(r"\[(\w+-\d)\]")
_LONG = "\n\n".join(
    f"Paragraph {number}. " + "More words of the answer. " * 30 for number in range(26)
)
"""Goes into three messages."""

Scene = Literal["answer", "refusal", "drain", "sweep", "replaced"]
"""In `replaced` Slack lets no message be changed, so that each answer is posted anew."""


@dataclass(frozen=True)
class Case:
    """`place` is a failpoint; with the action "lost reply" it names a line and what the request
    holds. `turn` 0 means from the start, others when the model is asked for the nth time."""

    window: int
    place: str
    action: str
    turn: int = 0
    scene: Scene = "answer"

    @property
    def name(self) -> str:
        return f"{self.window} {self.place} {self.action} {self.scene}"


@dataclass
class Verdict:
    """What came of a case; `seconds` from the crash to the last answer."""

    case: Case
    reached: bool = False
    lost: int = 0
    doubled: int = 0
    ordered: bool = True
    seconds: float = 0.0
    tries: int = 1

    @property
    def clean(self) -> bool:
        return self.reached and not self.lost and not self.doubled and self.ordered


@dataclass
class Asked:
    """The questions of a case: tag → where."""

    tag: str
    threads: dict[tuple[str, str], list[str]] = field(default_factory=dict)


class Brain:
    """Three turns: looks for a tool, calculates twice and shares a file, answers at length. It never
    says the same thing twice: asked again after its result, it has nothing to add.

    What is in `armed`, by tag and turn, is done just before the reply.
    """

    def __init__(self) -> None:
        self.armed: dict[tuple[str, int], Any] = {}

    def __call__(self, request: ModelRequest) -> Reply:
        tag, turn = _tag(request), _turn(request)
        if arm := self.armed.pop((tag, turn), None):
            arm()
        mark = secrets.token_hex(4)
        if "refuse" in request.text.rsplit(f"[{tag}]", 1)[-1]:
            return refusal("I would rather not.")
        if turn == 1:
            return _numbered(
                mark,
                1,
                ("acquire_tools", {"names": ["share_file"]}),
                ("calculate", {"expression": "1+1"}),
            )
        if turn == 2:
            share = {"name": f"{tag}.txt", "content": "Two.", "handle": None, "comment": ""}
            sums = [("calculate", {"expression": each}) for each in ("2+2", "3+3")]
            return _numbered(mark, 2, *sums, ("share_file", share))
        if turn == _AFTER_RESULT:
            return finish(answer(f"{mark}: {_FORGOTTEN}"))
        return finish(answer(f"{mark}: this is for [{tag}]. {_LONG if tag.endswith('-1') else ''}"))


def _numbered(mark: str, turn: int, *pairs: tuple[str, dict[str, Any]]) -> Reply:
    reply = calls(*pairs)
    for number, item in enumerate(reply.items):
        item["call_id"] = f"t{turn}_{mark}_{number}"
    return reply


def _tag(request: ModelRequest) -> str:
    return str(_TAG.findall(request.text)[-1])


def _turn(request: ModelRequest) -> int:
    last = request.input[-1]
    if last.get("type") != "function_call_output":
        return 1
    numbered = last["call_id"].startswith("t")  # else it answers the call with the result
    return int(last["call_id"][1]) + 1 if numbered else _AFTER_RESULT


def script(name: str) -> str:
    """What a call of one of the store's scripts holds."""
    file = resources.files("bot.store") / "lua" / f"{name}.lua"
    return hashlib.sha1(file.read_bytes()).hexdigest()


async def run_case(fleet: Fleet, brain: Brain, case: Case) -> tuple[Verdict, Asked]:
    """Ask, crash, wait for the answers; again when the place was not come by (a worker begins some
    streams a minute and no more)."""
    verdict, asked = await run_once(fleet, brain, case)
    while not verdict.reached and verdict.tries < TRIES:
        await asyncio.sleep(PAUSE)
        tries = verdict.tries + 1
        verdict, asked = await run_once(fleet, brain, case)
        verdict.tries = tries
    return verdict, asked


async def run_once(fleet: Fleet, brain: Brain, case: Case) -> tuple[Verdict, Asked]:
    """As `run_case`, whether the place was come by or not."""
    await fleet.ws.until(lambda: fleet.up, 90)
    fleet.withdraw()
    tag = f"c{secrets.token_hex(3)}"
    verdict, asked = Verdict(case), Asked(tag)
    crash = _Crash(fleet, case)
    if case.turn:
        brain.armed[f"{tag}-1", case.turn] = crash.arm
    else:
        crash.arm()
    if case.scene == "drain":
        brain.armed.setdefault((f"{tag}-1", 1), crash.drain)
    await _ask(fleet, asked, refuse=case.scene == "refusal")
    began = time.time()
    try:
        await fleet.ws.until(lambda: not any(_missing(fleet, asked)), PATIENCE)
        await fleet.ws.until(crash.reached, 5)
    except TimeoutError:
        pass
    verdict.seconds = time.time() - (crash.at() or began)
    verdict.reached = crash.reached()
    crash.over()
    return verdict, asked


class _Crash:
    """What is to go wrong in a case, and whether it did."""

    def __init__(self, fleet: Fleet, case: Case) -> None:
        self._fleet = fleet
        self._case = case
        self._mark: Path | None = None
        self._lost_before = 0
        self._lost_at = 0.0

    def arm(self) -> None:
        if self._case.scene == "replaced":
            self._fleet.ws.faults.fail("chat.update", "edit_window_closed", times=10_000)
        if self._case.action == "lost reply":
            line, holding, *after = self._case.place.split()
            proxy = getattr(self._fleet, line)
            self._lost_before = proxy.lost
            needle = script(holding) if line == "redis" else holding
            proxy.lose_reply(needle.encode(), after=int(after[0]) if after else 0)
            self._lost_at = time.time()
            return
        if self._case.scene == "sweep":
            self._fleet.order("request-kept", "kill")
        action = f"hang {HANG}" if self._case.action == "hang" else self._case.action
        self._mark = self._fleet.order(self._case.place, action)

    def drain(self) -> None:
        """A deployment of a new version: all workers are asked to end at once."""
        for name, command in COMMANDS.items():
            if command == "worker":
                self._fleet.signal(name, signal.SIGTERM)

    def reached(self) -> bool:
        if self._case.action == "lost reply":
            proxy = getattr(self._fleet, self._case.place.split()[0])
            return bool(self._lost_at) and proxy.lost > self._lost_before
        return self._mark is not None and self._mark.exists()

    def at(self) -> float:
        """When it went wrong, about."""
        if self._mark is not None and self._mark.exists():
            return self._mark.stat().st_ctime
        return self._lost_at

    def over(self) -> None:
        self._fleet.withdraw()
        self._fleet.ws.faults.clear()
        for line in (self._fleet.redis, self._fleet.slack, self._fleet.model):
            line.forgive()


async def _ask(fleet: Fleet, asked: Asked, *, refuse: bool) -> None:
    what = "refuse this" if refuse else "how many?"
    root = await fleet.bot.ask(ADA, SALES, f"[{asked.tag}-1] {what}")
    asked.threads[SALES, root] = [f"{asked.tag}-1", f"{asked.tag}-2"]
    await fleet.bot.ask(BEN, SALES, f"[{asked.tag}-2] and how few?", root)
    other = await fleet.bot.ask(BEN, GENERAL, f"[{asked.tag}-3] and elsewhere?")
    asked.threads[GENERAL, other] = [f"{asked.tag}-3"]


def _missing(fleet: Fleet, asked: Asked) -> Iterator[int]:
    for (channel, thread), tags in asked.threads.items():
        yield max(0, len(tags) - len(fleet.bot.terminals(channel, thread)))


def judge(fleet: Fleet, verdict: Verdict, asked: Asked) -> None:
    """Count what is lost and doubled of the questions, as it stands now."""
    verdict.lost = sum(_missing(fleet, asked))
    verdict.doubled = 0
    for (channel, thread), tags in asked.threads.items():
        own = fleet.bot.own(channel, thread)
        verdict.doubled += max(0, len(fleet.bot.terminals(channel, thread)) - len(tags))
        parts = Counter(str(m["metadata"]["event_payload"]) for m in own if m.get("metadata"))
        files = Counter(file["name"] for m in own for file in m.get("files") or ())
        verdict.doubled += sum(count - 1 for count in (parts + files).values())
        left = [m for m in own if not m.get("metadata") and not m.get("files")]
        verdict.doubled += len(left)
        verdict.lost += sum(_FORGOTTEN in str(m) for m in own)
        said = [_TAG.findall(str(m)) for m in own if is_terminal(m)]
        answered = [found[-1] for found in said if found]
        verdict.ordered = verdict.ordered and answered == sorted(answered)


ACTIONS = ("kill", "raise", "hang")

_AT = {
    "model-asking": ((0, 5), (1, 12)),
    "model-streaming": ((0, 6), (2, 6)),
    "model-answered": ((0, 7), (3, 7)),
    "step-keeping": ((1, 7), (2, 10), (3, 12)),
    "step-kept": ((1, 8), (2, 11), (3, 12)),
    "tool-running": ((1, 9), (2, 10)),
    "tool-ran": ((1, 9), (2, 10)),
    "message-posting": ((3, 15),),
    "message-posted": ((3, 15),),
}
"""Failpoints that lie in several windows: at which turn of the model to crash there, and in which
window that is."""

NOT_RUN = {
    **{
        name: "tests/security/test_erasing.py, in a scene of its own"
        for name, windows in FAILPOINTS.items()
        if 23 in windows
    },
    "question-saying": "a command that is not acknowledged is shown as failed: nothing was accepted",
    "question-said": "as above",
    "whisper-posting": "seen by one person, and cannot be looked for: shown twice, if need be",
    "whisper-posted": "as above",
    "person-telling": "told at most once, as it says",
    "person-told": "as above",
    "step-returning": "tests/unit/slack/test_workflow.py",
    "step-returned": "as above",
    "elsewhere-posting": "a change by a tool as any other; nothing of the scene posts elsewhere",
    "elsewhere-posted": "as above",
    "card-posting": "tests/faults/test_approvals.py, in a scene of its own",
    "card-posted": "as above",
    "run-parked": "as above",
    "approval-decided": "as above",
    "card-updating": "as above",
    "card-updated": "as above",
    "message-left": "as above",
    "message-saved": "the same instant as the save point after it",
    "messages-joining": "tests/faults/test_joined.py",
    "messages-joined": "as above",
    "sweep-found": "below, in a scene of its own",
    "drain-begun": "as above",
    "ticket-returning": "as above",
}
"""Failpoints without a case in the table of all, and why."""

LOST_REPLIES = (
    Case(2, "redis submit", "lost reply"),
    Case(3, "redis take_lease", "lost reply"),
    Case(3, "redis run_start", "lost reply"),
    Case(4, "slack chat.startStream", "lost reply"),
    Case(5, "model /responses", "lost reply"),
    Case(6, "model /responses 3000", "lost reply"),
    Case(7, "redis fenced", "lost reply", 1),
    Case(10, "slack files.completeUploadExternal", "lost reply", 2),
    Case(11, "redis fenced", "lost reply", 2),
    Case(14, "redis fenced", "lost reply", 3),
    Case(15, "slack chat.postMessage", "lost reply", 3),
    Case(16, "slack chat.update", "lost reply", 3),
    Case(17, "redis run_delivered", "lost reply", 3),
    Case(18, "slack chat.stopStream", "lost reply", 3),
    Case(21, "slack chat.update", "lost reply", scene="refusal"),
    Case(14, "slack chat.postMessage", "lost reply", 3, scene="replaced"),
)


def all_cases() -> Iterator[Case]:
    """Every failpoint with every action, then replies that are lost."""
    for place, windows in FAILPOINTS.items():
        for action in ACTIONS if place not in NOT_RUN else ():
            window = 19 if action == "hang" and 19 in windows else windows[0]
            for turn, at in _AT.get(place, ((0, window),)):
                yield Case(at, place, action, turn)
    for action in ACTIONS:
        yield Case(20, "sweep-found", action, scene="sweep")
        yield Case(20, "drain-begun", action, scene="drain")
        yield Case(20, "ticket-returning", action, scene="drain")
        yield Case(21, "message-updating", action, scene="refusal")
        for place in ("message-posting", "message-posted", "message-replaced"):
            yield Case(14, place, action, 3, scene="replaced")
    yield from LOST_REPLIES


SHORT = (
    Case(2, "request-kept", "kill"),
    Case(4, "stream-started", "kill"),
    Case(10, "tool-ran", "kill", 2),
    Case(19, "run-finishing", "hang"),
    Case(15, "message-posted", "kill", 3),
    Case(16, "run-delivered", "kill"),
    Case(16, "slack chat.update", "lost reply", 3),
    Case(14, "message-replaced", "kill", 3, scene="replaced"),
)
"""The most telling ones."""


async def settled(fleet: Fleet) -> None:
    """Returns when processes that stood still had time to wake up and do harm."""
    await asyncio.sleep(HANG + 1)
