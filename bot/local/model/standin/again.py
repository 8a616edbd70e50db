"""What is wanted of the answer before: shorter, why, or in another language."""

from __future__ import annotations

import re

from .findings import STAND_IN, Findings
from .view import View
from .words import listed

SHORTER = re.compile(
    r"\W*(?:(?:make|say|put|can you|please|now|but|that|it|this|a|in|bit|much|one)\W+)*"
    r"(?:shorter|short|brief(?:ly|er)?|tl;?dr|(?:one )?sentence|shorten(?: (?:it|that|this))?|fewer words|too long)\W*(?:please)?\W*",
    re.IGNORECASE,
)
WHY = re.compile(
    r"\W*(?:but |and )?(?:(?:please |can you )?(?:explain|show|tell)(?: me)? (?:how|where|why) .*\b(?:that|this|it|these|those|the number|the figure|the answer)\b.*|"
    r"how (?:did|do) you (?:calculate|compute|get|find|know|come up with|work out|arrive at)(?: to)? (?:that|this|it|these|those|(?:that|this|the) \w+)|why(?: (?:is|was) (?:that|this|it)(?: so)?)?|how (?:come|so)|how do you know(?: that)?|"
    r"are you sure|where (?:is|does|did) (?:that|this|it) (?:come )?from|says who|really|what(?:'s| is) (?:the|your) source)\W*",
    re.IGNORECASE,
)
REPEAT = re.compile(
    r"\W*(?:please |can you )?(?:repeat|say)(?: (?:that|it|this))?(?: again| once more)?\W*(?:please)?\W*|what did you (?:just )?say\W*|(?:come again|pardon)\W*",
    re.IGNORECASE,
)
ASKED = re.compile(
    r"\W*what did i (?:just )?(?:ask|say|write)(?: (?:to )?you)?(?: (?:before|just now))?\W*", re.I
)
LANGUAGES = "french|german|spanish|italian|portuguese|dutch|polish|japanese|chinese|korean|russian|turkish|arabic|hindi|english"
TRANSLATED = re.compile(
    rf"\W*(?:(?:and|now|please|say|write|put|it|that|this|same|the same|answer)\W+)*(?:in(?:to)?|auf|en) (?:{LANGUAGES})\W*(?:please)?\W*",
    re.IGNORECASE,
)


def is_about(text: str) -> bool:
    """Whether a whole message can only be about an answer that was given."""
    return any(each.fullmatch(text) for each in (SHORTER, WHY, TRANSLATED, REPEAT, ASKED))


def is_asked(view: View) -> bool:
    """Whether the message is about the answer before."""
    if view.turn.deeper and view.last_answer:
        return True
    return is_about(view.text) and bool(view.last_answer) and not view.turn.files


def answer(view: View, found: Findings) -> None:
    """The same in short, what it rests on, or that rules know one language only."""
    last = view.last_answer
    said = str(last.get("summary") or next(iter(last.values()), ""))
    if view.turn.deeper:
        found.summary = (
            f"The answer above stands: I am {STAND_IN}, and these look once. A real model goes on "
            "from here."
        )
        return
    if SHORTER.fullmatch(view.text):
        found.summary = re.split(r"(?<=[.!?])\s+", said, maxsplit=1)[0]
        found.sources = list(last.get("sources") or [])
    elif REPEAT.fullmatch(view.text):
        found.summary, found.points = said, list(last.get("key_points") or [])
        found.sources = list(last.get("sources") or [])
    elif ASKED.fullmatch(view.text):
        found.summary = f"You wrote: “{view.turns[-2].text}”"
    elif TRANSLATED.fullmatch(view.text):
        found.summary = f"I only know English: I am {STAND_IN}, and translating needs a real one."
    else:
        _explain(found, [each["title"] for each in last.get("sources") or []])
        if (sql := _query(view)) and len(sql) <= LONGEST_QUERY:
            found.points.append(f"The query was `{sql}`")
        found.sources = list(last.get("sources") or [])


LONGEST_QUERY = 300  # characters that somebody reads


def _query(view: View) -> str | None:
    """The statement that a database was asked for the last answer; None where there was none."""
    answered = next((turn for turn in reversed(view.turns[:-1]) if turn.steps), None)
    steps = reversed(answered.steps if answered else [])
    asked = (step.arguments["sql"] for step in steps if step.tool == "query_database")
    return next((" ".join(sql.split()) for sql in asked), None)


def _explain(found: Findings, titles: list[str]) -> None:
    if not titles:
        found.summary = (
            f"My last answer rests on no source: I am {STAND_IN}, and it was a fixed text."
        )
        return
    found.summary = (
        f"My last answer rests on {listed(titles[:3])}, and the steps above it show how I got there. I can "
        "tell what the figures and words there are, not the reasons behind them."
    )
