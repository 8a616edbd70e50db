"""What was said of one thing, and whether it was decided: where rules cannot tell, the words themselves."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from .findings import Findings
from .outcomes import around, decided, of_topic, roots, with_replies
from .passages import cut
from .said import Said
from .words import listed

MOST, MOST_TOLD, FEW = 6, 10, 2
SIGNS = "“agreed”, “decided” or the like"


def tell_decision(
    found: Findings, words: Sequence[str], messages: Sequence[Said], place: str
) -> None:
    """What was decided about the thing; else the talk of it, with what may be the decision."""
    about = f"“{' '.join(words)}”"
    on = of_topic(messages, words)
    every = decided(messages)
    direct = [each for each in every if each[0] in on]
    if direct:
        message, sentence = direct[-1]
        said = sentence if roots(sentence) >= roots(" ".join(words)) else message.text
        found.summary = f"{message.author} wrote in {place}: “{cut(said)}”"
        found.points = [f"Before that, {m.author}: “{cut(s)}”" for m, s in direct[-MOST:-1]]
        found.lower(f"I know a decision by {SIGNS}, and its topic by the words.")
        return
    talk = with_replies(messages, around(messages, on))
    near = [each for each in every if each[0] in talk]
    if near:
        message, sentence = near[-1]
        found.summary = (
            f"I cannot tell for sure: no message with {SIGNS} names {about}. The one that goes on with that talk is "
            f"{message.author}'s: “{cut(sentence)}”"
        )
    elif on:
        found.summary = f"I found no decision about {about} in {place}: of those who speak of it nobody wrote {SIGNS}. This was said of it:"
    elif every:
        found.summary = f"Nothing in {place} speaks of {about}. These decisions I found there:"
        talk = [message for message, _ in every]
    else:
        found.summary = f"Nothing in {place} speaks of {about}, and I found no decision there."
    _quote(found, talk)


def tell(found: Findings, words: Sequence[str], messages: Sequence[Said], place: str) -> list[Said]:
    """The messages that speak of the thing, where no rule knows which of them answers, and what was
    decided in that talk; none where nothing is said of it."""
    on = of_topic(messages, words)
    if not on:
        return []
    asked = set().union(*map(roots, words)) & set().union(*(roots(m.text) for m in messages))
    if len(asked) <= FEW:  # what speaks of one of few words may be the half that is asked for
        on = [each for each in messages if asked & roots(each.text)]
    that_decide = [message for message, _ in decided(around(messages, on))]
    said = with_replies(messages, [*on, *that_decide])
    spoken_of = set().union(*(roots(each.text) for each in said))
    named = listed([f"“{word}”" for word in words if roots(word) & spoken_of])
    found.summary = f"I cannot tell that by rules. This is what was said of {named} in {place}:"
    _quote(found, said)
    return said


def tell_each(
    found: Findings, messages: Sequence[Said], place: str, *, only_questions: bool
) -> None:
    """Who wrote what, or asked it; also of the bot."""
    wrote = [each for each in messages if not each.is_of_bot]
    if only_questions:
        answered = [each for each, then in pairwise(messages) if then.is_of_bot]
        wrote = [m for m in wrote if m.is_to_bot or m in answered or m.text.rstrip().endswith("?")]
    number = f"{len(wrote)} {'question' if only_questions else 'message'}{'s' * (len(wrote) != 1)}"
    found.summary = f"I found {number} in {place}{':' if wrote else '.'}"
    found.points = [f"{each.author}: “{cut(each.text)}”" for each in wrote[-MOST_TOLD:]]
    if len(wrote) > MOST_TOLD:
        found.gaps.append(f"These are the last {MOST_TOLD} of {len(wrote)}.")


def _quote(found: Findings, messages: Sequence[Said]) -> None:
    found.points = [f"{each.author}: “{cut(each.text)}”" for each in messages[-MOST:]]
    if len(messages) > MOST:
        found.gaps.append(f"These are the last {MOST} of {len(messages)} messages.")
    if messages:
        found.lower("I choose messages by their words, and do not weigh what they mean.", "low")
