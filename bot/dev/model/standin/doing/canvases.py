"""Canvases: made, added to, changed and read."""

from __future__ import annotations

import re

from ..findings import Findings
from ..outputs import Document, failed, not_done, parse_document, reason
from ..phrasing import CHANNEL, as_markdown, channel_of, in_quotes, phrase, unquoted
from ..talk.directory import FILE
from ..texts.passages import cut
from ..view import View
from ..words import SENTENCE_END, sentences, shortened

_OF = rf"(?:,? (?:in|of|for) (?P<channel>{CHANNEL}))?"
_THE = r"(?:the|this|that|our) canvas"
_NAME = r"(?: (?:called |named |titled )?“(?P<name>[^”]+)”)?"
MAKE = phrase(
    rf"(?:create|make|write|start) a (?:new )?canvas(?: {in_quotes('quoted')}| (?:about|on|called|named|titled) (?:our |the )?(?P<title>[^:]+?))?"
    rf"{_OF}(?:(?:,? with(?: the text)?)?: ?(?P<text>.+))?"
)
KEEP = phrase(
    rf"(?:put|write|save) (?:it|this|that|the (?:answer|result|summary)) (?:in|into|to) a (?:new )?canvas{_OF}"
)
ADD = (
    phrase(rf"add (?:an? (?:line|item|point) )?to {_THE}{_NAME}{_OF}: ?(?P<text>.+)"),
    phrase(rf"add (?P<text>.+?) to {_THE}{_NAME}{_OF}"),
)
REPLACE = (
    phrase(rf"in {_THE}{_OF},? (?:replace|change) (?P<old>.+?) (?:with|by|to) (?P<text>.+?)"),
    phrase(rf"(?:replace|change) (?P<old>.+?) (?:with|by|to) (?P<text>.+?) in {_THE}{_OF}"),
)
READ = phrase(
    rf"(?:(?:read|show|open)(?: me)?|what(?:['’]?s| is| stands) in|what does) {_THE}{_NAME}{_OF}(?: say)?"
)
NOT_MEANT = re.compile(
    r"\s*(?:which|what (?:is a|did|do|was|were)|who|when|why|is there|are there|list|how many)\b",
    re.IGNORECASE,
)
HEAD = re.compile(r"canvas: (?P<id>\w+) · title: (?P<title>.*?)(?: · empty)?$", re.M)
MADE = re.compile(r"^(?:made|edited): (?P<id>\w+) · link: (?P<url>\S+)")
OUTLINE = ("Purpose", "Decisions", "Next steps", "Open questions")
MARKS = re.compile(r"\s*(?:#+ |[-*] )?(?:\[[ x]?\] )?")
"""What stands before the words of a line; "**Launch**" begins with its words."""
MOST_LINES = 12
LONGEST_TITLE = 40
HOW = (
    "Nothing was done with a canvas. I understand “create a canvas about our launch”, “put that into a canvas”, “read the canvas”, "
    "“add to the canvas: buy cake” and “replace May by June in the canvas”. The rest is in the canvas's own menu."
)


def is_asked(view: View) -> bool:
    """Whether this is about a canvas, which it says."""
    said = re.search(r"\bcanvas\b", view.text, re.IGNORECASE) and not NOT_MEANT.match(view.text)
    return bool(said) and view.knows("read_canvas") and not view.turn.files


def answer(view: View, found: Findings) -> None:
    """Make it, change it in one place, or tell what stands in it."""
    text = view.text
    if asked := MAKE.fullmatch(text) or KEEP.fullmatch(text):
        _make(view, found, asked)
    elif asked := next((each for way in (*ADD, *REPLACE) if (each := way.fullmatch(text))), None):
        _edit(view, found, asked)
    elif asked := READ.fullmatch(text):
        _read(view, found, asked)
    else:
        found.summary = HOW


