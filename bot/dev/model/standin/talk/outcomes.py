"""What came of a talk: what was decided, what nobody has answered, and what was said of one thing."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import takewhile

from ..doing.moments import DAYS
from ..words import content, has, overlap, sentences
from .said import Said

Sentence = tuple[Said, str]
DECIDED = r"decided|decisions?|agreed|let's (?:go|do|ship|wait|take|use|keep|have|make it)|approved|settled|we(?:'ll| will) go with"
UNDECIDED = (
    r"(?:should|must|need to|have to|to|yet|still|not|\w+n['’]t|never|nothing|nobody|if|when|once|until|who|what)\b[^.!]*\b"
    r"(?:decided?|decisions?|agreed?|approved|settled)|(?:no|any|open) decisions?"
)
YES_OR_NO = re.compile(
    r"\W*(?:yes|yep|yeah|no|nope|sure|ok|okay|fine|agreed|done|will do|of course|sounds good|works for me|\+1|👍|✅)\b",
    re.IGNORECASE,
)
UNSURE = re.compile(
    r"\b(?:no idea|(?:don['’]?t|do not|doesn['’]?t) know|not sure|unsure|unclear|no clue|ask(?:ing)? (?:again|around))\b",
    re.IGNORECASE,
)
"""What answers nothing, though it speaks of the thing that was asked."""
NO_ANSWER = re.compile(
    r"\W*(?:I found no|I can(?:no|['’])t|I could not|My rules|[^\n:]{1,80} asked:)"
)
"""How the bot says that it has none, or what it was asked."""
TAKES_ON = re.compile(r"\W*(?:I|me|[Ll]et me|[Mm]y)\b")
OPEN_ASKED = r"who|what|when|where|which|why|how|whose"
CHOICE = r"options?|choices?|candidates?|alternatives?|either|or"
OF_TIME = re.compile(rf"\d|\b(?:today|tonight|tomorrow|now|soon|{'|'.join(DAYS)})\b", re.IGNORECASE)


def decided(messages: Sequence[Said]) -> list[Sentence]:
    """Sentences that say that something is decided, not that it should be."""
    return [
        (message, sentence)
        for message in messages
        for sentence in sentences(message.text)
        if has(sentence, DECIDED) and not sentence.endswith("?") and not has(sentence, UNDECIDED)
    ]


def unanswered(messages: Sequence[Said]) -> list[Sentence]:
    """Questions that nobody answered right below, and of whose words nobody else, and no decision,
    speaks later on."""
    is_alone = len({each.author for each in messages if not each.is_of_bot}) == 1
    found = []
    for place, message in enumerate(messages):
        own = [] if message.is_of_bot else sentences(message.text)
        for at, sentence in enumerate(own):
            if not sentence.endswith("?"):
                continue
            below = [
                each
                for each in messages[place + 1 :]
                if not each.is_of_bot or _is_to_bot(message, sentence, each, is_alone=is_alone)
            ]
            if not (
                _is_settled(message, sentence, own[at + 1 :], below) or _is_chosen(own, at, below)
            ):
                found.append((message, sentence))
    return found


def _is_to_bot(message: Said, question: str, reply: Said, *, is_alone: bool) -> bool:
    """Whether what the bot wrote may answer a question: it does where it was asked, and tells no more
    than what was asked where it quotes it."""
    if NO_ANSWER.match(reply.text):
        return False
    if message.is_to_bot or (is_alone and "@" not in message.text):
        return True
    speaks = overlap(content(question), content(reply.text)) >= 1
    return speaks and "@" not in message.text and question not in reply.text


def _is_settled(message: Said, question: str, rest: Sequence[str], below: Sequence[Said]) -> bool:
    """By somebody else right below, before anything else is asked, or by words of it that are said later
    on, or with a decision."""
    others = [each for each in below if each.author != message.author]
    between = takewhile(lambda each: each.author == message.author, below)
    is_last = not any(said.endswith("?") for each in between for said in sentences(each.text))
    if others and is_last and _answers(others[0], question):
        return True
    later = [
        sentence
        for each in below
        for sentence in sentences(each.text)
        if (each in others or has(sentence, DECIDED)) and not UNSURE.search(sentence)
    ]
    settled = [each for each in rest if has(each, DECIDED)]
    asked = content(question)
    return any(overlap(asked, content(text)) >= 1 for text in (*later, *settled))


def _is_chosen(own: Sequence[str], at: int, below: Sequence[Said]) -> bool:
    """Whether a decision names what the message gives to choose from, or goes on to say of its question."""
    goes_on = takewhile(lambda each: not each.endswith("?"), own[at + 1 :])
    named = content(" ".join((*goes_on, *(each for each in own if has(each, CHOICE)))))
    return any(overlap(named, content(each)) >= 1 for _, each in decided(below))


def _answers(said: Said, question: str) -> bool:
    """Whether a reply is the bot's, or has the form of an answer: a yes or no, or a time or number
    where that is asked."""
    reply = said.text
    if said.is_of_bot:
        return True
    if UNSURE.search(next(iter(sentences(reply)), "")):
        return False
    if has(question, r"when|how (?:much|many|long)|(?:what|which) (?:day|date|time)"):
        return bool(OF_TIME.search(reply))
    if has(question, "who"):
        return bool(TAKES_ON.match(reply))
    return not has(question, OPEN_ASKED) and bool(YES_OR_NO.match(reply))


def of_topic(messages: Sequence[Said], topic: str) -> list[Said]:
    """Messages with every word of it; none where it has no words."""
    asked = set(content(topic))
    return [each for each in messages if asked and asked <= set(content(each.text))]
