"""Error texts for wrong settings, for the operator who wrote them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import is_dataclass
from difflib import get_close_matches
from types import UnionType
from typing import Any, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic_core import ErrorDetails

from bot.mcp import McpServer
from bot.model import ModelChoice
from bot.runs.policy.access import Policy
from bot.runs.policy.channels import DEFAULT, PROFILE_NAME, ChannelSettings, Profile

UNSET = "the environment variable {variable} is not set"
_LIST = 'must be a list, such as ["…", "…"]'
_TABLE = "must be a table, such as { … = … }"
_UNKNOWN = "there is no such key"
_MESSAGES = {
    "extra_forbidden": _UNKNOWN,
    "unexpected_keyword_argument": _UNKNOWN,
    "missing": "is missing",
    "int_parsing": "must be a whole number",
    "int_type": "must be a whole number",
    "int_from_float": "must be a whole number",
    "float_parsing": "must be a number",
    "float_type": "must be a number",
    "bool_parsing": "must be true or false",
    "bool_type": "must be true or false",
    "string_type": "must be a text",
    "tuple_type": _LIST,
    "list_type": _LIST,
    "model_type": _TABLE,
    "dict_type": _TABLE,
    "dataclass_type": _TABLE,
}
_PERSON = re.compile(r"[UW][A-Z0-9]{2,20}")
_CHANNEL = re.compile(r"[CDG][A-Z0-9]{2,20}")
_HOST = re.compile(r"[\w.*-]+")
_FIND_CHANNEL = "give its id, such as C0123ABCD: it stands at the end of the channel's About tab"
_PROFILE_NAMES = "a name has up to 30 lower-case letters, digits, - and _, such as support"
_ALIKE = 0.6  # so that what is suggested was meant
_FIND_PERSON = "give their id, such as U0123ABCD: Copy member ID, in the menu of their profile"


def setting_error(
    error: ErrorDetails, tables: Iterable[str], model: type[BaseModel] | None = None
) -> str:
    """Return one line that names the key, and one of the `model` that is like it if there is none.

    A key outside the `tables` of bot.toml is named as its environment variable.
    """
    first, *rest = map(str, error["loc"])
    name = first if first in tables else first.upper()
    message = error["msg"].removeprefix("Value error, ").replace("Input should be", "must be", 1)
    path = ".".join(each for each in (name, *rest) if each != "[key]")
    text = _MESSAGES.get(error["type"], message)
    if text == _UNKNOWN and (near := _like(rest[-1] if rest else "", model, error["loc"][:-1])):
        text = f"{text}; did you mean {near}?"
    return f"{path}: {text}"


def _like(key: str, model: type[BaseModel] | None, path: Iterable[int | str]) -> str:
    """Return the key of the table at `path` that is most like `key`; "" for none."""
    kind: Any = model
    for step in path:
        kind = _inside(kind, str(step))
    return next(iter(get_close_matches(key, _keys(kind), 1, _ALIKE)), "")


def _inside(kind: Any, step: str) -> Any:
    """Return the type of what stands under `step` in a value of this type; None if nobody can say."""
    args = get_args(kind)
    if step in (keys := _keys(kind)):
        return keys[step]
    if isinstance(origin := get_origin(kind), type) and issubclass(origin, Mapping):
        return args[1]
    return args[0] if args and origin in (tuple, list) else None


def _keys(kind: Any) -> dict[str, Any]:
    """Return the keys of a table of this type, with the type of each; empty if it is no table."""
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return {f.alias or name: f.annotation for name, f in kind.model_fields.items()}
    if isinstance(kind, type) and is_dataclass(kind):
        return dict(get_type_hints(kind))
    arms = get_args(kind) if get_origin(kind) in (Union, UnionType) else ()
    return next((keys for arm in arms if (keys := _keys(arm))), {})


def unreadable(error: Exception) -> str:
    """Return one line about a list in the environment that is not JSON."""
    field = re.search(r'field "(\w+)"', str(error))
    return f"{field[1].upper()}: {_LIST}" if field else str(error)


def wrong_names(
    channels: Mapping[str, ChannelSettings],
    profiles: Iterable[str],
    access: Policy,
    servers: Mapping[str, McpServer],
) -> Iterator[str]:
    """Yield a line for each name instead of a Slack id, and address instead of a host: none matches."""
    if wrong := [each for each in access.open_hosts if not _HOST.fullmatch(each)]:
        yield f"access.open_hosts: {', '.join(wrong)}? Give hosts alone, such as docs.example.com"
    for key in channels:
        if key != DEFAULT and not _CHANNEL.fullmatch(key):
            yield f"channels.{key}: {_FIND_CHANNEL}"
    for name in profiles:
        if not PROFILE_NAME.fullmatch(name):
            yield f"profiles.{name}: {_PROFILE_NAMES}"
    people = {f"channels.{key}.people": each.people or () for key, each in channels.items()}
    people |= {f"mcpServers.{name}.people": each.people or () for name, each in servers.items()}
    people |= {"access.approvers": access.approvers, "access.admins": access.admins}
    for key, ids in people.items():
        if wrong := [each for each in ids if not _PERSON.fullmatch(each)]:
            yield f"{key}: {', '.join(wrong)}? {_FIND_PERSON}"


def unset_variables(servers: Mapping[str, McpServer]) -> Iterator[str]:
    """Yield a line for each environment variable that an MCP server needs and that is not set."""
    for name, server in servers.items():
        for key, variable in server.unset_variables:
            yield f"mcpServers.{name}.{key}: {UNSET.format(variable=variable)}"


def wrong_choices(
    choices: Iterable[ModelChoice],
    deeper: str,
    channels: Mapping[str, ChannelSettings],
    profiles: Mapping[str, Profile],
) -> Iterator[str]:
    """Yield a line for each key that names no choice of `[model] choices`."""
    names = [each.name for each in choices]
    known = (
        f"the names in model.choices are {', '.join(names)}" if names else "model.choices is empty"
    )
    chosen = {"model.deeper": deeper} | {
        f"channels.{k}.model": c.model for k, c in channels.items()
    }
    chosen |= {f"profiles.{name}.model": profile.model for name, profile in profiles.items()}
    for key, name in chosen.items():
        if name and name not in names:
            yield f"{key}: there is no choice {name}; {known}"
