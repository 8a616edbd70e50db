"""What rules cannot do, said for what it is rather than tried."""

from __future__ import annotations

from ..findings import EXAMPLES, STAND_IN, Findings
from ..phrasing import phrase
from ..view import View

_LANGUAGE = r"(?:french|german|spanish|italian|japanese|chinese|portuguese)"
_CURRENCY = "usd|eur|gbp|chf|jpy|dollars?|euros?|pounds sterling|yen|francs?"
REASONS = tuple(
    (phrase(pattern), reason)
    for pattern, reason in (
        (rf"translate\b.*|(?:(?:say|answer) .*|.{{0,60}}\b)?in(?:to)? {_LANGUAGE}",
         "I only know English and cannot translate"),
        (r"(?:write|compose|invent|draft) (?:me |us )?(?:an?|some|the) .*\b(?:poem|haiku|story|song|letter|essay|article|blog|speech)\b.*|"
         r"(?:rewrite|rephrase|improve|proofread) .*",
         "I cannot write texts"),
        (r"(?:write|run) .*\b(?:code|scripts?|program|function|regex)\b.*",
         "I cannot write or run code"),
        (r"(?:draw|paint|generate|create|make) .*\b(?:picture|image|photo|logo|drawing)\b.*",
         "I cannot draw pictures; charts of figures I can"),
        (r"(?:book|schedule|set up|arrange) .*\b(?:meeting|call|appointment|room)\b.*",
         "I have no calendar and cannot book anything. I can remind you: “Remind me tomorrow at 10 to …”"),
        (r"(?:make|create|start|hold) .*\bpoll\b.*",
         "I cannot hold polls; in Slack people vote with reactions, say 👍 and 👎"),
        (r"(?:send|write|read) .*\be-?mails?\b.*|e-?mail (?:it|this|that|them|me|us|the)\b.*",
         "I neither see nor send e-mail"),
        (r"(?:delete|remove|edit) .*\b(?:messages?|posts?)\b.*",
         "I cannot delete or change what people wrote. A message of yours you can delete yourself, from its menu"),
        (rf"(?:(?:what(?:['’]?s| is)|how much is|convert) )?[\d.,]+ ?(?:{_CURRENCY}) (?:to|in|into) (?:{_CURRENCY})",
         "I have no exchange rates: they change by the minute, and nothing here looks them up"),
        (r"(?:create|archive|rename|delete|join|leave) .*\bchannels?\b.*|(?:invite|add) \S+ to (?:#.*|(?:this|the) channel)",
         "I cannot create channels or invite people; in Slack you can, with the + beside Channels and `/invite`"),
    )
)  # fmt: skip


def is_asked(view: View) -> bool:
    """Whether this asks for what needs a real model, or is nobody's to do here."""
    return _reason(view.text) is not None


def answer(view: View, found: Findings) -> None:
    """Say what cannot be done and who could."""
    found.summary = f"{_reason(view.text)}. I am {STAND_IN}."
    found.follow_ups = list(EXAMPLES)


def _reason(text: str) -> str | None:
    return next((reason for pattern, reason in REASONS if pattern.fullmatch(text)), None)
