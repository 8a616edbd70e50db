"""Buttons under messages, and the values that they carry."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from pydantic import BaseModel, ConfigDict

from bot.core.answers import Answer, stored_name
from bot.core.budgets import OverBudget
from bot.core.errors import MalformedPayload
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.slack.ui import words
from bot.slack.ui.blocks import (
    MAX_LABEL,
    Block,
    actions,
    button,
    with_confirmation,
)
from bot.slack.ui.links import Link, LinkGate
from bot.slack.ui.run_details import RunDetails
from bot.text.invisible_text import exact
from bot.text.mentions import Mention
from bot.text.translation import Text

log = logging.getLogger(__name__)

STOP = "stop_run"
RETRY = "retry_request"
MEANT = "message_is_meant"
APPROVE = "approve_call"
APPROVE_THREAD = "approve_calls_in_thread"
DENY = "deny_call"
SHOW_ALL = "show_call"
REGENERATE = "regenerate_answer"
DEEPER = "go_deeper"
DETAILS = "run_details"
ASK_AGAIN = (RETRY, REGENERATE, DEEPER)
FOLLOW_UP = "follow_up"
RAISE = "raise_budget"
RAISE_TIMES = {"half": 1.5, "double": 2.0}

_MAX_VALUE = 2_000
_MAX_CONFIRM = 300  # characters of a confirmation dialog
MAX_FOLLOW_UPS = 3


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """A button that a feature puts under answers. `value_of` returns what it carries under an answer,
    None where it is not there. One that `asks_again` goes when its question is deleted. `row` draws a
    row of its own for the value, instead of a button beside the others. One that `leads` stands before
    all others. One that is `sure` asks first, in a dialog with a title and a text."""

    text: Text
    action: str
    value_of: Callable[[Outcome, Request], str | None]
    asks_again: bool = False
    row: Callable[[str], Block] | None = None
    leads: bool = False
    sure: tuple[Text, Text] | None = None

    @property
    def place(self) -> Literal["first", "beside", "below"]:
        """Where the button stands: before or beside those of the bot, or in a row below them."""
        return "below" if self.row else "first" if self.leads else "beside"

    def under(self, outcome: Outcome, request: Request) -> list[Block]:
        """Return the button under an answer, or its row, if it is there. One that cannot be made is
        left out: the answer is posted all the same."""
        try:
            value = self.value_of(outcome, request)
            if not value:
                return []
            if self.row:
                return [self.row(value)]
        except Exception:
            log.exception("an answer has no button %s", self.action)
            return []
        style = {"style": "primary"} if self.leads else {}
        made = message_button(self.text(), self.action, value) | style
        if self.sure:
            title, text = (said() for said in self.sure)
            made = with_confirmation(
                made, title, text, yes=self.text(), no=words.CLOSE(), style="primary"
            )
        return [made]


class FollowUp(BaseModel):
    """The value of a follow-up button: enough to ask the question without its message."""

    model_config = ConfigDict(frozen=True)

    question: str
    thread: str
    private: bool = False
    response_type: str = "Answer"


class Stops(NamedTuple):
    """The run that a Stop button stops: the run of one request.

    Buttons of earlier versions carry no request id and stop any run of the thread.
    """

    team: str
    channel: str
    thread: str
    request_id: str = ""

    @classmethod
    def of(cls, request: Request) -> Stops:
        return cls(request.team, request.channel, request.thread, request.id)

    @classmethod
    def read(cls, value: str) -> Stops:
        """Parse a button's value. Raises MalformedPayload."""
        parts = value.split(":")
        if len(parts) not in (3, 4):
            raise MalformedPayload("a Stop button without a thread")
        return cls(*parts)

    @property
    def thread_key(self) -> str:
        return f"{self.team}:{self.channel}:{self.thread}"


def stop_button(stops: Stops) -> Block:
    """Return a row with a Stop button.

    It replaces Slack's own: Slack does not document who sees that one, or in which clients, and all
    people who may stop a run need a button.
    """
    stop = message_button(words.STOP(), STOP, ":".join(filter(None, stops)))
    return actions(stop | {"style": "danger"})


