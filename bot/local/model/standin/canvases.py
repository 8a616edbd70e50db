"""Canvases: made, added to, changed and read."""

from __future__ import annotations

import re

from .directory import FILE
from .findings import Findings
from .new_canvas import INTO, body_of, title_of
from .outputs import Document, failed, not_done, parse_document, reason
from .passages import cut, summarise
from .view import View
from .words import content, has, overlap

CANVAS = r"canvas(?:es)?"
MAKE = re.compile(
    r"\b(?:create|make|write|start|new|draft|open|set up|put)\b.*\bcanvas\b", re.I | re.S
)
ADD = re.compile(
    r"\b(?:add|append|put)\b(?: (?:an?|the|this|another|new))*(?: (?:line|item|point|paragraph|section|sentence|note|entry|task))?"
    r"(?P<to> (?:to|into|in) (?:the|this|that|our|it)(?: \w+)? ?canvas)?\s*[:,-]?\s*(?P<text>.*)", re.I | re.S,
)  # fmt: skip
RENAME = re.compile(
    r"\b(?:rename\b.*?\bto|change (?:the|its) (?:title|name) to|(?:call|name|title) it)\b\s*[\"“'‘]?(?P<text>[^\"”'’]+)",
    re.IGNORECASE,
)
REPLACE = re.compile(
    r"\b(?:replace|change)\b\s+[\"“'‘]?(?P<old>.+?)[\"”'’]?\s+(?:with|by|to)\s+[\"“'‘]?(?P<new>[^\"”'’]+)",
    re.I,
)
DELETE = re.compile(
    r"\b(?:delete|remove|take out)\b(?: the)?\s+(?:(?P<place>first|last) (?:line|item|paragraph|point|heading|section)|[\"“'‘]?(?P<text>[^\"”'’]+))",
    re.IGNORECASE,
)
GONE = re.compile(
    r"\b(?:delete|remove|throw away|trash)\b (?:(?:the|this|that|our|your|whole|entire) )*canvas\W*$|"
    r"^\W*(?:please )?(?:share|send|export|print|copy|duplicate|archive|lock|move)\b.*\bcanvas\b",
    re.IGNORECASE,
)
PLACE = re.compile(r"#(?P<name>[\w-]+)")
HEAD = re.compile(r"canvas: (?P<id>\w+) · title: (?P<title>.*?)(?: · empty)?$", re.M)
MADE = re.compile(r"^(?:made|edited): (?P<id>\w+) · link: (?P<url>\S+)")
TOOLS = ("create_canvas", "edit_canvas", "read_canvas")
MOST_LINES = 12


def is_asked(view: View) -> bool:
    """Whether this is about a canvas: it says so, or goes on right after one."""
    if not view.knows("read_canvas") or view.turn.files:
        return False
    if has(view.text, CANVAS):
        return not has(
            view.text,
            r"list|which|are there|any|how many|what canvas(?:es)?|all (?:the )?canvases|what is a",
        )
    last = view.earlier[0].tool if view.earlier else ""
    changes = any(each.search(view.text) for each in (ADD, RENAME, REPLACE, DELETE))
    reads = re.fullmatch(
        r"\W*(?:(?:read|show|open)(?: me)? (?:it|this|that)(?: again)?|what does (?:it|this|that) say|what(?:'s| is) in (?:it|this|that))\W*",
        view.text,
        re.I,
    )
    return (
        last in TOOLS
        and bool(changes or reads)
        and not has(view.text, r"schedules?|reminders?|messages?")
    )


def answer(view: View, found: Findings) -> None:
    """Make it, change it in one place, or tell what stands in it."""
    text = view.text
    old = re.match(r"\W*(?:open|put)\b", text, re.I) or ADD.match(text)
    if MAKE.search(text) and (re.search(r"\bin(?:to)? a (?:new )?canvas", text) or not old):
        _make(view, found)
    elif asked := RENAME.search(text):
        _edit(view, found, "rename", asked["text"].strip())
    elif GONE.search(text):
        found.summary = "I make, read and change canvases, no more: the rest you can do in Slack, from the canvas's own menu."
    elif asked := DELETE.search(text):
        _edit(view, found, "delete", place=asked["place"] or "", old=_bare(asked["text"] or ""))
    elif (asked := REPLACE.search(text)) and not ADD.match(text):
        _edit(view, found, "replace", asked["new"].strip(" ."), old=_bare(asked["old"]))
    elif (asked := ADD.search(text)) and _added(asked):
        _edit(view, found, "append", _added(asked))
    else:
        _read(view, found)


def _make(view: View, found: Findings) -> None:
    # A direct message has one canvas at most, a channel any number of them.
    alone = not (view.turn.place.startswith("#") or PLACE.search(view.text))
    if alone and (there := HEAD.search(_reading(view, None))):
        found.summary = f"There is a canvas already, **{there['title']}**, so I made no second one. I can add to it."
        found.follow_ups = ["Read the canvas", "Add to the canvas: to be discussed"]
        return
    if asked := INTO.search(view.text):
        what = (asked["what"] or asked["found"]).strip(" .!?")
        found.summary = (
            f"I do one thing at a time: ask for “{what}” first, then say “put it into a canvas”."
        )
        found.follow_ups = [what[:1].upper() + what[1:]]
        return
    text, told = body_of(view)
    title = title_of(view, text)
    place = PLACE.search(view.text)
    output = view.do(
        "create_canvas", "I make the canvas, if I may.", fresh=True, title=title, text=text,
        channel=place and place["name"],
    )  # fmt: skip
    made = MADE.match(output)
    if made is None:
        found.summary = not_done(
            f"The canvas “{title}” was not made", output.partition(" Read it")[0]
        )
        return
    where = f" in **#{place['name']}**" if place else ""
    found.summary = f"The canvas [{title}]({made['url']}) is made{where}. {told}"
    found.source(f"Canvas “{title}”", made["url"], "What was written.")
    found.follow_ups = ["Read the canvas", "Add to the canvas: to be discussed"]


