"""Options of selects, radio buttons and checkboxes, in one shape for the templates."""

from collections.abc import Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from bot.dev.page.render.text import clean

Option = dict[str, Any]


def as_list(value: object) -> list[Any]:
    """Return the value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_dict(value: object) -> dict[str, Any]:
    """Return the value if it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}


@pass_context
def choices(context: Context, element: Mapping[str, Any]) -> list[Option]:
    """Return the element's options in order; those of `multi_users_select` are the people."""
    if element.get("type") == "multi_users_select":
        return [_option(key, name) for key, name in context["scene"].people.items()]
    return [option for option in as_list(element.get("options")) if isinstance(option, dict)]


@pass_context
def conversations(context: Context, element: Mapping[str, Any]) -> list[tuple[str, list[Option]]]:
    """Return what a `conversations_select` offers to the viewer, as (group, options)."""
    scene, wanted = context["scene"], as_dict(element.get("filter"))
    kinds = set(as_list(wanted.get("include"))) or {"public", "private", "im", "mpim"}
    hidden = {scene.bot} if wanted.get("exclude_bot_users") else set()
    channels = {key: name for key, name in scene.channels.items() if key not in scene.archived}
    people = {key: name for key, name in scene.people.items() if key not in hidden}
    groups = [
        ("Channels", [_option(key, f"#{name}") for key, name in channels.items()]),
        ("People", [_option(key, name) for key, name in people.items()]),
    ]
    offered = [bool(kinds & {"public", "private"}), bool(kinds & {"im", "mpim"})]
    return [group for group, is_offered in zip(groups, offered, strict=True) if is_offered]


def chosen(element: Mapping[str, Any]) -> list[str]:
    """Return the initially selected values, whichever `initial_…` key holds them."""
    options = [element.get("initial_option"), *as_list(element.get("initial_options"))]
    values = [as_dict(option).get("value") for option in options]
    values += [element.get("initial_conversation"), *as_list(element.get("initial_users"))]
    return [clean(value) for value in values if value]


def _option(value: str, label: str) -> Option:
    return {"value": value, "text": {"type": "plain_text", "text": label}}
