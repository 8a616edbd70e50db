"""Options of selects, radio buttons and the like, in one shape for the templates."""

from collections.abc import Mapping
from typing import Any

from jinja2 import pass_context
from jinja2.runtime import Context

from bot.dev.page.render.text import clean, text_of

Option = dict[str, Any]


def as_list(value: object) -> list[Any]:
    """The value if it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def as_dict(value: object) -> dict[str, Any]:
    """The value if it is a dict, else an empty one."""
    return value if isinstance(value, dict) else {}


@pass_context
def groups(context: Context, element: Mapping[str, Any]) -> list[tuple[str, list[Option]]]:
    """The element's options as (group label, options); one group without a label if ungrouped."""
    kind = str(element.get("type"))
    grouped = [as_dict(group) for group in as_list(element.get("option_groups"))]
    if grouped:
        return [(text_of(g.get("label")), _options(g.get("options"))) for g in grouped]
    scene = context["scene"]
    people = [_option(key, name) for key, name in scene.people.items()]
    channels = [
        _option(key, f"#{name}")
        for key, name in scene.channels.items()
        if key not in scene.archived
    ]
    if "users_select" in kind:
        return [("", people)]
    if "channels_select" in kind:
        return [("", channels)]
    if "conversations_select" in kind:
        wanted = as_dict(element.get("filter"))
        bots = {scene.bot} if wanted.get("exclude_bot_users") else set()
        people = [each for each in people if each["value"] not in bots]
        kinds = set(as_list(wanted.get("include"))) or {"public", "private", "im", "mpim"}
        return [
            *([("Channels", channels)] if kinds & {"public", "private"} else []),
            *([("People", people)] if kinds & {"im", "mpim"} else []),
        ]
    return [("", _options(element.get("options")))]


@pass_context
def choices(context: Context, element: Mapping[str, Any]) -> list[Option]:
    """All options of the element in order."""
    return [option for _, options in groups(context, element) for option in options]


def chosen(element: Mapping[str, Any]) -> list[str]:
    """The values selected at first, whichever `initial_…` key holds them."""
    single = element.get("initial_option")
    found = [single] if single else as_list(element.get("initial_options"))
    values = [clean(as_dict(option).get("value")) for option in found]
    for key in ("user", "channel", "conversation"):
        if one := element.get(f"initial_{key}"):
            values.append(clean(one))
        values += [clean(one) for one in as_list(element.get(f"initial_{key}s"))]
    return values


def _options(value: object) -> list[Option]:
    return [option for option in as_list(value) if isinstance(option, dict)]


def _option(value: str, label: str) -> Option:
    return {"value": value, "text": {"type": "plain_text", "text": label}}
