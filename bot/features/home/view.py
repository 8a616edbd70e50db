"""The view of the Home tab, and the suggested prompts of direct messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bot.core.budgets import Budget, Pause
from bot.core.request import WORKFLOW
from bot.features.home import home_words
from bot.mcp import ServerStatus
from bot.runs.policy.budget_words import capped, since, used_of
from bot.runs.policy.budgets import Budgets, BudgetUse
from bot.runs.policy.preferences import Preferences
from bot.slack.ui import words
from bot.slack.ui.blocks import (
    Block,
    actions,
    button,
    channel_menu,
    divider,
    header,
    section,
    shortened,
    with_confirmation,
)
from bot.slack.ui.links import escape_mrkdwn
from bot.slack.ui.parts import context
from bot.text.translation import translated

CHANNEL, PAUSE, RESUME = "admin_channel", "admin_pause", "admin_resume"
CHOICE = "channel_choice"
SETTINGS = "change_settings"
_MAX_ACCOUNTS = 5  # listed per budget
_MAX_CHANNELS = 30
_MAX_BLOCKS = 100


@dataclass(frozen=True, slots=True)
class AdminView:
    """The part of the Home tab that only admins see.

    - `budgets` and `spent`: the caps, and what each account has spent.
    - `tools`: the number of tools in each group.
    - `servers`: the MCP servers and their state.
    - `changed`: ids of channels with settings of their own.
    - `sections`: those of features.
    """

    budgets: Budgets
    spent: Sequence[BudgetUse]
    tools: Mapping[str, int]
    servers: Sequence[ServerStatus]
    changed: Sequence[str] = ()
    sections: Sequence[Block] = ()


def home_view(
    name: str,
    usage: Sequence[BudgetUse],
    preferences: Preferences,
    board: AdminView | None,
    choice: str = CHOICE,
    *,
    refusal: str = "",
    pause: Pause | None = None,
    model: str = "",
    sections: Sequence[Block] = (),
) -> Block:
    """Return the Home tab as Slack's view.

    `board` is the part for admins. `choice` is the block id of the channel menu: a new id empties
    the menu, because Slack otherwise keeps showing the last choice and does not report the same
    choice again. `refusal` is the sentence for people who may not ask, and replaces the
    instructions. `model` is the person's choice, "" where there is nothing to choose. `sections` are
    those of features, cut to what a tab can hold.
    """
    instructions = [*_how_to_ask(), *_usage(usage), *_settings(preferences, model)]
    above = [
        header(home_words.HOME_HELLO(name=name)),
        *([_section(_paused(pause))] if pause else []),
        *(_refused(refusal) if refusal else instructions),
    ]
    below = _board(board, pause, choice) if board else []
    between = sections[: _MAX_BLOCKS - len(above) - len(below)]
    return {"type": "home", "blocks": [*above, *between, *below]}


def _paused(pause: Pause) -> str:
    return escape_mrkdwn(home_words.HOME_PAUSED(name=pause.name, when=since(pause)))


def _how_to_ask() -> list[Block]:
    ways = "\n".join(f"• {way()}" for way in words.HOW_TO_ASK)
    examples = "\n".join(f"• _{example()}_" for example in words.EXAMPLES)
    return [
        _section(words.CAN_DO()),
        divider(),
        header(home_words.HOME_HOW()),
        _section(ways),
        _section(words.WHILE_WORKING()),
        divider(),
        header(home_words.HOME_EXAMPLES()),
        _section(examples),
    ]


def _refused(refusal: str) -> list[Block]:
    return [_section(escape_mrkdwn(refusal)), context(home_words.HOME_REFUSED()).block]


def _usage(usage: Sequence[BudgetUse]) -> list[Block]:
    used = "\n".join(_line(home_words.USED[each.budget](), used_of(each)) for each in usage)
    return [
        divider(),
        header(home_words.HOME_USAGE()),
        _section(used),
        context(home_words.HOME_USAGE_NOTE()).block,
    ]


def _settings(preferences: Preferences, model: str) -> list[Block]:
    style = escape_mrkdwn(shortened(" ".join(preferences.style.split()), 300))
    where = words.ONLY_ME() if preferences.only_me else home_words.IN_THREAD_BUT_DRAFTS()
    lines = [
        _line(home_words.STYLE_LABEL(), style or home_words.STYLE_USUAL()),
        _line(home_words.PERSONAL_WHERE(), where),
    ]
    if model:
        lines.append(_line(home_words.PERSONAL_MODEL(), escape_mrkdwn(model)))
    change = button(home_words.CHANGE(), SETTINGS)
    return [divider(), header(home_words.HOME_SETTINGS()), section("\n".join(lines), change)]


def _board(board: AdminView, pause: Pause | None, choice: str) -> list[Block]:
    return [
        divider(),
        header(home_words.HOME_ADMIN()),
        _section(_bounds(board.budgets)),
        _section(_spent(board.spent)),
        _section(_tools(board.tools)),
        *([_section(_servers(board.servers))] if board.servers else []),
        section(
            _channels(board.changed),
            channel_menu(CHANNEL, home_words.PICK_CHANNEL()),
            block_id=choice,
        ),
        *board.sections,
        actions(_switch(pause)),
    ]


def _bounds(budgets: Budgets) -> str:
    bounds = [
        _line(name(), capped(cap))
        for each, name in home_words.BUDGETS.items()
        if (cap := budgets.cap(Budget(each)))
    ]
    return (
        "\n".join([home_words.HOME_BUDGETS(), *bounds]) if bounds else home_words.HOME_NO_BUDGETS()
    )


def _tools(groups: Mapping[str, int]) -> str:
    listed = ", ".join(f"{name} ({count})" for name, count in sorted(groups.items()))
    return home_words.HOME_TOOLS(count=sum(groups.values()), groups=escape_mrkdwn(listed))


def _channels(changed: Sequence[str]) -> str:
    if not changed:
        return home_words.CHANNEL_SETTINGS()
    listed = ", ".join(f"<#{channel}>" for channel in changed[:_MAX_CHANNELS])
    more = home_words.AND_MORE(count=len(changed) - _MAX_CHANNELS)
    found = listed + (more if len(changed) > _MAX_CHANNELS else "")
    return f"{home_words.CHANNEL_SETTINGS()}\n{home_words.CHANNELS_CHANGED(channels=found)}"


def _spent(uses: Sequence[BudgetUse]) -> str:
    """List the highest accounts of each budget, so that many channels do not hide people."""
    visible = [use for use in uses if not _counts_elsewhere(use)]
    by_budget = {
        budget: [each for each in visible if each.budget == budget] for budget in home_words.USED_BY
    }
    shown = [each for found in by_budget.values() for each in found[:_MAX_ACCOUNTS]]
    used: defaultdict[str, list[str]] = defaultdict(list)
    for each in shown:
        period = home_words.USED_BY[each.position.account.budget]()
        used[_account(each)].append(f"{used_of(each)} {period}")
    lines = [_line(name, "; ".join(amounts)) for name, amounts in used.items()]
    more = [home_words.HOME_MORE_SPENT()] if len(shown) < len(visible) else []
    return (
        "\n".join([home_words.HOME_SPENT(), *lines, *more])
        if lines
        else home_words.HOME_NOTHING_SPENT()
    )


def _counts_elsewhere(use: BudgetUse) -> bool:
    """Return whether the account is that of a direct message or of workflows.

    Its amount is shown for the person or the workflows instead.
    """
    account = use.position.account
    holder = account.holder.partition(":")[2]
    return account.budget.scope == "channel" and (holder[:1] == "D" or holder == WORKFLOW)


def _account(use: BudgetUse) -> str:
    """Return the account's holder as mrkdwn."""
    account = use.position.account
    holder = account.holder.partition(":")[2]
    if holder == WORKFLOW:
        return home_words.WORKFLOWS()
    names = {"user": f"<@{holder}>", "channel": f"<#{holder}>"}
    return names.get(account.budget.scope, home_words.EVERYBODY())


