"""Every crash window, with every kind of crash in it, against real processes.

A case asks a question in one thread, where the same person goes on while it is worked on and once
more when the model has its result, and another person follows; and one in another thread. It has a
process die, stand still or fail at one place of the first, or a reply be lost there, and looks at what
Slack shows in the end.
"""

from __future__ import annotations

import asyncio
import hashlib
import secrets
import signal
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from bot.core.errors import StoreUnavailable
from bot.core.failpoints import FAILPOINTS
from bot.dev.model import ModelRequest, Reply, calls, finish, refusal
from bot.dev.model.replies import Item
from bot.dev.model.request import item_text
from bot.dev.workspace import ADA, BEN, NotAnswered
from bot.features.ask_person.cards import CHOOSE
from bot.store import Stores, connection, open_stores
from tests.faults.conversation import answered_by, asked_in, since_result, tags_in
from tests.faults.fleet import COMMANDS, Fleet
from tests.support.deployment import A_MOMENT, is_terminal
from tests.support.runs import answer

SALES, GENERAL = "C0SALES001", "C0GENERAL1"
HANG = 5.0  # seconds; the lease is one
PATIENCE = 60.0  # seconds until a question without an end counts as lost

TRIES, PAUSE = 4, 15.0  # seconds between tries of a case whose place was not come by

HELD = 4.0  # seconds that the model waits for what people say meanwhile

_FORGOTTEN = "As I said before."

_LONG = "\n\n".join(
    f"Paragraph {number}. " + "More words of the answer. " * 30 for number in range(26)
)
"""Goes into three messages."""

Scene = Literal["answer", "refusal", "drain", "sweep", "replaced", "pressed", "written"]
"""In `replaced` Slack lets no message be changed, so that each answer is posted anew. In `pressed` and
`written` the bot asks the first person back, who answers with a button or a message."""


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
    """The questions of a case by their tags, each as channel, thread and ts."""

    tag: str
    messages: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    @property
    def threads(self) -> set[tuple[str, str]]:
        """Where they were asked."""
        return {(channel, thread) for channel, thread, _ in self.messages.values()}


class Gate:
    """Holds a reply of the model until somebody has done something meanwhile."""

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.go = asyncio.Event()


class Brain:
    """Three turns: looks for a tool, calculates twice and shares a file, answers at length. It never
    says the same thing twice: asked again after its result, it has nothing to add.

    `gates` hold a reply, by tag and turn; what is in `armed` is done just before it.
    """

    def __init__(self) -> None:
        self.armed: dict[tuple[str, int], Any] = {}
        self.gates: dict[tuple[str, int], Gate] = {}

    async def __call__(self, request: ModelRequest) -> Reply:
        items = since_result(request.items)
        tags = asked_in(items)
        turn = _turn(items)
        mark = secrets.token_hex(4)
        if not tags:
            return finish(answer(f"{mark}: {_FORGOTTEN}"))
        if gate := self.gates.pop((tags[0], turn), None):
            gate.reached.set()
            with suppress(TimeoutError):
                async with asyncio.timeout(HELD):
                    await gate.go.wait()
        if turn == 1:
            await asyncio.sleep(A_MOMENT)  # so that the run has its message
        if arm := self.armed.pop((tags[0], turn), None):
            arm()
        told = [item_text(item) for item in items if item.get("role") == "user"]
        if any("refuse" in text for text in told):
            return refusal("I would rather not.")
        if any("ask me" in text for text in told):
            return _asks_back(mark, turn, items)
        if turn == 1:
            return _numbered(
                mark,
                1,
                ("acquire_tools", {"names": ["share_file"]}),
                ("calculate", {"expression": "1+1"}),
            )
        if turn == 2:
            share = {"name": f"{tags[0]}.txt", "content": "Two.", "handle": None, "comment": ""}
            sums = [("calculate", {"expression": each}) for each in ("2+2", "3+3")]
            return _numbered(mark, 2, *sums, ("share_file", share))
        said = " ".join(f"[{tag}]" for tag in tags)
        long = _LONG if tags[0].endswith("-1") else ""
        return finish(answer(f"{mark}: this is for {said}. {long}"))


def _asks_back(mark: str, turn: int, items: list[Item]) -> Reply:
    """Ask once, and then say whatever was answered."""
    if turn == 1:
        return _numbered(mark, 1, ("acquire_tools", {"names": ["ask_person"]}))
    if turn == 2:
        asked = {"question": "Which?", "options": ["One", "Two"], "several": False}
        return _numbered(mark, 2, ("ask_person", {**asked, "otherwise": "one"}))
    output = next(str(each["output"]) for each in reversed(items) if "output" in each)
    said = " ".join(f"[{tag}]" for tag in dict.fromkeys((*asked_in(items), *tags_in(output))))
    return finish(answer(f"{mark}: this is for {said}. {output}"))