def _added(asked: re.Match[str]) -> str:
    text = re.sub(
        r"\s+(?:(?:to|into|in) (?:the|this|that|our)(?: \w+)? ?canvas|(?:to|into) it)\W*$",
        "",
        asked["text"],
        flags=re.I,
    )
    return text.strip(" \"“”'‘’")


def _bare(text: str) -> str:
    return re.sub(
        r"\s+(?:from|in) (?:the|this|that|our)(?: \w+)? ?canvas\W*$", "", text, flags=re.I
    ).strip(" .\"“”'‘’")


def _edit(
    view: View, found: Findings, change: str, text: str = "", *, old: str = "", place: str = ""
) -> None:
    """Read it, then make one change of it."""
    opened = _opened(view, found)
    if opened is None:
        return
    head, document = opened
    section = ""
    if change in ("delete", "replace"):
        section = _block(_lines(document), old, place)
        if not section:
            found.summary = (
                f"I found no “{old}” in the canvas **{head['title']}**, so I changed nothing."
            )
            return
    done = view.do(
        "edit_canvas", "I change the canvas, if I may.", fresh=True, canvas=head["id"], title=head["title"],
        change=change, section=section, text=text,
    )  # fmt: skip
    edited = MADE.match(done)
    if edited is None:
        found.summary = not_done(f"The canvas **{head['title']}** was not changed", done)
        return
    told = {
        "append": f"I added “{cut(text)}” at the end of it.",
        "rename": f"It was called “{head['title']}” before.",
        "delete": f"I took “{cut(section.lstrip('#-*[] '))}” out of it.",
        "replace": f"“{cut(text)}” stands now where “{cut(section)}” was.",
    }
    title = text if change == "rename" else head["title"]
    found.summary = f"The canvas [{title}]({edited['url']}) is changed. {told[change]}"
    found.source(f"Canvas “{title}”", edited["url"], "What was changed.")
    found.follow_ups = ["Read the canvas"]


def _block(blocks: list[str], old: str, place: str) -> str:
    if place:
        return (blocks[0] if place.lower() == "first" else blocks[-1]) if blocks else ""
    return next((block for block in blocks if old and old.lower() in block.lower()), "")


def _read(view: View, found: Findings) -> None:
    opened = _opened(view, found)
    if opened is None:
        return
    head, document = opened
    if document is None:
        found.summary = f"The canvas **{head['title']}** is empty."
        found.source(f"Canvas “{head['title']}”", None, "That it is empty.")
        return
    found.source(f"Canvas “{head['title']}”", document.url, "What stands in it.")
    if has(view.text, r"summar\w+|tl;?dr|gist"):
        summarise(found, document.text, f"The canvas “{head['title']}”")
    else:
        lines = _lines(document)
        found.summary = f"The canvas [{head['title']}]({document.url}) says:"
        found.points = [
            re.sub(r"^(?:[-*]|#+) ?", "", line)
            if line[0] in "-*"
            else f"**{line.lstrip('# ')}**"
            if line[0] == "#"
            else line
            for line in lines[:MOST_LINES]
        ]
        if len(lines) > MOST_LINES:
            found.gaps.append(f"These are its first {MOST_LINES} lines of {len(lines)}.")
    found.follow_ups = ["Add to the canvas: to be discussed"]


def _opened(view: View, found: Findings) -> tuple[re.Match[str], Document | None] | None:
    """The head of the canvas that is meant, and what stands in it; None when it cannot be read."""
    output = _reading(view, next(filter(None, map(_canvas_of, view.steps)), None))
    head = HEAD.search(output)
    if head is None:
        _not_read(found, output)
        return None
    return head, parse_document(output)


def _lines(document: Document | None) -> list[str]:
    every = document.text.splitlines() if document else []
    return [line.strip() for line in every if line.strip()]


def _reading(view: View, spoken_of: str | None) -> str:
    """What the canvas says now: that of a channel which is named, the one just spoken of, else this
    conversation's."""
    place = PLACE.search(view.text)
    which = f"#{place['name']}" if place else spoken_of
    output = view.do("read_canvas", "I read the canvas.", fresh=True, canvas=which)
    if HEAD.search(output) or not view.knows("list_channel_items"):
        return output
    kept = view.do(
        "list_channel_items", "I look which canvases there are.", fresh=True, what="canvases",
        channel=place and place["name"],
    )  # fmt: skip
    others = list(FILE.finditer(kept))
    if not others:
        return output
    asked = content(view.text)
    best = max(others, key=lambda each: overlap(asked, content(each["name"])))
    return view.do("read_canvas", f"I read “{best['name']}”.", fresh=True, canvas=best["id"])


def _canvas_of(step: object) -> str | None:
    tool, output = getattr(step, "tool", ""), getattr(step, "output", "") or ""
    match = (MADE.match(output) or HEAD.search(output)) if tool in TOOLS else None
    return match["id"] if match else None


def _not_read(found: Findings, output: str) -> None:
    found.summary = "There is no canvas here yet."
    found.follow_ups = ["Create a canvas about our next steps"]
    if failed(output) and "no canvas" not in output.lower():
        found.summary = "The canvas could not be read."
        found.lower(reason(output), "low")
