"""Blocks of Slack's Block Kit and fields of forms: one function for each that the bot uses.

They fill in what Slack requires, and leave out what is not given. Texts are plain unless they are
named mrkdwn; limits are cut only where a text may be long.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from bot.slack.ui import words

Block = dict[str, Any]

MAX_LABEL = 75  # characters of a button
MAX_TITLE = 24  # of a modal
MOST_OPTIONS = 100  # of a menu
_MAX_HEADER = 150
_MAX_CONFIRM_TITLE, _MAX_CONFIRM = 100, 300
MAX_INPUT = 3_000  # characters of a text field


class FormErrors(Exception):
    """Input of a modal that does not fit. `errors` maps block ids to sentences for the person."""

    def __init__(self, errors: Mapping[str, str]) -> None:
        super().__init__(str(errors))
        self.errors = dict(errors)


def shortened(text: str, limit: int) -> str:
    """Return `text`, or its beginning with an ellipsis, in at most `limit` characters."""
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"


def text_object(text: str) -> Block:
    """Return Slack's object for text without formatting."""
    return {"type": "plain_text", "text": text}


def mrkdwn_object(mrkdwn: str) -> Block:
    """Return Slack's object for text in its own markup."""
    return {"type": "mrkdwn", "text": mrkdwn}


def section(mrkdwn: str, accessory: Block | None = None, *, block_id: str = "") -> Block:
    """Return a paragraph of mrkdwn, with a button or menu beside it."""
    return _section(mrkdwn_object(mrkdwn), accessory, block_id)


def plain_section(text: str, accessory: Block | None = None, *, block_id: str = "") -> Block:
    """Return a paragraph without any markup, with a button or menu beside it."""
    return _section(text_object(text), accessory, block_id)


def _section(text: Block, accessory: Block | None, block_id: str) -> Block:
    block: Block = {"type": "section", "text": text}
    return block | _present(accessory=accessory, block_id=block_id)


def header(text: str) -> Block:
    """Return a heading."""
    return {"type": "header", "text": text_object(shortened(text, _MAX_HEADER))}


def divider() -> Block:
    """Return a line across."""
    return {"type": "divider"}


def actions(*elements: Block) -> Block:
    """Return a row of buttons and menus."""
    return {"type": "actions", "elements": [*elements]}


def button(label: str, action: str, value: str = "", *, style: str = "", url: str = "") -> Block:
    """Return a button; a label that is too long is cut. With `url` the browser opens it."""
    block: Block = {
        "type": "button",
        "action_id": action,
        "text": text_object(shortened(label, MAX_LABEL)),
    }
    return block | _present(value=value, style=style, url=url)


def overflow(action: str, options: Iterable[Block]) -> Block:
    """Return a menu of at most five options behind an ellipsis."""
    return {"type": "overflow", "action_id": action, "options": [*options]}


def static_select(action: str, placeholder: str, options: Iterable[Block]) -> Block:
    """Return a menu of at most a hundred options."""
    return {
        "type": "static_select",
        "action_id": action,
        "placeholder": text_object(placeholder),
        "options": [*options],
    }


def with_label(button: Block, subject: str) -> Block:
    """Return the button with a label for screen readers, which do not read the text around it."""
    label = f"{button['text']['text']}: {' '.join(subject.split())}"
    return button | {"accessibility_label": shortened(label, MAX_LABEL)}


def with_confirmation(
    button: Block, title: str, text: str, *, yes: str, no: str, style: str = "danger"
) -> Block:
    """Return the button with a dialog that asks before anything happens."""
    dialog = {
        "title": text_object(shortened(title, _MAX_CONFIRM_TITLE)),
        "text": text_object(shortened(text, _MAX_CONFIRM)),
        "confirm": text_object(yes),
        "deny": text_object(no),
    }
    return button | {"confirm": dialog | _present(style=style)}


def channel_menu(action: str, placeholder: str) -> Block:
    """Return a menu of all channels but direct messages."""
    return {**_channels(action), "placeholder": text_object(placeholder)}


def rich_text(*elements: Block) -> Block:
    """Return text in which nothing becomes a link, a mention or a format by itself."""
    return {"type": "rich_text", "elements": [*elements]}


def rich(kind: str, *elements: Block) -> Block:
    """Return a part of rich text: a "section", a "quote" or "preformatted" text."""
    return {"type": f"rich_text_{kind}", "elements": [*elements]}


