"""Submitting and closing modals, and showing the app's answer to a command."""

from collections.abc import Iterator

from bot.dev.workspace.blocks import check_blocks
from bot.dev.workspace.client import view_stacks
from bot.dev.workspace.core import Core
from bot.dev.workspace.errors import NotAnswered, SlackFault
from bot.dev.workspace.events import elements, interactivity
from bot.dev.workspace.messaging.posting import from_bot, post, post_ephemeral
from bot.dev.workspace.store.state import Channel, Json

REQUIRED = "Please complete this required field."


async def submit(core: Core, user: str, view: Json, values: Json) -> Json:
    """Fill in the modal, check it as the client does, send it, and apply the app's answer."""
    view["state"] = {"values": fill_in(view, values)}
    errors = dict(_client_errors(view))
    if errors:
        return {"response_action": "errors", "errors": errors}
    answer = await core.delivery.ask("interactive", interactivity.submission(core, user, view))
    try:
        _apply_answer(core, user, view, answer)
    except SlackFault as fault:
        raise NotAnswered(f"the app answered with a view Slack refuses: {fault.body()}") from fault
    return answer


async def close(core: Core, user: str, view: Json) -> None:
    """Close the modal, or the whole stack if it is `clear_on_close`; notify the app if it asked."""
    everything = bool(view.get("clear_on_close"))
    for closed in view_stacks.close_top(core, user, everything=everything):
        if closed.get("notify_on_close"):
            payload = interactivity.closing(core, user, closed, cleared=everything)
            await core.delivery.ask("interactive", payload)


def show_answer(core: Core, user: str, conversation: Channel, answer: Json) -> str:
    """Post an immediate answer and return its ts; only the person sees it unless "in_channel"."""
    if answer.get("blocks"):
        check_blocks(answer["blocks"])
    fields: Json = {
        k: answer[k] for k in ("text", "blocks", "attachments", "thread_ts") if k in answer
    }
    message = from_bot(core.state, fields)
    if answer.get("response_type") == "in_channel":
        return str(post(core, conversation, message)["ts"])
    return post_ephemeral(core, conversation, user, message)


def show_command_answer(core: Core, user: str, conversation: Channel, answer: Json) -> None:
    """Show the answer to a command. Raises NotAnswered when Slack would refuse its blocks."""
    try:
        show_answer(core, user, conversation, answer)
    except SlackFault as fault:
        raise NotAnswered(f"the app answered with blocks Slack refuses: {fault.body()}") from fault


def fill_in(view: Json, values: Json) -> Json:
    """Return the state of a modal's inputs: `values`, else what was typed, else initial values."""
    filled: Json = {}
    before = view["state"]["values"]
    for where, element in elements.interactive(view["blocks"]):
        if element["type"] == "button":
            continue
        name = element["action_id"]
        value = values.get(where, {}).get(name, before.get(where, {}).get(name))
        filled.setdefault(where, {})[name] = elements.state_of(element, value)
    return filled


def _client_errors(view: Json) -> Iterator[tuple[str, str]]:
    for block in view["blocks"]:
        if block["type"] != "input":
            continue
        element = block["element"]
        state = view["state"]["values"][block["block_id"]][element["action_id"]]
        if elements.is_empty(state):
            if not block.get("optional"):
                yield block["block_id"], REQUIRED
        elif element["type"] == "number_input" and (wrong := _wrong_number(element, state)):
            yield block["block_id"], wrong
        elif len(str(state.get("value") or "")) > element.get("max_length", 3000):
            yield (
                block["block_id"],
                f"Must be at most {element.get('max_length', 3000)} characters.",
            )


def _wrong_number(element: Json, state: Json) -> str:
    """Return the client's error for a number; "" when it is valid."""
    decimal = element["is_decimal_allowed"]
    try:
        value = float(state["value"]) if decimal else int(state["value"])
    except ValueError:
        return "Enter a valid number." if decimal else "Enter a whole number."
    if "min_value" in element and value < float(element["min_value"]):
        return f"Must be at least {element['min_value']}."
    if "max_value" in element and value > float(element["max_value"]):
        return f"Must be at most {element['max_value']}."
    return ""


def _apply_answer(core: Core, user: str, view: Json, answer: Json) -> None:
    match answer.get("response_action"):
        case None:
            if view in view_stacks.stack_of(core, user):
                view_stacks.close_top(core, user)
        case "errors":
            known = {b["block_id"] for b in view["blocks"] if b["type"] == "input"}
            if not answer.get("errors") or set(answer["errors"]) - known:
                raise NotAnswered("the app's errors name no input of this view")
        case "clear":
            view_stacks.close_top(core, user, everything=True)
        case "update":
            view_stacks.update_view(core, user, view, answer["view"])
        case "push":
            view_stacks.push_view(core, user, answer["view"])
        case other:
            raise NotAnswered(f"unknown response_action {other!r}")
