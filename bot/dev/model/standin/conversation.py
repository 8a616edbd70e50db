"""Reads the items of a request as turns: what people said, and the steps taken for it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from ..request import ModelRequest, item_text

COMPLETE = "complete_task"
NEXT_MESSAGE = "\n\n---\n\n"
MORE = re.compile(
    r"\W*(?:(?:and|but|also|please|(?:can|could|would) you|(?P<instead>sorry|actually|no|rather))\W+)*(?P<more>"
    r"(?:(?:make|show|draw|give|plot) (?:me )?(?:(?:it|this|that) )?)?(?:(?:as|with|into|in) )?(?:an? )?(?:(?:bar|line|pie) )?"
    r"(?:chart|graph)|(?:by|per|only|just|without|excluding) [\w ,-]{1,60})(?:\W+(?:please|too|as well|thanks|thank you))*\W*",
    re.IGNORECASE,
)
"""What is no question of its own, but more of the one before, or a part of it `instead`."""
BY = re.compile(r"\s+(?:by|per) [\w ]+$", re.IGNORECASE)
ORDERS = re.compile(r"\b(?:post|send|tell|remind|schedule|every|canvas|remember)\b", re.IGNORECASE)
LONGEST = 4_000
"""Characters of a message that are read: what rules look for in longer ones takes them seconds."""
HEADER = re.compile(
    r"^\[(?P<author>.+?) (?:asks|replies|says) in (?P<place>.+?)(?:, with (?P<beside>.+?) open)?, "
    r"(?P<day>\d{4}-\d\d-\d\d)?[^\]]*\]\s*"
)
FILE = re.compile(
    r"^- (?P<name>.{1,300}?) \(file_id (?P<id>[^,)\s]+)(?:, (?P<type>[^,)]+))?.*\)$", re.M
)
QUOTED = re.compile(r"^About this message:\n\[data (\w+)\]\n((?:>.*\n)+)\[end of data \1\]", re.M)
FORWARDED = re.compile(r"^\[Forwarded: [^\]\n]+\]\n?", re.M)
ABOVE = re.compile(
    r"^Files above in this thread:\n\[data (\w+)\]\n(.*?)\n\[end of data \1\]", re.M | re.DOTALL
)
SHARED = re.compile(r"^\[file (?P<id>\w+), (?P<name>[^\]\n]+)\]\n?", re.M)
"""A file that a forwarded message brings along."""
CUT = re.compile(r"\[The message was [\d,]+ characters long; [^\]]*\]\s*$")
_MARKS = re.compile(r"\[data (\w+)\]\n(.*)\n\[end of data \1\]", re.DOTALL)
REMEMBERED = "[Remembered from other conversations"
WISHED = re.compile(r"\[How (?P<who>.+) wants to be answered\b")
AGAIN = re.compile(r"\(You have answered this before.*?\)\s*", re.S)
CANCELLED = re.compile(r"\ACancelled by the user\b", re.IGNORECASE)
OVERTAKEN = re.compile(r"\ANot done: a new message came\b")
CALLING_OFF = re.compile(
    r"\A(?:never ?mind|(?:forget|scratch|ignore|skip) (?:it|that|this))\s*[,;.:!–—-]+\s*(?=\w)",
    re.IGNORECASE,
)
"""What says of the question before that it is settled, before another one."""
STOPPED = re.compile(r"The person stopped this\b")
EDITED = re.compile(
    r"\(This is an edit of what was asked before.*?\)\s*(?:^Before the edit: “(?P<old>.*)”$\s*)?",
    re.S | re.M,
)


@dataclass(frozen=True, slots=True)
class File:
    """A file that a message lists."""

    id: str
    name: str


@dataclass(slots=True)
class Step:
    """A call and, once it was answered, its output."""

    tool: str
    arguments: dict[str, Any]
    output: str | None = None

    @property
    def is_cancelled(self) -> bool:
        """Whether somebody stopped it: then its output is none."""
        return bool(CANCELLED.match(self.output or ""))

    @property
    def is_undone(self) -> bool:
        """Whether somebody wrote something new instead of allowing it."""
        return bool(OVERTAKEN.match(self.output or ""))


@dataclass(slots=True)
class Turn:
    """What a person said, and what was done about it. `day` is the asker's own date, in ISO form;
    `notes` come from the program itself; `edited` says that it takes the place of what was asked
    `before_edit`, and `is_cut` that more was said; `again` says that it was answered before, and `deeper`
    asks for more of that."""

    text: str
    quoted: str = ""
    files: list[File] = field(default_factory=list)
    above: list[File] = field(default_factory=list)
    """Files that others attached in the thread before."""
    steps: list[Step] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    edited: bool = False
    before_edit: str = ""
    again: bool = False
    deeper: bool = False
    is_cut: bool = False
    author: str = ""
    place: str = ""
    beside: str = ""
    """The channel that is open beside a direct message with the bot."""
    day: str = ""

    @property
    def is_over(self) -> bool:
        """Whether it was answered, or stopped."""
        stopped = any(step.is_cancelled for step in self.steps) or any(
            map(STOPPED.match, self.notes)
        )
        return stopped or bool(self.steps and self.steps[-1].tool == COMPLETE)


def turns_of(request: ModelRequest) -> list[Turn]:
    """Everything that was said, the oldest first, each with its steps; one empty turn of nothing."""
    turns: list[Turn] = []
    calls: dict[str, Step] = {}
    for item in request.items:
        kind, role = item.get("type", "message"), item.get("role")
        if kind == "message" and role == "user":
            text = item_text(item)
            if not text.startswith(REMEMBERED) and not WISHED.match(text):
                turns += _each(_read(text))
        elif not turns:
            turns.append(Turn(""))
        if kind == "message" and role in ("developer", "system"):
            turns[-1].notes.append(item_text(item))
        elif kind == "function_call":
            step = Step(item["name"], _arguments(item["arguments"]))
            calls[item["call_id"]] = step
            turns[-1].steps.append(step)
        elif kind == "function_call_output" and item["call_id"] in calls:
            calls[item["call_id"]].output = _MARKS.sub(r"\2", item_text(item))
    return turns or [Turn("")]


def remembered(request: ModelRequest) -> list[str]:
    """What was remembered in other conversations."""
    given = (item_text(item) for item in request.items)
    lines = (each.splitlines()[1:] for each in given if each.startswith(REMEMBERED))
    return [line.removeprefix("- ") for listed in lines for line in listed]


def open_turns(turns: list[Turn]) -> list[Turn]:
    """What was said since the last answer, or since it was edited."""
    first = len(turns) - 1
    while first and not turns[first - 1].is_over and not turns[first].edited:
        first -= 1
    return turns[first:]


def before_edit(earlier: list[Turn], turn: Turn) -> list[Turn]:
    """What was said before a turn; for one that was edited or is answered again, before it was first said."""
    said = turn.before_edit.removesuffix("…")
    if turn.again and not turn.deeper:
        said = " ".join(turn.text.split())
    first = (not each.again and " ".join(each.text.split()) for each in earlier)
    places = [at for at, text in enumerate(first) if said and text and text.startswith(said)]
    if not places:
        return earlier
    at = places[-1]
    return before_edit(earlier[:at], earlier[at])


def answered_together(turns: list[Turn]) -> list[Turn]:
    """The turns with the answer that several had in common, and what was said more of a question as a
    part of it; those that wait, and those of which something was left undone, as they are."""
    open_, gathered, group = open_turns(turns), list[Turn](), list[Turn]()
    over = turns[: len(turns) - len(open_)]
    for at, turn in enumerate(over):
        group.append(turn)
        if turn.is_over or over[at + 1 : at + 2] == [] or over[at + 1].edited:
            is_undone = any(step.is_undone for each in group for step in each.steps)
            gathered += group if is_undone else with_more(in_common(group))
            group = []
    return gathered + open_


def in_common(waiting: list[Turn]) -> list[Turn]:
    """Turns that one answer is for, with their steps and notes in common."""
    steps = [step for turn in waiting for step in turn.steps]
    notes = [note for turn in waiting for note in turn.notes]
    for turn in waiting:
        turn.steps, turn.notes = steps, notes
    return waiting


def with_more(waiting: list[Turn]) -> list[Turn]:
    """The same, with what was said more of the first question while it was worked on as a part of it."""
    first, *others = waiting
    if ORDERS.search(first.text):
        return waiting
    rest = []
    for turn in others:
        said = None if turn.files else MORE.fullmatch(turn.text)
        if said is None:
            rest.append(turn)
            continue
        text = first.text.rstrip(" .?!")
        is_corrected = said["instead"] and BY.match(f" {said['more']}")
        first.text = f"{BY.sub('', text) if is_corrected else text} {said['more']}"
    return [first, *rest]


def _arguments(text: str) -> dict[str, Any]:
    try:
        found = json.loads(text)
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _each(turn: Turn) -> list[Turn]:
    """The messages that are asked anew together, each as a turn: what came with them is the first's."""
    first, *more = turn.text.split(NEXT_MESSAGE)
    turn.text = first
    return [
        turn,
        *(
            replace(
                turn,
                text=text,
                quoted="",
                files=[],
                above=[],
                steps=[],
                notes=[],
                edited=False,
                before_edit="",
            )
            for text in more
        ),
    ]