def _make(view: View, found: Findings, asked: re.Match[str]) -> None:
    place = asked["channel"]
    # A direct message has one canvas at most, a channel any number of them.
    if not (place or view.turn.place.startswith("#")):
        there = HEAD.search(view.do("read_canvas", "I look for one.", fresh=True))
        if there:
            found.summary = f"There is a canvas already, **{there['title']}**, so I made no second one. I can add to it."
            found.follow_ups = ["Read the canvas", "Add to the canvas: to be discussed"]
            return
    given = asked.groupdict()
    text, told = _last(view) if asked.re is KEEP else _body(given["text"])
    if not text:
        found.summary = "Nothing was made: right above there is no answer with a source to put into a canvas. Ask for it first."
        return
    caption = (view.last_answer.get("table") or {}).get("caption") if asked.re is KEEP else ""
    title = given.get("quoted") or given.get("title") or caption or _beginning(text)
    title = title[:1].upper() + title[1:]
    output = view.do(
        "create_canvas", "I make the canvas, if I may.", fresh=True, title=title, text=text,
        channel=place and channel_of(place).lstrip("#"),
    )  # fmt: skip
    made = MADE.match(output)
    if made is None:
        why = output.partition(" Read it")[0]
        found.summary = not_done(f"The canvas “{title}” was not made", why)
        return
    where = f" in **{place}**" if place else ""
    found.summary = f"The canvas [{title}]({made['url']}) is made{where}. {told}"
    found.source(f"Canvas “{title}”", made["url"], "What was written.")
    found.follow_ups = ["Read the canvas", "Add to the canvas: to be discussed"]


def _last(view: View) -> tuple[str, str]:
    """The last answer as the text of a canvas, and what is said of it."""
    last = view.last_answer
    if not (last.get("sources") or last.get("table")):
        return "", ""  # it was none
    table = last.get("table") or {"columns": [], "rows": []}
    head = [table["columns"], ["---"] * len(table["columns"])] if table["columns"] else []
    parts = (
        str(last.get("summary") or ""),
        "\n".join(f"- {each}" for each in last.get("key_points") or ()),
        "\n".join(f"| {' | '.join(row)} |" for row in (*head, *table["rows"])),
        "\n".join(f"Source: {each['title']}" for each in last.get("sources") or ()),
    )
    return "\n\n".join(filter(None, parts)), "It holds the answer with its table and sources."


def _body(said: str | None) -> tuple[str, str]:
    """The text that was given, or an outline, and what is said of it."""
    if said:
        lines = [line.strip() for line in SENTENCE_END.split(as_markdown(said)) if line.strip()]
        number = "one line" if len(lines) == 1 else f"{len(lines)} lines"
        return "\n\n".join(lines), f"It holds your text, in {number}."
    text = "\n\n".join(f"## {heading}\n\nTo be filled in." for heading in OUTLINE)
    return text, f"It holds an outline to fill in: {', '.join(OUTLINE[:-1])} and {OUTLINE[-1]}."


def _beginning(text: str) -> str:
    """A few words of a text, to call it by."""
    first = next(iter(sentences(text.replace("**", ""))), "Notes").strip(" .!?:")
    return "Notes" if text.startswith("##") else shortened(first, LONGEST_TITLE)


def _edit(view: View, found: Findings, asked: re.Match[str]) -> None:
    """Read it, then add to it or replace words in one of its lines."""
    given = asked.groupdict()
    opened = _opened(view, found, given)
    if opened is None:
        return
    head, document = opened
    change, section, text = "append", "", as_markdown(unquoted(given["text"] or ""))
    told = f"I added “{cut(text)}” at the end of it."
    if asked.re in REPLACE:
        old = as_markdown(unquoted(given["old"] or ""))
        section = next((line for line in _lines(document) if old.lower() in line.lower()), "")
        if not section:
            found.summary = (
                f"I found no “{old}” in the canvas **{head['title']}**, so I changed nothing."
            )
            return
        new = re.sub(re.escape(old), lambda _: text, section, flags=re.IGNORECASE)
        now, was = (cut(MARKS.sub("", line, count=1)) for line in (new, section))
        change, text, told = "replace", new, f"“{now}” stands now where “{was}” was."
    done = view.do(
        "edit_canvas", "I change the canvas, if I may.", fresh=True, canvas=head["id"], title=head["title"],
        change=change, section=section, text=text,
    )  # fmt: skip
    edited = MADE.match(done)
    if edited is None:
        found.summary = not_done(f"The canvas **{head['title']}** was not changed", done)
        return
    found.summary = f"The canvas [{head['title']}]({edited['url']}) is changed. {told}"
    found.source(f"Canvas “{head['title']}”", edited["url"], "What was changed.")
    found.follow_ups = ["Read the canvas"]


