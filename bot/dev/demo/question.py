"""The question that a request ends with, and the calls that were made for it."""

from __future__ import annotations

import re
from dataclasses import dataclass

from ..model.replies import Item
from ..model.request import ModelRequest, item_text
from .words import language_of

_HEADER = re.compile(r"\[[^\]\n]+? (?:asks|replies|says) in [^\]\n]+\]\s*")
_QUOTED = re.compile(r"^About this message:\n\[data (\w+)\]\n(?:>.*\n)+\[end of data \1\]", re.M)
_FILES = re.compile(r"^(?:Attached files|Files above in this thread):$", re.M)
_FILE = re.compile(r"^- (?P<name>.+) \(file_id (?P<id>[^,)\s]+)", re.M)
_NOTE = re.compile(r"^(?:\((?:You have answered|This is an edit).*\)|Before the edit: “.*”)$", re.M)
_LOOP_TOOLS = ("acquire_tools", "complete_task")  # no plan asks for their outputs
_LONGEST = 2_000  # characters of a question that plans read
_MARKS = re.compile(r"\[(?:end of )?data \w+\]\n?")


@dataclass(frozen=True)
class File:
    """A file that the conversation names."""

    id: str
    name: str


@dataclass(frozen=True)
class Question:
    """A person's question.

    Its words, the files attached to it or `earlier`, the `outputs` of the calls made for it, in
    order, and the tools `acquired` for it; `earlier_outputs` are those of the questions before it.
    """

    text: str
    attached: tuple[File, ...] = ()
    earlier: tuple[File, ...] = ()
    outputs: tuple[str, ...] = ()
    earlier_outputs: tuple[str, ...] = ()
    acquired: frozenset[str] = frozenset()
    kind: str = "summary"
    """A field of the answer that tells its response type from others."""
    is_first: bool = True

    @property
    def language(self) -> str:
        """The language of the question."""
        return language_of(self.text)


def read_question(request: ModelRequest, kind: str) -> Question:
    """Return the last question of the conversation; an empty one if there is none."""
    positions = [number for number, item in enumerate(request.items) if _is_question(item)]
    if not positions:
        return Question("", kind=kind)
    files = [file for n in positions for file in _files(item_text(request.items[n]))]
    message = _HEADER.sub("", item_text(request.items[positions[-1]]), count=1)
    attached = _files(message)
    later_items = request.items[positions[-1] + 1 :]
    names = {
        item["call_id"]: item["name"] for item in later_items if item.get("type") == "function_call"
    }
    outputs = [
        (names.get(item["call_id"], ""), _MARKS.sub("", item_text(item)))
        for item in later_items
        if item.get("type") == "function_call_output"
    ]
    return Question(
        text=_NOTE.sub("", _FILES.split(_QUOTED.sub("", message))[0]).strip()[:_LONGEST],
        attached=tuple(attached),
        earlier=tuple(files),
        outputs=tuple(output for name, output in outputs if name not in _LOOP_TOOLS),
        earlier_outputs=tuple(
            _MARKS.sub("", item_text(item))
            for item in request.items[: positions[-1]]
            if item.get("type") == "function_call_output"
        ),
        acquired=frozenset(
            output.partition(":")[0] for name, output in outputs if name == "acquire_tools"
        ),
        kind=kind,
        is_first=len(positions) == 1,
    )


def _is_question(item: Item) -> bool:
    return item.get("role") == "user" and _HEADER.match(item_text(item)) is not None


def _files(text: str) -> list[File]:
    _, *listed = _FILES.split(text)
    return [File(each["id"], each["name"]) for part in listed for each in _FILE.finditer(part)]