def _read(text: str) -> Turn:
    """A user's message, taken apart into words, quotation and files."""
    header = HEADER.match(text)
    about = header.groupdict("") if header else {}
    text = HEADER.sub("", text, count=1)
    listed = ABOVE.search(text)
    above = _files(FILE, listed[2] if listed else "")
    text = ABOVE.sub("", text)
    files = _files(FILE, text)
    text = FILE.sub("", text).replace("Attached files:", "")
    text = CUT.sub("", text)
    again = AGAIN.search(text)
    text = AGAIN.sub("", text)
    edit = EDITED.search(text)
    text = EDITED.sub("", text)
    quoted = QUOTED.search(text)
    said = "\n".join(line.lstrip("> ") for line in quoted[2].splitlines()) if quoted else ""
    files = files or _files(SHARED, said)
    text = CALLING_OFF.sub("", QUOTED.sub("", text).strip())
    return Turn(
        text[:LONGEST],
        SHARED.sub("", FORWARDED.sub("", said)).strip(),
        files,
        above,
        edited=edit is not None,
        again=again is not None,
        deeper=again is not None and "more depth is wanted" in again[0],
        before_edit=(edit and edit["old"]) or "",
        is_cut=len(text) > LONGEST,
        author=about.get("author", ""),
        place=about.get("place", ""),
        beside=about.get("beside") or "",
        day=about.get("day", ""),
    )


def _files(named: re.Pattern[str], text: str) -> list[File]:
    return [File(found["id"], found["name"]) for found in named.finditer(text)]