def _read(view: View, found: Findings, asked: re.Match[str]) -> None:
    opened = _opened(view, found, asked.groupdict())
    if opened is None:
        return
    head, document = opened
    if document is None:
        found.summary = f"The canvas **{head['title']}** is empty."
        found.source(f"Canvas “{head['title']}”", None, "That it is empty.")
        return
    found.source(f"Canvas “{head['title']}”", document.url, "What stands in it.")
    found.follow_ups = ["Add to the canvas: to be discussed"]
    lines = _lines(document)
    found.summary = f"The canvas [{head['title']}]({document.url}) says:"
    found.points = [_shown(line) for line in lines[:MOST_LINES]]
    if len(lines) > MOST_LINES:
        found.gaps.append(f"These are its first {MOST_LINES} lines of {len(lines)}.")


def _shown(line: str) -> str:
    """A line of a canvas as a point: headings in bold, without a bullet of its own."""
    if line[0] == "|":
        return " · ".join(cell.strip() for cell in line.strip("|").split("|"))
    return f"**{line.lstrip('# ')}**" if line[0] == "#" else re.sub(r"^[-*] ", "", line)


def _opened(
    view: View, found: Findings, given: dict[str, str | None]
) -> tuple[re.Match[str], Document | None] | None:
    """The head of the canvas that is meant, and what stands in it; None when it cannot be read,
    which is said."""
    place = given.get("channel")
    which = channel_of(place) if place else None
    spoken_of = None if place or given.get("name") else _spoken_of(view)
    output = view.do("read_canvas", "I read the canvas.", fresh=True, canvas=which or spoken_of)
    if not HEAD.search(output) and view.knows("list_channel_items"):
        kept = view.do(
            "list_channel_items", "I look which canvases there are.", fresh=True, what="canvases",
            channel=which and which.lstrip("#"),
        )  # fmt: skip
        others = list(FILE.finditer(kept))
        named = [each for each in others if each["name"] == given.get("name")] or others
        if len(named) > 1:
            found.summary = f"There are {len(named)} canvases here. Which do you mean?"
            found.follow_ups = [f"Read the canvas “{each['name']}”" for each in named[:3]]
            return None
        if named:
            thought = f"I read “{named[0]['name']}”."
            output = view.do("read_canvas", thought, fresh=True, canvas=named[0]["id"])
    if head := HEAD.search(output):
        return head, parse_document(output)
    _tell_none(found, output)
    return None


def _spoken_of(view: View) -> str | None:
    """The canvas that was made, changed or read last in this conversation."""
    tools = ("create_canvas", "edit_canvas", "read_canvas")
    outputs = [step.output or "" for step in view.steps if step.tool in tools]
    found = (MADE.match(each) or HEAD.search(each) for each in outputs)
    return next((each["id"] for each in found if each), None)


def _lines(document: Document | None) -> list[str]:
    every = document.text.splitlines() if document else []
    return [line.strip() for line in every if line.strip(" |-")]


def _tell_none(found: Findings, output: str) -> None:
    found.summary = "There is no canvas here yet."
    found.follow_ups = ["Create a canvas about our next steps"]
    if failed(output) and "no canvas" not in output.lower():
        found.summary = "The canvas could not be read."
        found.lower(reason(output), "low")
