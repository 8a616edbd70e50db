"""A message that somebody wants posted in another channel."""

from __future__ import annotations

import re

from .findings import Findings
from .view import View

WANTED = re.compile(
    r"\b(?:post|announce|publish|say|write)\b(?:[^#]*?(?<=\s)[\"“'‘](?P<quoted>[^\"”]+?)[\"”'’](?=\s))?[^#]*?"
    r"\bin #(?P<channel>[\w-]+)(?:\s*[:,-]\s*(?P<text>.+))?",
    re.IGNORECASE | re.DOTALL,
)


def wanted(view: View) -> re.Match[str] | None:
    """What is to be posted and where, if the question says both."""
    found = WANTED.search(view.text)
    return found if found and (found["quoted"] or found["text"]) else None


def answer(view: View, found: Findings, asked: re.Match[str]) -> None:
    """Post it, and say what became of it."""
    channel, text = asked["channel"], asked["quoted"] or asked["text"].strip()
    output = view.do(
        "post_message", f"I post it in #{channel}, if I may.", channel=f"#{channel}", text=text
    )
    if not output.startswith("posted"):
        found.summary = f"It was not posted in #{channel}."
        why, _, _ = output.split("\n", 1)[0].partition(" Do not ")  # what follows is for the model
        found.gaps.append(why)
        return
    found.summary = f"It is posted in **#{channel}**."
    link = re.search(r"link: (\S+)", output)
    found.source(f"Message in #{channel}", link and link[1], "What was posted.")
