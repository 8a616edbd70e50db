"""Buttons, and what they carry back when somebody presses them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from pydantic import BaseModel, ConfigDict

from bot.core.budgets import OverBudget
from bot.core.errors import MalformedPayload
from bot.core.request import Request
from bot.core.text.invisible_text import exact
from bot.core.text.mentions import Mention
from bot.slack.render import words
from bot.slack.render.links import Link, LinkGate
from bot.slack.render.parts import Block, shortened

STOP = "stop_run"
RETRY = "retry_request"
APPROVE = "approve_call"
APPROVE_THREAD = "approve_calls_in_thread"
DENY = "deny_call"
SHOW_ALL = "show_call"
SHARE = "share_answer"
REGENERATE = "regenerate_answer"
DEEPER = "go_deeper"
ASK_AGAIN = (RETRY, REGENERATE, DEEPER)
FOLLOW_UP = "follow_up"
FEEDBACK = "feedback"
RAISE = "raise_budget"
RAISE_TIMES = {"half": 1.5, "double": 2.0}

MAX_LABEL = 75
_MAX_VALUE = 2_000
_MAX_TITLE, _MAX_SURE = 100, 300  # of what is asked before a button acts
MAX_FOLLOW_UPS = 3


class FollowUp(BaseModel):
    """What a follow-up button carries: enough to ask without the message it stood in."""

    model_config = ConfigDict(frozen=True)

    question: str
    thread: str
    private: bool = False


def named(button: Block, what: str) -> Block:
    """`button` as a screen reader says it, who hears it without what stands around it."""
    label = f"{button['text']['text']}: {' '.join(what.split())}"
    return button | {"accessibility_label": shortened(label, MAX_LABEL)}


def asking_first(button: Block, title: str, text: str, *, yes: str, no: str) -> Block:
    """`button`, which Slack lets act only once who pressed it has said yes."""
    sure = {
        "title": _plain(shortened(title, _MAX_TITLE)),
        "text": _plain(shortened(text, _MAX_SURE)),
        "confirm": _plain(yes),
        "deny": _plain(no),
        "style": "danger",
    }
    return button | {"confirm": sure}


class Stops(NamedTuple):
    """What a Stop button stops: the run of one request, as long as it is the thread's. Earlier
    versions named no request, which meant whatever ran."""

    team: str
    channel: str
    thread: str
    request_id: str = ""

    @classmethod
    def of(cls, request: Request) -> Stops:
        return cls(request.team, request.channel, request.thread, request.id)

    @classmethod
    def read(cls, value: str) -> Stops:
        """Read what a button carries. Raises MalformedPayload."""
        parts = value.split(":")
        if len(parts) not in (3, 4):
            raise MalformedPayload("a Stop button without a thread")
        return cls(*parts)

    @property
    def thread_key(self) -> str:
        return f"{self.team}:{self.channel}:{self.thread}"


def stop_button(stops: Stops) -> Block:
    """Stops a run. It stays though Slack has a Stop of its own: to whom that is
    shown, and in which clients, is documented nowhere, and all who may stop must be able to."""
    return {
        "type": "actions",
        "elements": [
            {**_button(words.STOP, STOP, ":".join(filter(None, stops))), "style": "danger"}
        ],
    }


def retry_button(request_id: str) -> Block:
    """Asks the same once more."""
    return {
        "type": "actions",
        "elements": [{**_button(words.RETRY, RETRY, request_id), "style": "primary"}],
    }


def without(blocks: Sequence[Block], *actions: str) -> list[Block]:
    """A message as it reads without the rows of buttons that hold one of these."""

    def is_of_them(block: Block) -> bool:
        return any(each.get("action_id") in actions for each in block.get("elements") or ())

    return [block for block in blocks if not is_of_them(block)]


def again_buttons(request_id: str, *, again: bool, share: bool) -> Block | None:
    """Shows all in the thread what only one person saw (`share`), and answers the same once more, as
    before or with more work (`again`); None with neither."""
    elements = [{**_button(words.SHARE, SHARE, request_id), "style": "primary"}] if share else []
    choices = ((words.GO_DEEPER, DEEPER), (words.REGENERATE, REGENERATE)) if again else ()
    elements += [_button(*each, request_id) for each in choices]
    return {"type": "actions", "elements": elements} if elements else None


def follow_up_buttons(questions: list[str], *, thread: str, private: bool) -> Block | None:
    """The first three questions as buttons; None without questions. Nobody asks more than they
    were shown: what does not fit on a button is shown before it acts, or left out."""
    elements: list[Block] = []
    for question in [_without_addresses(exact(q)) for q in questions if q.strip()][:MAX_FOLLOW_UPS]:
        carried = FollowUp(question=question, thread=thread, private=private).model_dump_json()
        if not question or len(question) > _MAX_SURE or len(carried) > _MAX_VALUE:
            continue
        button = _button(question, f"{FOLLOW_UP}_{len(elements)}", carried)
        if len(question) > MAX_LABEL:
            button["confirm"] = {
                "title": _plain(words.FOLLOW_UP_TITLE),
                "text": _plain(question),
                "confirm": _plain(words.ASK_SUBMIT),
                "deny": _plain(words.CLOSE),
            }
        elements.append(button)
    return {"type": "actions", "elements": elements} if elements else None


def feedback_buttons(run_id: str) -> Block:
    """Thumbs up and down; the value is `good:run_id` or `bad:run_id`."""

    def choice(text: str, verdict: str) -> Block:
        return {
            "text": {"type": "plain_text", "text": text},
            "accessibility_label": text,
            "value": f"{verdict}:{run_id}",
        }

    buttons = {
        "type": "feedback_buttons",
        "action_id": FEEDBACK,
        "positive_button": choice(words.GOOD, "good"),
        "negative_button": choice(words.BAD, "bad"),
    }
    return {"type": "context_actions", "elements": [buttons]}


def raise_buttons(over: OverBudget) -> Block:
    """Raise a used-up budget; whether the one who presses may is asked then. Which step it is
    stands in the action's id, the value says of which budget."""

    def choice(step: str, label: str) -> Block:
        confirm = {
            "title": _plain(words.RAISE_TITLE),
            "text": _plain(words.RAISE_TEXT),
            "confirm": _plain(words.RAISE_CONFIRM),
            "deny": _plain(words.CLOSE),
        }
        button = _button(label, f"{RAISE}_{step}", over.model_dump_json())
        return button | {"confirm": confirm}

    choices = ("half", words.RAISE_HALF), ("double", words.RAISE_DOUBLE)
    return {"type": "actions", "elements": [choice(*each) for each in choices]}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}


def _without_addresses(question: str) -> str:
    """Who presses the button asks it as their own, and addresses that people write may be posted
    as links: those of a model must not become such by a press."""
    pieces = LinkGate().pieces(question)  # which permits none
    texts = ("" if isinstance(piece, Link | Mention) else piece.text for piece in pieces)
    return " ".join("".join(texts).split())


def _button(label: str, action: str, value: str) -> Block:
    text = {"type": "plain_text", "text": shortened(label, MAX_LABEL), "emoji": False}
    return {"type": "button", "action_id": action, "text": text, "value": value}
