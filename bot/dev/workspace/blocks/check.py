"""Checks of blocks and views: Slack's limits, then rules across blocks, then slack_sdk's models."""

import json
import logging
from collections import Counter
from collections.abc import Iterator
from typing import Any

from pydantic import ValidationError
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from bot.dev.workspace.blocks.surfaces import Message, View
from bot.dev.workspace.errors import SlackFault
from bot.dev.workspace.events.elements import interactive
from bot.dev.workspace.store.state import Json

MARKDOWN_MAX = 12_000
VIEW_MAX = 250_000  # bytes, https://docs.slack.dev/reference/methods/views.open
CHARTS_MAX = 2
# Blocks the SDK has no model of; its parser would only log and drop them.
WITHOUT_MODEL = ("data_visualization",)
NOT_IN_MESSAGES = ("input",)
NOT_IN_VIEWS = (
    "table",
    "data_visualization",
    "task_card",
    "plan",
    "markdown",
    "context_actions",
)

Problem = tuple[str, str]


def check_blocks(blocks: list[Json]) -> None:
    """Check the blocks of a message.

    Raises SlackFault invalid_blocks, with "[ERROR] … [json-pointer:…]" lines in
    response_metadata.messages.
    """
    problems = [*_limits(Message, {"blocks": blocks}), *_message_rules(blocks)]
    _refuse("invalid_blocks", problems or list(_sdk(blocks)))


def check_view(view: Json, kind: str) -> None:
    """Check a view, which must be a "modal" or a "home".

    Raises SlackFault invalid_arguments, view_too_large.
    """
    if len(json.dumps(view, ensure_ascii=False).encode(errors="replace")) > VIEW_MAX:
        raise SlackFault("view_too_large")
    problems = list(_limits(View, view))
    if view.get("type") != kind:
        problems.append(("/type", f"must be {kind}"))
    blocks = view.get("blocks")
    if isinstance(blocks, list):
        problems += _view_rules(blocks)
    _refuse("invalid_arguments", problems or list(_sdk(view["blocks"])), prefix="/view")


def _refuse(error: str, problems: list[Problem], prefix: str = "") -> None:
    if not problems:
        return
    lines = [f"{text} [json-pointer:{prefix}{pointer}]" for pointer, text in problems]
    raise SlackFault(
        error, errors=lines, response_metadata={"messages": [f"[ERROR] {line}" for line in lines]}
    )


def _limits(model: type[Message | View], given: Json) -> Iterator[Problem]:
    try:
        model.model_validate(given)
    except ValidationError as error:
        for problem in error.errors(include_url=False, include_context=False, include_input=False):
            yield _pointer(given, problem["loc"]), _words(problem["type"], problem["msg"])


def _sdk(blocks: list[Json]) -> Iterator[Problem]:
    quiet = logging.getLogger("slack_sdk.models.blocks")
    before, quiet.disabled = quiet.disabled, True
    try:
        for index, block in enumerate(blocks):
            if block["type"] in WITHOUT_MODEL:
                continue
            try:
                model = Block.parse(dict(block))
                if model is None:
                    yield f"/blocks/{index}/type", f"unsupported type: {block['type']}"
                else:
                    model.to_dict()
            except (SlackObjectFormationError, TypeError, ValueError) as error:
                yield f"/blocks/{index}", str(error)
    finally:
        quiet.disabled = before


def _message_rules(blocks: list[Any]) -> Iterator[Problem]:
    kinds = _kinds(blocks)
    for index, kind in enumerate(kinds):
        if kind in NOT_IN_MESSAGES:
            yield f"/blocks/{index}/type", f"unsupported type: {kind}"
    if kinds.count("table") > 1:
        yield "/blocks", "only one table allowed"
    if kinds.count("data_visualization") > CHARTS_MAX:
        yield "/blocks", f"only {CHARTS_MAX} data_visualization blocks allowed"
    markdown = sum(len(str(b.get("text"))) for b in _objects(blocks) if b.get("type") == "markdown")
    if markdown > MARKDOWN_MAX:
        yield "/blocks", f"markdown must be less than {MARKDOWN_MAX + 1} characters in all"
    yield from _unique(blocks)
    tasks = [t.get("task_id") for t in _tasks(blocks)]
    for name in _twice(tasks):
        yield "/blocks", f"duplicate task_id: {name}"


def _view_rules(blocks: list[Any]) -> Iterator[Problem]:
    for index, kind in enumerate(_kinds(blocks)):
        if kind in NOT_IN_VIEWS:
            yield f"/blocks/{index}/type", f"unsupported type: {kind}"
    yield from _unique(blocks)
    if sum(bool(each.get("focus_on_load")) for _, each in interactive(_objects(blocks))) > 1:
        yield "/blocks", "only one element may have focus_on_load"


def _objects(blocks: list[Any]) -> list[Json]:
    return [block for block in blocks if isinstance(block, dict)]


def _unique(blocks: list[Any]) -> Iterator[Problem]:
    known = _objects(blocks)
    for name in _twice([b.get("block_id") for b in known]):
        yield "/blocks", f"duplicate block_id: {name}"
    for index, block in enumerate(known):
        for name in _twice([element["action_id"] for _, element in interactive([block])]):
            yield f"/blocks/{index}", f"duplicate action_id: {name}"


def _twice(names: list[Any]) -> list[Any]:
    return [
        name for name, count in Counter(n for n in names if isinstance(n, str)).items() if count > 1
    ]


def _kinds(blocks: list[Any]) -> list[str]:
    return [str(b.get("type")) if isinstance(b, dict) else "" for b in blocks]


def _tasks(blocks: list[Any]) -> Iterator[Json]:
    for block in _objects(blocks):
        if block.get("type") == "task_card":
            yield block
        tasks = block.get("tasks")
        yield from (
            task for task in (tasks if isinstance(tasks, list) else []) if isinstance(task, dict)
        )


def _pointer(given: Json, loc: tuple[Any, ...]) -> str:
    """Return the JSON pointer of a pydantic location, without the union tags in it."""
    path = ""
    node: Any = given
    for index, part in enumerate(loc):
        if (isinstance(node, dict) and part in node) or (
            isinstance(node, list) and isinstance(part, int) and part < len(node)
        ):
            node = node[part]
        elif index < len(loc) - 1 or not isinstance(node, dict) or part == node.get("type"):
            continue  # a union tag, not a key
        path += f"/{part}"
    return path


def _words(kind: str, message: str) -> str:
    match kind:
        case "missing":
            return "missing required field"
        case "extra_forbidden":
            return "invalid additional property"
        case "union_tag_invalid" | "union_tag_not_found":
            return f"unsupported type: {message}"
        case _:
            return message.removeprefix("Value error, ")