def text_element(text: str, *, bold: bool = False) -> Block:
    """Return words of rich text."""
    return {"type": "text", "text": text} | _present(style={"bold": True} if bold else None)


def modal(
    title: str,
    blocks: Iterable[Block],
    *,
    close: str,
    callback: str = "",
    submit: str = "",
    metadata: str = "",
) -> Block:
    """Return a modal. It can be submitted if it has a `callback` and a label for that."""
    view: Block = {
        "type": "modal",
        "title": text_object(shortened(title, MAX_TITLE)),
        "close": text_object(close),
        "blocks": [*blocks],
    }
    return view | _present(
        callback_id=callback,
        submit=text_object(submit) if submit else None,
        private_metadata=metadata,
    )


def notice_modal(title: str, sentence: str) -> Block:
    """Return a modal with one sentence and no inputs."""
    return modal(title, [plain_section(sentence)], close=words.CLOSE_ONLY())


def field(name: str, label: str, element: Block, *, hint: str = "", optional: bool = True) -> Block:
    """Return a field of a form, whose block and input are both called `name`."""
    block: Block = {
        "type": "input",
        "block_id": name,
        "label": text_object(label),
        "element": {**element, "action_id": name},
    }
    return block | _present(hint=text_object(hint) if hint else None, optional=optional)


def text_input(
    value: str = "", *, lines: bool = True, longest: int = MAX_INPUT, placeholder: str = ""
) -> Block:
    """Return an input for text of at most `longest` characters, filled in with `value`."""
    element: Block = {"type": "plain_text_input", "multiline": lines, "max_length": longest}
    return element | _present(
        initial_value=shortened(value, longest),
        placeholder=text_object(placeholder) if placeholder else None,
    )


def number_input(value: float | None, *, whole: bool) -> Block:
    """Return an input for a number above zero, with or without decimals."""
    element: Block = {
        "type": "number_input",
        "is_decimal_allowed": not whole,
        "min_value": "1" if whole else "0.01",
    }
    return element | _present(initial_value="" if value is None else digits(value))


def digits(value: float) -> str:
    """Format a number without trailing zeros: Slack refuses a decimal point for integers."""
    return f"{value:f}".rstrip("0").rstrip(".")


def people_input(users: Iterable[str]) -> Block:
    """Return an input for people, filled in with `users`."""
    return {"type": "multi_users_select"} | _present(initial_users=[*users])


def channel_input() -> Block:
    """Return an input for a channel."""
    return _channels("")


def _channels(action: str) -> Block:
    kinds = {"include": ["public", "private"], "exclude_bot_users": True}
    return {"type": "conversations_select", "filter": kinds} | _present(action_id=action)


def choice_input(options: Mapping[str, Block | str], selected: str) -> Block:
    """Return a choice among `options`, by their values; each is a label, or made by `option`."""
    made = _options(options)
    return {
        "type": "radio_buttons",
        "options": [*made.values()],
        "initial_option": made[selected],
    }


def menu_input(options: Mapping[str, Block | str], selected: str = "") -> Block:
    """Return a menu of up to MOST_OPTIONS `options`, by their values, with one `selected` unless that is ""."""
    made = _options(options)
    menu: Block = {"type": "static_select", "options": [*made.values()]}
    return menu | _present(initial_option=made[selected] if selected else None)


def boxes_input(options: Mapping[str, Block | str], checked: Iterable[str] = ()) -> Block:
    """Return boxes to check, by their values."""
    made = _options(options)
    return {"type": "checkboxes", "options": [*made.values()]} | _present(
        initial_options=[made[value] for value in checked]
    )


def option(label: str, value: str, description: str = "") -> Block:
    """Return an option of a choice or menu; a label or description that is too long is cut."""
    made: Block = {"text": text_object(shortened(label, MAX_LABEL)), "value": value}
    described = text_object(shortened(description, MAX_LABEL)) if description else None
    return made | _present(description=described)


def _options(options: Mapping[str, Block | str]) -> dict[str, Block]:
    return {
        value: option(label, value) if isinstance(label, str) else label
        for value, label in options.items()
    }


def _present(**fields: Any) -> Block:
    """Return the fields that have a value: Slack refuses empty ones."""
    return {name: value for name, value in fields.items() if value}