class MeantMessage(NamedTuple):
    """The value of the button with which an author says that a message was for the bot."""

    thread: str
    ts: str

    @classmethod
    def read(cls, value: str) -> MeantMessage:
        """Parse a button's value. Raises MalformedPayload."""
        parts = value.split(":")
        if len(parts) != 2:
            raise MalformedPayload("a button without a message")
        return cls(*parts)


def meant_button(message: MeantMessage) -> Block:
    """Return a row with a button that has the bot answer its author's message."""
    return actions(message_button(words.FOR_YOU(), MEANT, ":".join(message)))


def retry_buttons(request_id: str, details: RunDetails | None) -> Block:
    """Return a row with a button that asks the same question again."""
    retry = message_button(words.RETRY(), RETRY, request_id) | {"style": "primary"}
    return actions(retry, *_details(details))


def without_actions(blocks: Sequence[Block], *actions: str) -> list[Block]:
    """Return the blocks without the buttons of these actions, and without rows that this empties."""
    remaining: list[Block] = []
    for block in blocks:
        elements = block.get("elements") or ()
        others = [element for element in elements if element.get("action_id") not in actions]
        if len(others) == len(elements):
            remaining.append(block)
        elif others:
            remaining.append({**block, "elements": others})
    return remaining


def answer_buttons(
    request_id: str,
    details: RunDetails | None,
    leading: Sequence[Block] = (),
    more: Sequence[Block] = (),
    *,
    again: bool,
) -> Block | None:
    """Return a row of buttons for an answer; None if it would be empty.

    `again` adds buttons that answer again, as before or with more work, and `details` one that says
    what the run took. `leading` and `more` are those of features.
    """
    elements = [*leading]
    choices = ((words.GO_DEEPER(), DEEPER), (words.REGENERATE(), REGENERATE)) if again else ()
    elements += [message_button(*choice, request_id) for choice in choices]
    elements += more
    elements += _details(details)
    return actions(*elements) if elements else None


def _details(details: RunDetails | None) -> list[Block]:
    return [message_button(words.DETAILS(), DETAILS, details.value)] if details else []


def follow_up_buttons(
    questions: list[str], *, thread: str, private: bool, response_type: str = stored_name(Answer)
) -> list[Block]:
    """Return buttons for the first three questions, whose answers are of a response type.

    A button never asks more than it shows: a question that is too long for a label is shown in a
    confirmation dialog, or left out.
    """
    elements: list[Block] = []
    for question in [_without_addresses(exact(q)) for q in questions if q.strip()][:MAX_FOLLOW_UPS]:
        follow_up = FollowUp(
            question=question, thread=thread, private=private, response_type=response_type
        )
        carried = follow_up.model_dump_json(exclude_defaults=True)
        if not question or len(question) > _MAX_CONFIRM or len(carried) > _MAX_VALUE:
            continue
        asking = message_button(question, f"{FOLLOW_UP}_{len(elements)}", carried)
        if len(question) > MAX_LABEL:
            asking = with_confirmation(
                asking,
                words.FOLLOW_UP_TITLE(),
                question,
                yes=words.ASK_SUBMIT(),
                no=words.CLOSE(),
                style="",
            )
        elements.append(asking)
    return elements


def raise_buttons(over: OverBudget) -> Block:
    """Return buttons that raise a used-up budget. The permission is checked on a press.

    The action id holds the step, the value the budget.
    """

    def choice(step: str, label: str) -> Block:
        return with_confirmation(
            message_button(label, f"{RAISE}_{step}", over.model_dump_json()),
            words.RAISE_TITLE(),
            words.RAISE_TEXT(),
            yes=words.RAISE_CONFIRM(),
            no=words.CLOSE(),
            style="",
        )

    choices = ("half", words.RAISE_HALF()), ("double", words.RAISE_DOUBLE())
    return actions(*(choice(*each) for each in choices))


def _without_addresses(question: str) -> str:
    """Remove addresses from a question that the model wrote.

    The person who presses the button asks the question as their own, and addresses that people
    write may become links.
    """
    pieces = LinkGate().pieces(question)  # an empty gate permits no link
    texts = ("" if isinstance(piece, Link | Mention) else piece.text for piece in pieces)
    return " ".join("".join(texts).split())


def message_button(label: str, action: str, value: str) -> Block:
    """Return a button for a message. Codes of emoji in its label are shown as they are."""
    made = button(label, action, value)
    return made | {"text": made["text"] | {"emoji": False}}
