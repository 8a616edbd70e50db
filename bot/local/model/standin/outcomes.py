"""What came of a talk: what was decided, what nobody has answered, and what was said of one thing."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from .moments import DAYS
from .said import Said
from .words import STOP, content, has, overlap, sentences, stem, tokens

Sentence = tuple[Said, str]
DECIDED = (
    r"decided|decisions?|agreed|let's (?:go|do|ship|wait)|approved|settled|we(?:'ll| will) go with"
)
UNDECIDED = (
    r"(?:should|must|need to|have to|to|yet|still|not|\w+n['’]t|never|nothing|nobody|if|when|once|until|who|what)\b[^.!]*\b"
    r"(?:decided?|decisions?|agreed?|approved|settled)|(?:no|any|open) decisions?"
)
YES_OR_NO = re.compile(
    r"\W*(?:yes|yep|yeah|no|nope|sure|ok|okay|fine|agreed|done|will do|of course|deal|sounds? good|works? for me|good|\+1|👍|✅|decision)\b",
    re.IGNORECASE,
)
TAKES_ON = re.compile(
    r"\W*(?:(?:ok|okay|sure|yes)\W+)?(?:I\b|we\b|me\b|let me\b|my\b|@?[A-Z]\w+ (?:will|does|has|can|is)\b)"
)
OPEN_ASKED = r"who|what|when|where|which|why|how|whose"
OF_TIME = re.compile(rf"\d|\b(?:today|tonight|tomorrow|now|soon|{'|'.join(DAYS)})\b", re.IGNORECASE)
_SPOKEN = (
    "people everyone everybody anyone anybody someone somebody many much often long say says said mention mentions mentioned anything "
    "something everything get got go goes need decide decided decides decision decisions agree agreed approve approved settle settled conclude "
    "concluded conclusion outcome final finally end talk talked discuss discussed discussion write wrote written post posted ask asked "
    "answer answered question think thinks thought opinion thread channel message messages here today yesterday week "
    "now still currently again exactly actually already yet next right so ok okay hey please about regarding know responsible "
    "take takes plan status update news latest going happening happened whether"
)
SPOKEN = STOP | frozenset(_SPOKEN.split())
"""Words of a question about a talk that are not its topic."""


def decided(messages: Sequence[Said]) -> list[Sentence]:
    """Sentences that say that something is decided, not that it should be."""
    return [
        (message, sentence)
        for message, sentence in each_sentence(messages)
        if has(sentence, DECIDED) and not sentence.endswith("?") and not has(sentence, UNDECIDED)
    ]


def each_sentence(messages: Sequence[Said]) -> Iterator[Sentence]:
    """Every sentence with its message."""
    return ((message, sentence) for message in messages for sentence in sentences(message.text))


def unanswered(messages: Sequence[Said]) -> list[Sentence]:
    """Questions that nobody answered right below, and of whose words nobody else, and no decision,
    speaks later on."""
    found = []
    for place, message in enumerate(messages):
        others = [m for m in messages[place + 1 :] if m.author != message.author]
        later = [m.text for m in messages[place + 1 :] if m in others or has(m.text, DECIDED)]
        for sentence in sentences(message.text):
            if not sentence.endswith("?") or (others and _answers(others[0].text, sentence)):
                continue
            asked = content(sentence)
            if not any(overlap(asked, content(text)) >= 1 for text in later):
                found.append((message, sentence))
    return found


def _answers(reply: str, question: str) -> bool:
    """Whether a reply has the form of an answer: a yes or no, or a time or number where that is asked."""
    asks = has(question, OPEN_ASKED)
    if has(question, r"when|how (?:much|many|long)|(?:what|which) (?:day|date|time)"):
        return bool(OF_TIME.search(reply))
    if has(question, "who"):
        return bool(TAKES_ON.match(reply))
    return not asks and bool(YES_OR_NO.match(reply))


def topic(question: str, but: Sequence[str] = ()) -> list[str]:
    """The words of a question that say what it is about, as they were written; names `but` left out."""
    names = {part.lower() for name in but for part in name.split()}
    words = re.findall(r"[^\W_]{2,}", question)
    other = SPOKEN | names
    return [word for word in words if not {word.lower(), stem(word.lower())} & other]


def of_topic(messages: Sequence[Said], words: Sequence[str]) -> list[Said]:
    """Messages that speak of the most of these words, of half of them at least; none for no words."""
    asked = {root for word in words for root in roots(word)}
    said = [(message, asked & roots(message.text)) for message in messages]
    most = max((len(found) for _, found in said), default=0)
    enough = most and most * 2 >= len(asked)
    return [message for message, found in said if enough and len(found) == most]


def around(messages: Sequence[Said], some: Sequence[Said]) -> list[Said]:
    """Those messages and the later ones that share a word with them: the talk goes on by "it"."""
    if not some:
        return []
    words = set().union(*(roots(message.text) for message in some))
    first = messages.index(some[0])
    return [m for m in messages[first:] if m in some or words & roots(m.text)]


def with_replies(messages: Sequence[Said], some: Sequence[Said]) -> list[Said]:
    """Those messages, of a question also what stands right below it."""
    below = {id(then) for asked, then in pairwise(messages) if asked in some and "?" in asked.text}
    return [each for each in messages if each in some or id(each) in below]


def roots(text: str) -> set[str]:
    """The words of a text that carry meaning, without their endings."""
    return {stem(word).rstrip("e") for word in tokens(text) if len(word) > 1 and word not in SPOKEN}
