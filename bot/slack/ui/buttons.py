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
    option,
    overflow,
    shortened,
    static_select,
    with_confirmation,
)
from bot.slack.ui.links import Link, LinkGate
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
MENU = "answer_menu"
"""The menu under an answer, whose entries are options with the value `action value`."""
ASK_AGAIN = (RETRY, REGENERATE, DEEPER)
FOLLOW_UP = "follow_up"
RAISE = "raise_budget"
RAISE_TIMES = {"half": 1.5, "double": 2.0}

_MAX_VALUE = 2_000
_MAX_ENTRY_VALUE = 150
_MAX_OVERFLOW = 5  # entries
_MAX_CONFIRM = 300  # characters of a confirmation dialog
MAX_FOLLOW_UPS = 3


@dataclass(frozen=True, slots=True)
class AnswerButton:
    """A button that a feature puts under answers: an entry of their menu, with a `hint` that says what
    it does. What most people need under an answer stands `alone` beside the menu.

    `value_of` returns what it carries under an answer, None where it is not there; in the menu, action
    and value have at most 149 characters. One that `asks_again` goes when its question is deleted.
    `row` draws a row of its own for the value. One that `leads` stands alone before all others. One that
    is `sure` stands alone, too, and asks first, in a dialog with a title and a text."""

    text: Text
    action: str
    value_of: Callable[[Outcome, Request], str | None]
    asks_again: bool = False
    row: Callable[[str], Block] | None = None
    leads: bool = False
    sure: tuple[Text, Text] | None = None
    hint: Text | None = None
    alone: bool = False

    @property
    def place(self) -> Literal["first", "beside", "menu", "below"]:
        """Where the button stands: before or beside the menu, in it, or in a row below."""
        if self.row:
            return "below"
        return "first" if self.leads else "beside" if self.alone or self.sure else "menu"

    def under(self, outcome: Outcome, request: Request) -> list[Block]:
        """Return the button under an answer, its row, or its option of the menu, if it is there. One
        that cannot be made is left out: the answer is posted all the same."""
        try:
            value = self.value_of(outcome, request)
            if not value:
                return []
            if self.row:
                return [self.row(value)]
            if self.place == "menu":
                hint = self.hint() if self.hint else ""
                return [menu_entry(self.text(), self.action, value, hint)]
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


def retry_buttons(request_id: str, *, has_details: bool) -> Block:
    """Return a row with a button that asks the same question again, and one that says what the run
    took, if anything."""
    retry = message_button(words.RETRY(), RETRY, request_id) | {"style": "primary"}
    return actions(retry, *_menu([_details_entry(request_id)] if has_details else []))


def without_actions(blocks: Sequence[Block], *actions: str) -> list[Block]:
    """Return the blocks without the buttons and menu entries of these actions, and without menus and
    rows that this empties."""
    remaining: list[Block] = []
    for block in blocks:
        elements: Sequence[Block] = block.get("elements") or ()
        others = [other for each in elements for other in _without_entries(each, actions)]
        if others == [*elements]:
            remaining.append(block)
        elif others:
            remaining.append({**block, "elements": others})
    return remaining


def _without_entries(element: Block, actions: Sequence[str]) -> list[Block]:
    if element.get("action_id") != MENU:
        return [] if element.get("action_id") in actions else [element]
    entries = [
        entry for entry in element["options"] if action_and_value(entry["value"])[0] not in actions
    ]
    return _menu(entries) if len(entries) < len(element["options"]) else [element]


def answer_buttons(
    request_id: str,
    leading: Sequence[Block] = (),
    beside: Sequence[Block] = (),
    in_menu: Sequence[Block] = (),
    *,
    again: bool,
    has_details: bool,
) -> Block | None:
    """Return a row for an answer: buttons, then the menu with everything else; None if it would be
    empty.

    `again` adds entries that answer again, as before or with more work, and `has_details` one that says
    what the run took. `leading`, `beside` and `in_menu` are those of features.
    """
    choices = (
        (words.ASK_AGAIN(), REGENERATE, request_id, words.ASK_AGAIN_HINT()),
        (words.LOOK_DEEPER(), DEEPER, request_id, words.LOOK_DEEPER_HINT()),
    )
    entries = [menu_entry(*choice) for choice in choices if again]
    entries += in_menu
    entries += [_details_entry(request_id)] if has_details else []
    elements = [*leading, *beside, *_menu(entries)]
    return actions(*elements) if elements else None


def _details_entry(request_id: str) -> Block:
    return menu_entry(words.DETAILS(), DETAILS, request_id, words.DETAILS_HINT())


def menu_entry(label: str, action: str, value: str, hint: str) -> Block:
    """Return an option of the menu under an answer. Raises ValueError for a value that is too long."""
    chosen = f"{action} {value}"
    if len(chosen) > _MAX_ENTRY_VALUE:
        raise ValueError(f"the value of the menu entry {action} is too long")
    made = option(label, chosen, shortened(hint, MAX_LABEL))
    return made | {"text": made["text"] | {"emoji": False}}


def action_and_value(chosen: str) -> tuple[str, str]:
    """Return the action and the value of a menu entry that was chosen."""
    action, _, value = chosen.partition(" ")
    return action, value


def _menu(entries: Sequence[Block]) -> list[Block]:
    """Return the menu of these entries. A single one is a button: a menu would only hide it.

    Slack's menu holds five; what is beyond goes into a select menu, which holds a hundred.
    """
    if not entries:
        return []
    if len(entries) == 1:
        [entry] = entries
        return [message_button(entry["text"]["text"], *action_and_value(entry["value"]))]
    if len(entries) <= _MAX_OVERFLOW:
        return [overflow(MENU, entries)]
    return [static_select(MENU, words.MORE(), entries)]


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
