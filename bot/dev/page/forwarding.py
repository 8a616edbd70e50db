"""A message taken to another conversation, as Slack's "Forward message" does it."""

from typing import Any

from bot.dev.workspace import Workspace
from bot.dev.workspace.messages import link_to

Json = dict[str, Any]

_PRESSED = ("actions", "context_actions")  # buttons stay with the message that they are of


def forwarded(ws: Workspace, channel: str, message: Json) -> Json:
    """The attachment that carries it: its words and blocks, its files, whose it is and where."""
    ts = message["ts"]
    author = ws.state.everyone().get(message["user"])
    where = ws.channels[channel]
    blocks = [each for each in message.get("blocks", []) if each["type"] not in _PRESSED]
    shown = {"type": "message", "user": message["user"], "blocks": blocks}
    return {
        "is_msg_unfurl": True,
        "is_share": True,
        "author_id": message["user"],
        "author_name": author.real_name if author else message["user"],
        "channel_id": channel,
        "channel_team": ws.team_id,
        "ts": ts,
        "from_url": link_to(ws.url, channel, message),
        "text": message["text"],
        "fallback": message["text"],
        "mrkdwn_in": ["text"],
        "footer": "Direct message" if where.is_direct else f"Posted in #{where.name}",
        "message_blocks": [{"team": ws.team_id, "channel": channel, "ts": ts, "message": shown}],
        **({"files": message["files"]} if message.get("files") else {}),
    }
