"""A new canvas: what it is called, and what stands in it."""

from __future__ import annotations

import re

from .talk import messages_here
from .todo import items_of, told
from .view import View
from .words import has, sentences, shortened

LAST = r"this|that|it|the (?:result|answer|summary|figures)"
INTO = re.compile(
    rf"^\W*(?:(?:please|can you|now)\W+)*(?:put|write|save|copy)\s+(?!(?:{LAST}|the action items?|to-?dos?|action items?|them|these)\b)"
    r"(?P<what>[^\"“:]+?)\s+in(?:to)? an?(?: new)? canvas\W*$|"
    r"\bcanvas (?:with|of|about) (?P<found>(?:the |our |all |a )*(?:decisions?|summary|open questions?|notes|messages|outcomes?) (?:of|from|in) .+)",
    re.IGNORECASE,
)
"""Something of which the canvas is to be made, that was not asked for yet."""
OUTLINE = ("Purpose", "Decisions", "Next steps", "Open questions")
NAMED = re.compile(
    r"\b(?:canvas(?=\s+[\"“'‘])|called|titled|named|with the title|about|on|for)\b\s+[\"“'‘]?(?P<name>[^\"”'’:]+?)[\"”'’]?(?=\s+with\b|\s+(?:in|to|for) #|\s+that\b|\s+and an?\b|\s*[:.]|\s*$)",
    re.I,
)
BODY = re.compile(
    r"(?:\bwith\b(?! the title)(?: the text)?|\bcontaining\b|\bthat says\b)\s*:?\s*(?P<with>.+)|:\s*(?P<after>.+)",
    re.I | re.S,
)
POINTS = re.compile(
    r"(?:(?:the|these|following|two|three|\d+) )*(?:points|items|tasks|steps|bullets|lines)\s*:\s*(?P<points>.+)",
    re.IGNORECASE | re.DOTALL,
)
"""A list that is named as one: "the points: boxes, parking, keys"."""
LONGEST_TITLE = 40


def title_of(view: View, text: str) -> str:
    """The name that was given, or the beginning of what stands in it."""
    named = NAMED.search(BODY.sub("", view.text) if ":" in view.text else view.text)
    name = named["name"] if named else ""
    name = re.sub(
        r"^(?:our|the|my|an?|this)\s+|\s+(?:in|for) #.*$|\bme\b", "", name.strip(), flags=re.I
    ).strip(" ,.")
    if not name or re.fullmatch(LAST, name, re.IGNORECASE):
        name = "Action items" if has(view.text, r"action items?|to-?dos?") else _beginning(text)
    return name[:1].upper() + name[1:]


def _beginning(text: str) -> str:
    """A few words of a text, to call it by."""
    first = next(iter(sentences(text.replace("**", ""))), "Notes").strip(" .!?:")
    if len(first) > LONGEST_TITLE:
        first = re.split(r"\s*[,;:]\s|\s[-–]\s", first)[0]
    return "Notes" if text.startswith("##") else shortened(first, LONGEST_TITLE)


def body_of(view: View) -> tuple[str, str]:
    """The text of a new canvas, and what is said of it."""
    if has(view.text, r"action items?|to-?dos?"):
        tasks = [told(item) for item in items_of(messages_here(view))]
        if tasks:
            number = "the one action item" if len(tasks) == 1 else f"the {len(tasks)} action items"
            return "\n".join(f"- {each}" for each in tasks), f"It holds {number} I found here."
        return (
            "- Nothing to do yet",
            "I found no action items here, so it says that there is nothing to do yet.",
        )
    body = BODY.search(view.text)
    said = (body["with"] or body["after"]).strip() if body else ""
    summary = view.last_answer.get("summary")
    if (
        re.fullmatch(rf"\W*(?:{LAST})\W*", said or "that", re.I)
        and summary
        and has(view.text, f"{LAST}")
    ):
        points = "".join(f"\n- {each}" for each in view.last_answer.get("key_points") or [])
        return f"{summary}\n{points}".strip(), "It holds my last answer."
    if said and not re.fullmatch(rf"\W*(?:{LAST})\W*", said, re.I):
        return _given(said)
    text = "\n\n".join(f"## {heading}\n\nTo be filled in." for heading in OUTLINE)
    return text, f"It holds an outline to fill in: {', '.join(OUTLINE[:-1])} and {OUTLINE[-1]}."


def _given(said: str) -> tuple[str, str]:
    """The text of the message, as the list that it names or marks, else by its sentences."""
    if named := POINTS.match(said):
        every = re.split(r"\s*[,;\n]\s*(?:and )?", named["points"])
        listed = [f"- {each}" for each in every if each]
    else:
        listed = re.sub(r"\s+(?=\d+[.)] |[-*•] )", "\n", said).split("\n")
    if len(listed) > 1:
        return "\n".join(listed), f"It holds your list of {len(listed)}."
    lines = sentences(said)
    number = "one line" if len(lines) == 1 else f"{len(lines)} lines"
    return "\n\n".join(lines), f"It holds your text, in {number}."
