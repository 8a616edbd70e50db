"""Cards about personal accounts: one asks to connect, the other who may see what was found."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

from bot.core.approvals import Approval, ApprovalRecord, Decision, Verdict
from bot.features.accounts.slack import words as words
from bot.slack.ui.approval import card_button, decided_line, plain
from bot.slack.ui.approval_kinds import TypedLine, WaitKind
from bot.slack.ui.blocks import Block, section, with_label
from bot.slack.ui.parts import Part, context, local_time
from bot.text.translation import Text

CONNECT = "connect_account"
GO_WITHOUT = "go_on_without_account"
PASTE_ADDRESS = "paste_account_address"
POST_IT = "share_what_account_finds"
ONLY_ME = "keep_what_account_finds"

_MOST_SCOPES = 12  # of 150 characters; a paragraph has up to 3,000

NOT_ALLOWED = "not allowed"
"""The comment of a decision that the person made on the server's page, by not allowing it."""


def account_part(record: ApprovalRecord, link: str) -> Part:
    """Return the card that asks a person to connect their account, or says what became of it.

    `link` opens the page that connects it, "" when there is none.
    """
    approval, decision, server = record.approval, record.decision, server_of(record.approval)
    if decision:
        refused = decision.comment == NOT_ALLOWED
        line = words.REFUSED if refused else words.OUTCOMES[decision.verdict]
        return _decided(decision, server, line)
    connect = card_button(approval, _connect_label(approval), CONNECT, "primary")
    connect |= {"url": link} if link else {}
    without = card_button(approval, words.GO_WITHOUT(), GO_WITHOUT)
    question = words.FOR_QUESTION(channel=_channel(approval))
    terms = words.CONNECT_TERMS(until=local_time(approval.expires))
    is_local = link.startswith(
        "http://"
    )  # only a browser on the bot's machine comes back by itself
    paste = [card_button(approval, words.PASTE_ADDRESS(), PASTE_ADDRESS)] if is_local else []
    blocks = [
        section(_why(approval)),
        _row(server, connect, *paste, without),
        context(terms if _channel(approval).startswith("D") else f"{question} {terms}").block,
    ]
    return Part(blocks, words.NOTIFY(server=server))


def share_part(record: ApprovalRecord) -> Part:
    """Return the card that asks whether everybody in the thread may see the answer."""
    approval, decision, server = record.approval, record.decision, server_of(record.approval)
    if decision:
        return _decided(decision, server, words.SHARE_OUTCOMES[decision.verdict])
    blocks = [
        section(words.SHARE(server=server, channel=f"<#{_channel(approval)}>")),
        _row(
            server,
            card_button(approval, words.POST_IT(), POST_IT, "primary"),
            card_button(approval, words.ONLY_ME(), ONLY_ME),
        ),
        context(words.SHARE_TERMS(until=local_time(approval.expires))).block,
    ]
    return Part(blocks, words.SHARE_NOTIFY(server=server))


def server_of(approval: Approval) -> str:
    """Return the name of the approval's server as people read it."""
    return plain(str(approval.details.get("name") or approval.tool))


def _why(approval: Approval) -> str:
    details = approval.details
    scopes = [plain(str(scope)) for scope in details.get("scopes") or ()]
    asked = words.ASKED.get(str(details.get("state")), words.ASKED["none"])
    if details.get("state") == "needs_more" and len(scopes) != 1:
        asked = words.ASKED_SEVERAL
    title = plain(str(details.get("title") or ""))
    more = ["…"] if scopes[_MOST_SCOPES:] else []
    shown = ", ".join((*scopes[:_MOST_SCOPES], *more))
    return asked(server=server_of(approval), title=title, scopes=shown)


def _connect_label(approval: Approval) -> str:
    state = str(approval.details.get("state"))
    return words.CONNECT_LABELS.get(state, words.CONNECT)(server=server_of(approval))


def _decided(decision: Decision, server: str, line: Text) -> Part:
    said = decided_line(decision, line, server=server)
    return Part([section(f"*{server}*"), context(said).block], said)


def _row(server: str, *buttons: Block) -> Block:
    return {"type": "actions", "elements": [with_label(button, server) for button in buttons]}


def _channel(approval: Approval) -> str:
    return approval.thread_key.split(":", 2)[1]


ConnectLink = Callable[[Approval], Awaitable[str]]
"""Returns the address of the page on which the asker connects the account that the approval is
about."""


def account_wait(connect_link: ConnectLink | None) -> WaitKind:
    """Return the kind of waits for an account; without `connect_link` nobody can connect."""

    async def draw(record: ApprovalRecord) -> Part:
        if record.decision or connect_link is None:
            return account_part(record, "")
        return account_part(record, await connect_link(record.approval))

    return WaitKind(
        draw=draw,
        verdicts={GO_WITHOUT: Verdict.DENIED},  # connecting decides the rest
        waiting=lambda approval, asker: words.WAITING(person=asker, server=server_of(approval)),
    )


async def _draw_share(record: ApprovalRecord) -> Part:
    return share_part(record)


async def _share(approval: Approval, _typed_line: TypedLine) -> Decision:
    """Approve: only the person at the terminal sees what is printed there."""
    return Decision(verdict=Verdict.APPROVED, by=approval.requester)


SHARE_WAIT = WaitKind(
    draw=_draw_share,
    verdicts={POST_IT: Verdict.APPROVED, ONLY_ME: Verdict.DENIED},
    waiting=lambda _approval, asker: words.WAITING_TO_SHARE(person=asker),
    typed=_share,
)
