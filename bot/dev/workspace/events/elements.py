"""Interactive elements: finding them in blocks, and the values that using them reports."""

from collections.abc import Iterator
from typing import Any

from bot.dev.workspace.errors import CannotDo
from bot.dev.workspace.store.state import Json

# The keys of blocks and elements that hold other elements.
NESTED = ("accessory", "element", "elements")
SINGLE = {
    "users_select": "selected_user",
    "conversations_select": "selected_conversation",
    "channels_select": "selected_channel",
    "datepicker": "selected_date",
    "timepicker": "selected_time",
    "datetimepicker": "selected_date_time",
    "plain_text_input": "value",
    "email_text_input": "value",
    "url_text_input": "value",
    "number_input": "value",
}
MANY = {
    "multi_users_select": "selected_users",
    "multi_conversations_select": "selected_conversations",
    "multi_channels_select": "selected_channels",
}
ONE_OPTION = ("static_select", "radio_buttons")
SOME_OPTIONS = ("checkboxes",)


def interactive(blocks: list[Json]) -> Iterator[tuple[str, Json]]:
    """Yield every (block_id, element with an action_id), in reading order."""
    for block in blocks:
        for element in _inside(block):
            yield str(block.get("block_id", "")), element


def find(blocks: list[Json], action_id: str, block_id: str | None, value: Any) -> tuple[str, Json]:
    """Return the (block_id, element) with this action. Raises CannotDo when there is none."""
    found = [
        (where, element)
        for where, element in interactive(blocks)
        if element["action_id"] == action_id and block_id in (None, where)
    ]
    if not found:
        known = sorted({e["action_id"] for _, e in interactive(blocks)})
        raise CannotDo(f"no element {action_id!r} here; there are {known}")
    if value is not None and found[0][1]["type"] == "button":
        found = [(where, element) for where, element in found if element.get("value") == value]
        if not found:
            raise CannotDo(f"no button {action_id!r} with the value {value!r}")
    return found[0]


def action(block_id: str, element: Json, value: Any, ts: str) -> Json:
    """Return the entry of `actions` in a block_actions payload."""
    kind = element["type"]
    used: Json = {
        "type": kind,
        "action_id": element["action_id"],
        "block_id": block_id,
        "action_ts": ts,
    }
    if kind == "button":
        return used | {k: element[k] for k in ("text", "value", "style", "url") if k in element}
    if kind == "overflow":
        return used | {"selected_option": _option(element, value)}
    if kind == "feedback_buttons":
        return used | _feedback(element, value)
    return used | {k: v for k, v in state_of(element, value).items() if k != "type"}


def state_of(element: Json, value: Any) -> Json:
    """Return the entry of `state.values` for an element; the value None is its initial value."""
    kind = element["type"]
    if isinstance(value, dict):
        return {"type": kind, **value}
    if kind in ONE_OPTION:
        chosen = element.get("initial_option") if value is None else _option(element, value)
        return {"type": kind, "selected_option": chosen}
    if kind in SOME_OPTIONS:
        options = (
            element.get("initial_options", [])
            if value is None
            else [_option(element, v) for v in value]
        )
        return {"type": kind, "selected_options": options}
    if kind in MANY:
        return {
            "type": kind,
            MANY[kind]: list(value or element.get(f"initial_{MANY[kind][9:]}", [])),
        }
    key = SINGLE.get(kind, "value")
    initial = element.get("initial_value" if key == "value" else f"initial_{key[9:]}")
    return {"type": kind, key: initial if value is None else value}


def holds_value(element: Json) -> bool:
    """Whether an element has a value, unlike a button."""
    return element["type"] in (*SINGLE, *MANY, *ONE_OPTION, *SOME_OPTIONS)


def is_empty(state: Json) -> bool:
    """Whether an input was left empty."""
    return all(v in (None, "", []) for k, v in state.items() if k != "type")


def _inside(node: Json) -> Iterator[Json]:
    if "action_id" in node:
        yield node
    for key in NESTED:
        inner = node.get(key)
        for child in inner if isinstance(inner, list) else [inner]:
            if isinstance(child, dict):
                yield from _inside(child)


def _feedback(element: Json, value: Any) -> Json:
    for name in ("positive_button", "negative_button"):
        button = element[name]
        if value in (None, button["value"]):
            return {"text": button["text"], "value": button["value"]}
    raise CannotDo(f"no feedback button with the value {value!r}")


def _option(element: Json, value: Any) -> Json:
    groups = [element, *element.get("option_groups", [])]
    options: list[Json] = [o for group in groups for o in group.get("options", [])]
    for option in options:
        if option.get("value") == value:
            return option
    raise CannotDo(f"no option {value!r} in {element['action_id']!r}")