def _servers(servers: Sequence[ServerStatus]) -> str:
    return "\n".join([home_words.HOME_SERVERS(), *(f"• {_server(server)}" for server in servers)])


def _server(server: ServerStatus) -> str:
    states = [home_words.SERVER_DOWN(error=translated(server.error))] if server.error else []
    if server.usable or not states:
        states.insert(0, home_words.TOOLS(len(server.usable)))
    if server.changed:
        names = escape_mrkdwn(", ".join(server.changed))
        states.append(home_words.SERVER_CHANGED(names=names, server=server.name))
    return f"*{escape_mrkdwn(server.name)}*: {'; '.join(states)}"


def _switch(pause: Pause | None) -> Block:
    if pause:
        return button(home_words.RESUME(), RESUME)
    return with_confirmation(
        button(home_words.PAUSE(), PAUSE, style="danger"),
        home_words.PAUSE_TITLE(),
        home_words.PAUSE_SURE(),
        yes=home_words.PAUSE(),
        no=words.CLOSE(),
    )


def suggested_prompts(place: str = "") -> list[dict[str, str]]:
    """Return at most four prompts (Slack's limit), about the open channel if there is one."""
    texts = [text(place=place) for text in words.EXAMPLES_BESIDE]
    if not place:
        texts = [text() for text in words.EXAMPLES_DIRECT]
    return [{"title": shortened(text, 60), "message": text} for text in texts]


def _line(label: str, value: str) -> str:
    return f"• {words.LABELLED(label=label, value=value)}"


def _section(mrkdwn: str) -> Block:
    """Return a section block, cut to Slack's limit: Slack refuses a tab with a longer text."""
    return section(shortened(mrkdwn, 3_000))
