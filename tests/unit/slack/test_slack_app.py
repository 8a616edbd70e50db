"""What a press is answered with when no listener can do what it is for."""

from __future__ import annotations

from typing import Any

import pytest
from slack_bolt.async_app import AsyncBoltRequest

from bot.core.errors import NotPermitted, StoreUnavailable
from bot.dev.workspace import ADA, Workspace
from bot.slack.intake.press import Press, Submitted
from bot.slack.ui import words
from tests.unit.slack.rig import Rig, wired
from tests.unit.slack.scene import GENERAL


async def press(rig: Rig, action: str, **fields: Any) -> int:
    """Press a button in a message; returns the status of the response."""
    message = await rig.ws.say(ADA, GENERAL, "hello")
    body = {
        "type": "block_actions",
        "team": {"id": rig.ws.team_id},
        "user": {"id": ADA},
        "channel": {"id": GENERAL},
        "container": {"type": "message", "message_ts": message["ts"], "channel_id": GENERAL},
        "message": message,
        "trigger_id": "1.1.1",
        "actions": [{"action_id": action, "type": "button", "value": "run_1", "action_ts": "1.1"}],
        **fields,
    }
    request = AsyncBoltRequest(body=body, mode="socket_mode")
    return (await rig.app.bolt.async_dispatch(request)).status


async def told(rig: Rig) -> str:
    """What Ada alone is told."""
    [message] = await rig.ws.until(
        lambda: [m for m in rig.ws.messages(GENERAL, viewer=ADA) if m.get("is_ephemeral")]
    )
    return str(message["text"])


@pytest.mark.parametrize(
    ("error", "sentence"),
    [(NotPermitted("Not yours."), "Not yours."), (StoreUnavailable("down"), words.WENT_WRONG())],
)
async def test_a_refusal_and_a_failure_are_told_to_the_person_alone(
    ws: Workspace, error: Exception, sentence: str, caplog: pytest.LogCaptureFixture
) -> None:
    """The press is acknowledged; a failure is in the log, with the ids."""
    async with wired(ws) as rig:

        @rig.app.button("do_it")
        async def do(_press: Press) -> None:
            raise error

        assert await press(rig, "do_it") == 200
        assert await told(rig) == sentence
    failed = "do_it" in caplog.text and ADA in caplog.text and GENERAL in caplog.text
    assert failed is isinstance(error, StoreUnavailable)


async def test_a_refused_modal_says_why_and_a_failed_one_can_be_sent_again(ws: Workspace) -> None:
    async with wired(ws) as rig:
        errors: list[Exception] = [NotPermitted("Not yours."), StoreUnavailable("down")]

        @rig.app.modal("form")
        async def sent(_form: Submitted) -> None:
            raise errors.pop(0)

        body = {
            "type": "view_submission",
            "team": {"id": ws.team_id},
            "user": {"id": ADA},
            "view": {
                "type": "modal",
                "id": "V1",
                "callback_id": "form",
                "title": {"type": "plain_text", "text": "A form"},
                "state": {"values": {}},
            },
        }
        request = AsyncBoltRequest(body=body, mode="socket_mode")
        refused = await rig.app.bolt.async_dispatch(request)
        failed = await rig.app.bolt.async_dispatch(AsyncBoltRequest(body=body, mode="socket_mode"))
    assert refused.status == 200
    assert "Not yours." in refused.body
    assert "A form" in refused.body
    assert failed.status == 503
