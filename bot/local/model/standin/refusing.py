"""What rules cannot do, said for what it is rather than tried."""

from __future__ import annotations

import re

from .findings import EXAMPLES, STAND_IN, Findings
from .view import View

REASONS = (
    (r"\btranslat\w+\b|\b(?:in|into) (?:french|german|spanish|italian|japanese|chinese|portuguese)\W*$",
     "I cannot translate"),
    (r"^\W*(?:please |can you |could you )*(?:write|draft|compose|rewrite|rephrase|improve|proofread)\b",
     "I cannot write texts"),
    (r"\b(?:python|javascript|code|script|function|regex|program)\b",
     "I cannot write or run code"),
    (r"^\W*(?:please |can you )*(?:draw|paint|generate|create|make)\b.*\b(?:picture|image|photo|logo|drawing)\b",
     "I cannot draw pictures; charts of figures I can"),
    (r"\b(?:book|schedule|set up|arrange|plan)\b.*\b(?:meeting|call|appointment|room)\b",
     "I have no calendar and cannot book anything. I can remind you: “Remind me tomorrow at 10 to …”"),
    (r"\b(?:poll|survey|vote)\b",
     "I cannot hold polls; in Slack people vote with reactions, say 👍 and 👎"),
    (r"\be-?mails?\b|\bphone number\b",
     "I neither see nor send e-mail, and know no phone numbers. Slack's profiles have both"),
    (r"\b(?:delete|remove|edit|change)\b.*\b(?:messages?|posts?)\b",
     "I cannot delete or change what people wrote. A message of yours you can delete yourself, from its menu"),
    (r"\b(?:previous|all|your) instructions\b|\bsystem prompt\b|\bpretend\b|\bjailbreak\b",
     "I keep to my rules, and there is no prompt I could show"),
    (r"\b(?:create|make|archive|rename|delete|join|leave|open)\b.*\bchannels?\b|\b(?:invite|add|kick|remove)\b.* (?:to|from) #",
     "I cannot create channels or invite people; in Slack you can, with the + beside Channels and `/invite`"),
)  # fmt: skip


WRITING = re.compile(
    r"^\W*(?:(?:please|can|could|you|would|help|me|let's)\W+)*(?:write|draft|compose|make|create|invent|give|plan)\b[^.?!]*\b"
    r"(?:haikus?|poems?|stor(?:y|ies)|songs?|limericks?|letters?|e-?mails?|essays?|speech|blog|article|tweet|slogans?|"
    r"(?:to-?do list|checklist|agenda|plan|outline) for)\b",
    re.IGNORECASE,
)


CHANGING = re.compile(
    r"\W*(?:(?:please|can|could|you|now|and)\W+)*(?:delete|remove|edit|change)\b.*\b(?:messages?|posts?)\b",
    re.IGNORECASE,
)
TRANSLATE = re.compile(r"\W*(?:(?:please|can|could|you|now|and)\W+)*translat\w+\b", re.IGNORECASE)


def is_writing(view: View) -> bool:
    """Whether a text of the model's own is wanted, about whatever."""
    if TRANSLATE.match(view.text) or CHANGING.match(view.text):
        return True
    return not view.turn.files and bool(WRITING.search(view.text))


def is_asked(view: View) -> bool:
    """Whether this asks for what needs a real model, or is nobody's to do here."""
    return not view.turn.files and _reason(view.text) is not None


def answer(view: View, found: Findings) -> None:
    """Say what cannot be done and who could."""
    writes = WRITING.search(view.text) and not TRANSLATE.match(view.text)
    what = "I cannot write texts" if writes else _reason(view.text)
    found.summary = f"{what}. I am {STAND_IN}."
    found.follow_ups = list(EXAMPLES)


def _reason(text: str) -> str | None:
    return next(
        (reason for pattern, reason in REASONS if re.search(pattern, text, re.IGNORECASE)), None
    )
