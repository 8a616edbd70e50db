"""Calls on the asker's own account: connected first, and never anybody else's to read (R3, S7)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

from bot.agent.events import ToolEnded
from bot.core.approvals import CALL, Approval, Decision, Verdict
from bot.core.context import current_request
from bot.core.outcome import Outcome
from bot.core.request import Entry, Request
from bot.dev.model import ModelRequest, Reply, Script, calls, finish
from bot.features.accounts.account import AccountOwner, AccountState, AccountView
from bot.features.accounts.hook import ACCOUNT, SHARE, AccountsPart
from bot.runs.policy.access import Policy
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.runs.queue.requeue import Requeue
from bot.store import Stores
from bot.toolkit import Artifacts, Changes, Provided, Reads, tool
from tests.support.redis import asked, decided
from tests.support.runs import Bot, answer, bot_with

ADA, BEN = "U1", "U2"
SECRETS = {ADA: "Ada's raise is 7 %", BEN: "Ben plans to leave"}


@dataclass
class Accounts:
    """Who is connected, as the store of accounts would tell."""

    states: dict[str, AccountState] = field(default_factory=dict)

    def label(self, server: str) -> str:
        return server.capitalize()

    async def view(self, owner: AccountOwner, server: str) -> AccountView:
        state = self.states.get(owner.user, AccountState.NONE)
        return AccountView(server, "Notion", "mcp.notion.com", state, wanted="notes:write")

    def is_of_workspace(self, _server: str) -> bool:
        return False

    async def ask_admins(self, _owner: AccountOwner, _server: str) -> None:
        """Ask nobody: each person has their own here."""

    def connect(self, *users: str) -> None:
        self.states |= dict.fromkeys(users, AccountState.CONNECTED)


@tool(group="notion", summary="Reads notes", core=True, safety=Reads(foreign=True), title="Notes")
async def notion__notes(artifacts: Provided[Artifacts]) -> str:
    """Reads the notes of whoever asks."""
    kept = await artifacts.save(b"x", name="notes.txt", media_type="text/plain")
    return f"{SECRETS[current_request().user]} ({kept.handle})"


@tool(group="notion", summary="Adds", core=True, safety=Changes(sensitive=True), title="Add {text}")
async def notion__add(text: str) -> str:
    """Adds a note."""
    return f"added {text}"


NOTES = replace(notion__notes.tool, account="notion")
ADD = replace(notion__add.tool, account="notion")
LOOK = calls(("notion__notes", {}))


class Model(Script):
    """A script that remembers what each request showed the model, its whole chain included."""

    def __init__(self, replies: list[Reply]) -> None:
        super().__init__(replies)
        self.seen: list[str] = []

    def __call__(self, request: ModelRequest) -> Any:
        self.seen.append(str(request.items))
        return super().__call__(request)


def script(*replies: Reply) -> Model:
    return Model([*replies, *[finish(answer("Found."))] * 5])


async def ended(
    bot: Bot, request: Request, decide: Callable[[Approval], Verdict | None] = lambda _: None
) -> Outcome:
    """The outcome of a request whose asker decides in the store, with no worker on it meanwhile."""
    seen = len(bot.board.asked)
    ask = bot.ask(request)
    while True:
        try:
            return await ask
        except Requeue:
            pass
        except AwaitingApproval:
            waiting, seen = bot.board.asked[seen:], len(bot.board.asked)
            for each in waiting:
                verdict = decide(each)
                assert verdict is not None, f"nobody expected {each.kind}"
                assert not await decided(
                    bot.stores, each, Decision(verdict=verdict, by=each.requester)
                )
        ask = bot.runner.answer(request)


def with_accounts(bot: Bot, accounts: Accounts) -> None:
    others = [
        part for part in bot.runner.deps.parts if getattr(part, "func", None) is not AccountsPart
    ]
    bot.runner = bot.runner.with_deps(parts=(*others, partial(AccountsPart, accounts)))


async def test_it_waits_for_the_account_then_for_who_may_see_it(stores: Stores) -> None:
    """Two decisions of the asker, each asked once; then the call is made on their account."""
    accounts = Accounts()

    def decide(approval: Approval) -> Verdict:
        accounts.connect(ADA)
        return Verdict.APPROVED

    async with bot_with(stores, script(LOOK), NOTES) as bot:
        with_accounts(bot, accounts)
        outcome = await ended(bot, asked(user=ADA), decide)
        kinds = [each.kind for each in bot.board.asked]
        assert kinds == [ACCOUNT, SHARE]
        assert {each.approvers for each in bot.board.asked} == {(ADA,)}
        assert bot.board.asked[0].details["state"] == "none"
        assert SECRETS[ADA] in bot.outputs()[0]
        assert outcome.accounts == ("Notion",)
        [step] = bot.board.of(ToolEnded)  # the thread sees that it was called, not what it said
        assert (step.ok, step.detail) == (True, "")


async def test_what_it_found_stays_with_the_asker_in_a_shared_thread(stores: Stores) -> None:
    """Everybody may read the answer, and nobody's later question gets what it was made from: neither
    the output, nor its file. Each person's call runs on an account of their own, and each of them is
    asked once in the thread."""
    accounts = Accounts()
    accounts.connect(ADA, BEN)
    asking: list[str] = []

    def decide(approval: Approval) -> Verdict:
        asking.append(approval.requester)
        return Verdict.APPROVED

    turns = script(LOOK, finish(answer("Ada's.")), LOOK, finish(answer("Ben's.")), LOOK)
    async with bot_with(stores, turns, NOTES) as bot:
        with_accounts(bot, accounts)
        await ended(bot, asked("Mine?", user=ADA), decide)
        await ended(bot, asked("And mine?", user=BEN), decide)
        bens = "".join(turns.seen[2:4])
        assert SECRETS[ADA] not in bens
        assert "Ada's." in bens
        assert SECRETS[BEN] in bens
        await ended(bot, asked("Once more?", user=ADA))
        assert asking == [ADA, BEN]
        assert SECRETS[BEN] not in "".join(turns.seen[4:])
        handles = await stores.artifacts.handles("T1:C1:1.0")
        assert list(handles) == []


async def test_only_me_makes_the_run_private(stores: Stores) -> None:
    """The rest of the run is as if it had been asked in private: its own branch of the conversation,
    its own files; the thread's next question knows nothing of it. The choice holds for the thread."""
    accounts = Accounts()
    accounts.connect(ADA, BEN)
    turns = script(LOOK, finish(answer("Yours.")), LOOK, finish(answer("Again.")))
    async with bot_with(stores, turns, NOTES) as bot:
        with_accounts(bot, accounts)
        request = asked(user=ADA)
        await ended(bot, request, lambda _: Verdict.DENIED)
        kept = await stores.mailbox.get(request.id)
        assert kept is not None
        assert (kept.private, kept.kept_private) == (True, True)
        assert SECRETS[ADA] in bot.outputs()[0]
        shared = await stores.caller_states.load(request.thread_key)
        assert shared.previous_response_id is None
        own = await stores.caller_states.load(request.thread_key, ADA)
        assert own.bound_to == ADA
        again = asked("And?", user=ADA)
        await ended(bot, again)  # nobody is asked
        kept = await stores.mailbox.get(again.id)
        assert kept is not None
        assert kept.private
        await ended(bot, asked("What did she ask?", user=BEN))
        assert SECRETS[ADA] not in turns.seen[-1]


