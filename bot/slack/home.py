"""The Home tab and the prompts that a direct message begins with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bot.core.budgets import Pause
from bot.core.memory import Memory
from bot.core.schedule import Schedule
from bot.runs.budget_words import paused, used_of
from bot.runs.budgets import Standing
from bot.slack.render import words
from bot.slack.render.links import escape_mrkdwn
from bot.slack.render.parts import Block, shortened
from bot.slack.render.schedules import all_schedules, own_schedules
from bot.toolkit.mcp import Standing as Server

CHANNEL, PAUSE, RESUME = "admin_channel", "admin_pause", "admin_resume"
FORGET = "forget_memory"
_MOST_MEMORIES = 40  # a Home tab has 100 blocks
_MOST = 10  # accounts that are listed


@dataclass(frozen=True, slots=True)
class Board:
    """What only admins see: who paused the bot if somebody did, who spent what, what servers have."""

    pause: Pause | None
    spent: Sequence[Standing]
    servers: Sequence[Server]
    schedules: Sequence[Schedule]


def home_view(
    name: str,
    usage: Sequence[Standing],
    memories: Sequence[Memory],
    schedules: Sequence[Schedule],
    board: Board | None,
) -> Block:
    """What I can do, how to ask, examples, what the person has used, had me remember and scheduled,
    and the board of admins."""
    ways = "\n".join(f"• {way}" for way in words.HOW_TO_ASK)
    examples = "\n".join(f"• _{example}_" for example in words.EXAMPLES)
    used = "\n".join(f"• {words.USED[each.budget]}: {used_of(each)}" for each in usage)
    blocks = [
        _header(f"Hello, I am {name}"),
        _section(words.CAN_DO),
        {"type": "divider"},
        _header("How to ask"),
        _section(ways),
        _section(words.WHILE_WORKING),
        {"type": "divider"},
        _header("For example"),
        _section(examples),
        {"type": "divider"},
        _header(words.HOME_USAGE),
        _section(used),
        *_memories(memories),
        *own_schedules(schedules),
        *(_board(board) if board else ()),
    ]
    return {"type": "home", "blocks": blocks}


def _memories(memories: Sequence[Memory]) -> list[Block]:
    if not memories:
        return []
    shown = memories[-_MOST_MEMORIES:]
    return [{"type": "divider"}, _header(words.HOME_MEMORIES), *(_memory(each) for each in shown)]


def _memory(memory: Memory) -> Block:
    forget = {
        "type": "button",
        "action_id": FORGET,
        "text": _plain(words.FORGET),
        "value": memory.id,
    }
    return {
        "type": "section",
        "block_id": memory.id,
        "text": _plain(memory.text),
        "accessory": forget,
    }


def _board(board: Board) -> list[Block]:
    return [
        {"type": "divider"},
        _header(words.HOME_ADMIN),
        *([_section(escape_mrkdwn(paused(board.pause)[0]))] if board.pause else []),
        {"type": "actions", "elements": [_switch(board.pause)]},
        _section(_spent(board.spent)),
        *([_section(_servers(board.servers))] if board.servers else []),
        {**_section(words.CHANNEL_SETTINGS), "accessory": _channel_choice()},
        *all_schedules(board.schedules),
    ]


def _spent(standings: Sequence[Standing]) -> str:
    lines = [f"• {_account(each)}: {used_of(each)}" for each in standings[:_MOST]]
    return "\n".join([words.HOME_SPENT, *lines]) if lines else words.HOME_NOTHING_SPENT


def _account(standing: Standing) -> str:
    """Whose account, in mrkdwn, and of which period."""
    account = standing.position.account
    holder = account.holder.partition(":")[2]
    names = {"user": f"<@{holder}>", "channel": f"<#{holder}>"}
    return f"{names.get(account.budget.scope, 'All')}, {words.USED_BY[account.budget]}"


def _servers(servers: Sequence[Server]) -> str:
    return "\n".join([words.HOME_SERVERS, *(f"• {_server(each)}" for each in servers)])


def _server(server: Server) -> str:
    tools = f"*{escape_mrkdwn(server.name)}*: {len(server.usable)} tools"
    if not server.changed:
        return tools
    names = escape_mrkdwn(", ".join(each.name for each in server.changed))
    return f"{tools}; {words.SERVER_CHANGED.format(names=names, server=server.name)}"


def _switch(pause: Pause | None) -> Block:
    text, action = (words.RESUME, RESUME) if pause else (words.PAUSE, PAUSE)
    button: Block = {"type": "button", "action_id": action, "text": _plain(text)}
    return button if pause else button | {"style": "danger"}


def _channel_choice() -> Block:
    return {
        "type": "conversations_select",
        "action_id": CHANNEL,
        "placeholder": _plain(words.CHOOSE_CHANNEL),
        "filter": {"include": ["public", "private"], "exclude_bot_users": True},
    }


def suggested_prompts(beside: str = "") -> list[dict[str, str]]:
    """At most four, as Slack takes them; about the channel that is open beside, if any."""
    texts = (
        [text.format(place=beside) for text in words.EXAMPLES_BESIDE] if beside else words.EXAMPLES
    )
    return [{"title": shortened(text, 60), "message": text} for text in texts]


def _header(text: str) -> Block:
    return {"type": "header", "text": _plain(shortened(text, 150))}


def _section(mrkdwn: str) -> Block:
    return {"type": "section", "text": {"type": "mrkdwn", "text": mrkdwn}}


def _plain(text: str) -> Block:
    return {"type": "plain_text", "text": text}