def _numbered(mark: str, turn: int, *pairs: tuple[str, dict[str, Any]]) -> Reply:
    reply = calls(*pairs)
    for number, item in enumerate(reply.items):
        item["call_id"] = f"t{turn}_{mark}_{number}"
    return reply


def _turn(items: list[Item]) -> int:
    """Return which call to the model about a question this is, from the calls before it."""
    done = [item for item in items if item.get("type") == "function_call_output"]
    numbers = [int(item["call_id"][1]) for item in done if item["call_id"].startswith("t")]
    return max(numbers, default=0) + 1


def script(name: str) -> str:
    """What a call of one of the store's scripts holds."""
    return hashlib.sha1(connection.script(name).encode()).hexdigest()


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
    began = time.time()
    if case.scene in ("pressed", "written"):
        await talk_back(fleet, asked, is_pressed=case.scene == "pressed")
    else:
        await talk(fleet, brain, asked, refuse=case.scene == "refusal")
    async with open_stores(fleet.redis_url) as stores:
        await until_answered(fleet, stores, asked)
    with suppress(TimeoutError):
        await fleet.ws.until(crash.reached, 5)
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


async def talk(fleet: Fleet, brain: Brain, asked: Asked, *, refuse: bool) -> None:
    """Ask, and say more in the same thread: while the run works, and when the model has its result."""
    first = f"{asked.tag}-1"
    stages = {1: (2, 3, 4)} if refuse else {2: (2,), 3: (3, 4)}
    gates = {turn: brain.gates.setdefault((first, turn), Gate()) for turn in stages}

    async def say(number: int, user: str, text: str, channel: str, root: str | None = None) -> str:
        ts = await fleet.bot.ask(user, channel, f"[{asked.tag}-{number}] {text}", root)
        asked.messages[f"{asked.tag}-{number}"] = channel, root or ts, ts
        return ts

    root = await say(1, ADA, "refuse this" if refuse else "how many?", SALES)
    await say(5, BEN, "and elsewhere?", GENERAL)
    for turn, numbers in stages.items():
        gate = gates[turn]
        with suppress(TimeoutError):  # a run that failed comes no further
            await fleet.ws.until(
                lambda: gate.reached.is_set() or fleet.bot.terminals(SALES, root),  # noqa: B023
                PATIENCE * fleet.pace,
            )
        for number in numbers:
            await say(number, BEN if number == 4 else ADA, f"and number {number}?", SALES, root)
        with suppress(TimeoutError):
            await fleet.ws.until(lambda: not fleet.ws.delivery.under_way, HELD / 2)
        gate.go.set()


async def talk_back(fleet: Fleet, asked: Asked, *, is_pressed: bool) -> None:
    """Ask what the bot asks back about, and answer that; another person asks meanwhile."""
    first, ws = f"{asked.tag}-1", fleet.ws
    root = await fleet.bot.ask(ADA, SALES, f"[{first}] ask me: how many?")
    asked.messages[first] = SALES, root, root

    def card(holds: str = "actions") -> str:
        own = fleet.bot.own(SALES, root)
        named = [m for m in own if "card" in (m.get("metadata") or {}).get("event_payload", {})]
        return next((str(m["ts"]) for m in named if holds in str(m["blocks"])), "")

    def is_over() -> bool:
        return bool(fleet.bot.terminals(SALES, root))

    with suppress(TimeoutError):
        await ws.until(lambda: card() or is_over(), PATIENCE * fleet.pace)
    ts = await fleet.bot.ask(BEN, SALES, f"[{asked.tag}-4] and number 4?", root)
    asked.messages[f"{asked.tag}-4"] = SALES, root, ts
    if not is_pressed:
        answered = await ws.say(ADA, SALES, f"[{asked.tag}-2] Two", root)
        asked.messages[f"{asked.tag}-2"] = SALES, root, str(answered["ts"])
    for _ in range(10 if is_pressed else 0):
        with suppress(NotAnswered, TimeoutError):
            if shown := card():
                await ws.click(ADA, SALES, shown, CHOOSE[1])
            await ws.until(lambda: not card() or is_over(), 3)
            break


async def until_answered(fleet: Fleet, stores: Stores, asked: Asked) -> None:
    ends = time.monotonic() + PATIENCE * fleet.pace
    while await _unanswered(fleet, stores, asked) and time.monotonic() < ends:  # noqa: ASYNC110
        await asyncio.sleep(0.2)  # Redis tells nobody