async def test_nobody_decides_who_may_see_it(stores: Stores) -> None:
    """In time: then only the asker does."""
    accounts = Accounts()
    accounts.connect(ADA)
    access = Policy(approval_hours=1e-9)
    async with bot_with(stores, script(LOOK), NOTES, access=access) as bot:
        with_accounts(bot, accounts)
        request = asked(user=ADA)
        await ended(bot, request)
        kept = await stores.mailbox.get(request.id)
        assert kept is not None
        assert kept.private


async def test_several_calls_ask_once_and_a_no_counts_for_all(stores: Stores) -> None:
    """Side by side and one after another; the run goes on without the server."""
    two = calls(("notion__notes", {}), ("notion__notes", {}))
    turns = script(two, LOOK)
    async with bot_with(stores, turns, NOTES) as bot:
        with_accounts(bot, Accounts())
        await ended(bot, asked(user=ADA, thread="2.0"), lambda _: Verdict.DENIED)
        assert [each.kind for each in bot.board.asked] == [ACCOUNT]
        assert turns.seen[2].count("did not connect Notion") == 3


async def test_where_only_the_asker_reads_nobody_is_asked_who_may(stores: Stores) -> None:
    accounts = Accounts()
    accounts.connect(ADA)
    async with bot_with(stores, script(LOOK), NOTES) as bot:
        with_accounts(bot, accounts)
        outcome = await ended(bot, asked(user=ADA).model_copy(update={"channel": "D1"}))
        assert outcome.accounts == ("Notion",)


async def test_a_change_on_an_account_is_its_owners_to_approve(stores: Stores) -> None:
    """Not that of the listed approvers, who approve everything else."""
    accounts = Accounts()
    accounts.connect(ADA)
    access = Policy(approvers=("U9",))
    add = calls(("notion__add", {"text": "Hi"}))
    async with bot_with(stores, script(add), ADD, access=access) as bot:
        with_accounts(bot, accounts)
        await ended(bot, asked(user=ADA), lambda _: Verdict.APPROVED)
        share, change = bot.board.asked
        assert (share.kind, change.kind) == (SHARE, CALL)
        assert change.approvers == (ADA,)
        assert bot.outputs() == ["added Hi"]


async def test_a_schedule_does_not_wait_for_an_account(stores: Stores) -> None:
    """Nobody is there: the answer says so, and the outcome names the server."""
    async with bot_with(stores, script(LOOK), NOTES) as bot:
        with_accounts(bot, Accounts())
        request = asked(user=ADA).model_copy(
            update={"entry": Entry.SCHEDULE, "schedule": "sched_1"}
        )
        outcome = await ended(bot, request)
        assert outcome.unconnected == ("notion",)
        assert "the schedule pauses" in bot.outputs()[0]


async def test_states_in_which_connecting_does_not_help(stores: Stores) -> None:
    """Nobody is asked anything."""
    for state, said in (
        (AccountState.CHANGED, "until an admin checks it"),
        (AccountState.FORBIDDEN, "do not let this person"),
    ):
        async with bot_with(stores, script(LOOK), NOTES) as bot:
            with_accounts(bot, Accounts({ADA: state}))
            await ended(bot, asked(user=ADA, thread=f"{state}.0"))
            assert said in bot.outputs()[0]
