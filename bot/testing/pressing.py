"""A press of a button under an answer, in a local workspace."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from pydantic import SecretStr

from bot.app.workspace_intake import make_slack_app
from bot.core.outcome import Outcome
from bot.core.request import Request
from bot.dev.workspace import ADA, Workspace
from bot.features import Feature
from bot.runs.queue.engine import open_engine
from bot.runs.queue.requests import Requests
from bot.settings import Settings
from bot.slack.edge.client import identify, slack_clients
from bot.slack.edge.socket_mode import socket_mode
from bot.slack.edge.tasks import Background, EventRetries
from bot.slack.edge.workspaces import Slack
from bot.slack.ui.blocks import Block, actions
from bot.slack.ui.buttons import answer_buttons
from bot.store import Stores

_CHANNEL = "C0SALES001"

PLACE = MappingProxyType({"team": "T0LOCAL001", "channel": _CHANNEL, "user": ADA})
"""Fields of a request whose answer somebody presses a button of."""


@dataclass(frozen=True, slots=True)
class Pressed:
    """What a person got for a press: sentences for them alone, and the modal that is open."""

    told: Sequence[str]
    modal: Mapping[str, Any] | None


async def press_button(
    action: str,
    features: Sequence[Feature],
    request: Request,
    outcome: Outcome,
    url: str,
    stores: Stores,
) -> Pressed:
    """Post an answer with the buttons of `features`, and have its asker press that of `action`.

    `url` is that of the Redis of `stores`. Raises bot.dev.workspace.CannotDo if there is no such button.
    """
    placed = defaultdict[str, list[Block]](list)
    for button in (button for feature in features for button in feature.buttons):
        placed[button.place] += button.under(outcome, request)
    # Each entry in a menu of its own, which is a button.
    rows = [
        *(
            answer_buttons(request.id, in_menu=[entry], again=False, has_details=False)
            for entry in placed["menu"]
        ),
        *([actions(*beside)] if (beside := placed["first"] + placed["beside"]) else []),
        *placed["below"],
    ]
    blocks = [row for row in rows if row]
    async with (
        Workspace.open() as ws,
        slack_clients(ws.bot_token, base_url=ws.api_url) as clients,
        open_engine(url, stores.mailbox) as engine,
        EventRetries.open() as retries,
    ):
        slack = Slack.with_clients(clients, await identify(clients.reads))
        settings = Settings(_env_file=None, slack_signing_secret=SecretStr(ws.signing_secret))
        async with Background() as background:  # leaving it waits for what is said
            app = make_slack_app(
                settings, stores, slack, Requests(stores, engine), background, retries, features
            )
            async with socket_mode(app.bolt, ws.app_token, web_client=clients.reads):
                posted = await clients.writes.chat_postMessage(
                    channel=_CHANNEL, text="The answer.", blocks=blocks
                )
                await ws.click(ADA, _CHANNEL, posted["ts"], action)
        alone = [m for m in ws.messages(_CHANNEL, None, ADA) if m.get("is_ephemeral")]
        return Pressed([m["text"] for m in alone], next(iter(ws.views(ADA)[::-1]), None))