async def _runs(fleet: Fleet, stores: Stores, asked: Asked) -> dict[str, str | None]:
    """The run that each question began or joined, by its tag."""
    team, found = fleet.ws.people[ADA].team_id, dict[str, str | None]()
    for tag, (channel, _, ts) in asked.messages.items():
        request_id = await stores.mailbox.find(team, channel, ts)
        found[tag] = await stores.runs.id_of(request_id) if request_id else None
    return found


def _ends(fleet: Fleet, asked: Asked) -> Counter[str]:
    """How many final messages there are of each run."""
    ends = [m for thread in asked.threads for m in fleet.bot.terminals(*thread)]
    return Counter(m["metadata"]["event_payload"]["run"] for m in ends)


async def _unanswered(fleet: Fleet, stores: Stores, asked: Asked) -> list[str]:
    try:
        runs = await _runs(fleet, stores, asked)
    except StoreUnavailable:
        return list(asked.messages)
    ends = _ends(fleet, asked)
    return [tag for tag, run in runs.items() if run is None or not ends[run]]


async def judge(fleet: Fleet, verdict: Verdict, asked: Asked) -> None:
    """Count what is lost and doubled of the questions, as it stands now."""
    async with open_stores(fleet.redis_url) as stores:
        verdict.lost = len(await _unanswered(fleet, stores, asked))
        runs = await _runs(fleet, stores, asked)
    ends = _ends(fleet, asked)
    verdict.doubled = sum(ends.values()) - len(set(filter(None, runs.values())) & set(ends))
    for channel, thread in asked.threads:
        own = fleet.bot.own(channel, thread)
        parts = Counter(str(m["metadata"]["event_payload"]) for m in own if m.get("metadata"))
        files = Counter(file["name"] for m in own for file in m.get("files") or ())
        verdict.doubled += sum(count - 1 for count in (parts + files).values() if count > 1)
        left = [m for m in own if not m.get("metadata") and not m.get("files")]
        verdict.doubled += len(left)
        verdict.lost += sum(_FORGOTTEN in str(m) for m in own)
        finals = [m for m in own if is_terminal(m)]
        said = [tag for m in finals for tag in answered_by(m)]
        verdict.doubled += len(said) - len(set(said))
        for message in filter(answered_by, finals):  # else a failure or a refusal
            run = message["metadata"]["event_payload"]["run"]
            covered = {tag for tag, its in runs.items() if its == run}
            verdict.lost += len(covered - set(answered_by(message)))
        verdict.ordered = verdict.ordered and said == sorted(said)


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
    "wait-kept": "below, in scenes of their own",
    "card-posting": "as above",
    "card-posted": "as above",
    "run-parked": "as above",
    "approval-decided": "as above",
    "card-updating": "as above",
    "card-updated": "as above",
    "message-left": "tests/faults/test_joined.py and test_approvals.py",
    "message-saved": "the same instant as the save point after it",
    "messages-joining": "tests/faults/test_joined.py",
    "messages-joined": "as above",
    "message-replaced": "below, in a scene of its own",
    "sweep-found": "as above",
    "drain-begun": "as above",
    "ticket-returning": "as above",
}
"""Failpoints without a case in the table of all, and why."""

LOST_REPLIES = (
    Case(2, "redis submit", "lost reply"),
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
    Case(13, "slack chat.postMessage", "lost reply", 2, scene="pressed"),
    Case(13, "redis approval_park", "lost reply", 2, scene="pressed"),
    Case(13, "redis approval_decide", "lost reply", 2, scene="pressed"),
    Case(13, "redis approval_supersede", "lost reply", 2, scene="written"),
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
        for place in _ASKED:
            yield Case(13, place, action, scene="pressed")
        for place in ("request-kept", "request-queued"):
            yield Case(13, place, action, 2, scene="written")
        for place in ("approval-decided", "card-updating", "run-finishing"):
            yield Case(13, place, action, scene="written")
    yield from LOST_REPLIES


_ASKED = (
    "wait-kept",
    "card-posting",
    "card-posted",
    "run-parked",
    "approval-decided",
    "card-updating",
    "card-updated",
)

SHORT = (
    Case(2, "request-kept", "kill"),
    Case(10, "tool-ran", "kill", 2),
    Case(19, "run-finishing", "hang"),
    Case(15, "message-posted", "kill", 3),
    Case(16, "run-delivered", "kill"),
    Case(16, "slack chat.update", "lost reply", 3),
    Case(14, "message-replaced", "kill", 3, scene="replaced"),
    Case(13, "approval-decided", "kill", scene="written"),
)
"""The most telling ones; test_changes kills at stream-started."""


async def settled(fleet: Fleet) -> None:
    """Returns when processes that stood still had time to wake up and do harm."""
    await asyncio.sleep(HANG + 1)
