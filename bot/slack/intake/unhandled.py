"""What people do with a feature that is gone: everything that nothing listens to gets a sentence."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

from slack_bolt.context.respond.async_respond import AsyncRespond
from slack_bolt.response import BoltResponse

from bot.slack.intake.press import Press, name_title, open_modal, title_of
from bot.slack.ui import words
from bot.slack.ui.blocks import notice_modal

if TYPE_CHECKING:
    from bot.slack.intake.slack_app import SlackApp

log = logging.getLogger(__name__)

_STEP = "function_executed"


async def answer_unhandled(app: SlackApp, body: dict[str, Any]) -> BoltResponse | None:
    """Say that a feature is switched off, where a person pressed, sent or chose something of it, or as
    the end of a step of a workflow.

    Return the response that Slack needs for that; None where an empty one does. Other events are
    ignored: nobody waits for an answer to them. Raises MalformedPayload and SlackApiError.
    """
    said, event = words.SWITCHED_OFF(), body.get("event") or {}
    kind = event.get("type") or body.get("type") or body.get("command")
    if event and kind != _STEP:
        log.debug("Ignored: nothing listens to %s", kind)
        return None
    log.warning("Nothing listens to %s of a feature that is switched off", kind)
    match kind:
        case "function_executed":
            ending = app.clients.updates.functions_completeError(
                function_execution_id=event["function_execution_id"], error=said
            )
            app.background.start(ending, "end of a step that is switched off")
        case "block_actions":
            for action in body["actions"]:
                if not action.get("url"):  # of a link, which the browser opens
                    # What it carries does not matter, and menus carry it elsewhere.
                    pressed = {**action, "value": said}
                    Press.on(app, body, pressed, AsyncRespond(response_url=None)).tell(said)
        case "view_submission":
            view = notice_modal(title_of(body["view"]), said)
            return BoltResponse(status=200, body={"response_action": "update", "view": view})
        case "shortcut" | "message_action":
            view = notice_modal(name_title(app.identity.name), said)
            await open_modal(app.clients, body, view)
        case _ if "command" in body:
            return BoltResponse(status=200, body=said)
        case _:
            pass
    return None
