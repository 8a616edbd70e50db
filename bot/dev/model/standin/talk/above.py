"""A question that stands above, which the bot was fetched for: "can you answer this?"."""

from __future__ import annotations

from ..findings import Findings
from ..phrasing import phrase
from ..view import View
from .said import Said, messages_of

_THIS = r"(?:this|that|it|(?:the|this|that|my|our|his|her|their) question)(?: (?:above|here|too))?"
MEANT = phrase(
    rf"(?:answer(?: (?:me|us|him|her|them))?(?: {_THIS})?|(?:take a )?look (?:at|into) {_THIS}|"
    rf"help (?:me|us|him|her|them|out)? ?(?:here|with {_THIS})|do you know(?: (?:this|that|it|the answer))?|"
    rf"what do you (?:say|think)(?: (?:about|of|to) {_THIS})?|any (?:ideas?|thoughts))"
)


def is_asked(view: View) -> bool:
    """Whether the whole message points to what somebody else said."""
    return not (view.turn.files or view.turn.quoted) and bool(MEANT.fullmatch(view.text))


def answer(view: View, found: Findings) -> None:
    """Offer to take the last question of the thread up in its own words."""
    told = view.do("read_thread", "I look what stands above.", fresh=True, limit=100)
    asked = [each for each in messages_of(told) if _is_open(each, view)]
    if not asked:
        found.summary = (
            "I find no question above that I was not asked already. Put it to me in its own words."
        )
        found.follow_ups = ["What is in this file?"] if view.files else []
        return
    question = asked[-1].to_bot
    found.summary = f"I answer a question in its own words. Is it this one? “{question}”"
    found.follow_ups = [question]


def _is_open(said: Said, view: View) -> bool:
    """Whether somebody asks something there that was not put to the bot."""
    own = said.is_of_bot or any(turn.text and said.repeats(turn.text) for turn in view.turns)
    return not own and (said.is_to_bot or said.text.endswith("?"))
