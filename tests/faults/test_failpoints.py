"""Every change that the bot makes outside itself has a failpoint at it, or says why it needs none."""

from __future__ import annotations

import ast
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from pydantic import SecretStr

from bot.app.process import bot
from bot.core.errors import ConfigurationError
from bot.core.failpoints import FAILPOINTS
from bot.settings import load_settings

BOT = Path(__file__).parents[2] / "bot"
WINDOWS = set(range(1, 24))
ELSEWHERE = {
    22: "tests/faults/test_windows.py::test_a_format_that_nobody_knows",
}
"""Windows that no failpoint lies in, and what shows them instead."""

COURTESIES = {
    "features/triggers/service.py:RuleService.tell": "a line to the owner, once; Home shows that the rule rests",
    "features/triggers/pages.py:RulePages._send_card": "a card whose button the store judges; whoever is asked twice decides once",
    "slack/intake/schedules.py:WorkspaceSchedules.stop": "a line to the owner, and lost without harm",
    "slack/intake/schedules.py:WorkspaceSchedules.tell_it_rests": "a line to the owner, and lost without harm",
    "slack/intake/schedules.py:WorkspaceSchedules.wait_for_account": "a line to the owner; Home shows that it waits",
    "features/accounts/slack/listeners.py:AccountListeners._end": "a line to whoever disconnected an account",
    "features/accounts/slack/workspace.py:WorkspaceAccounts._end": "a line to whoever disconnected an account",
    "features/accounts/slack/workspace.py:WorkspaceAccounts._say_once": "said again unless it is noted as said",
    "features/accounts/slack/people.py:AccountChanges._say_once": "said again unless it is noted as said",
    "slack/intake/trial_jobs.py:show_result": "the form of one person, or a line to them, who tries again",
    "slack/intake/schedules.py:WorkspaceSchedules.remove_ownerless": "a line to people, and lost without harm",
    "slack/intake/intake.py:Intake._help": "answered once at most, by Threads.first_notice",
    "slack/message/streams.py:LiveMessage._update": "progress: the next update replaces it",
    "slack/message/streams.py:Stream.show": "progress: whoever goes on with the run writes it anew",
    "slack/intake/questions.py:QuestionIntake._end_view_if_answered": "a window of one person; the answer is there",
    "features/refresh/actions.py:RefreshResults._tell": "seen by one person, who presses again",
    "features/home/home_tab.py:HomeTab._suggest": "made anew whenever it is opened",
    "slack/intake/administration.py:register.pressed": "who raised a budget is kept with it",
    "slack/message/message_writer.py:MessageWriter.replace_view": "a modal of one person, who closes it",
    "slack/intake/slack_app.py:SlackApp.tell": "seen by one person, and lost without harm",
    "slack/intake/press.py:Press.update": "a modal; the person presses again",
    "features/sharing/slack_part.py:SharingPart._take_away": "a button that posts nothing more; the next press takes it away",
    "features/corrections/feature.py:CorrectionListener._write": "looked for first, and done again when the outcome is delivered again",
    "slack/intake/answer_buttons.py:RetryButton.take_away": "a button that does nothing any more; it stays, and says so",
    "slack/intake/edits.py:Edits._say_deleted": "said again when Slack delivers the deletion again",
    "slack/message/repair.py:Orphans._end": "done again when the history is looked through next",
    "slack/intake/press.py:open_modal": "the person presses again",
    "slack/intake/press.py:_say_too_late": "seen by one person, and lost without harm",
    "slack/intake/press.py:_post_ephemeral": "seen by one person, and lost without harm",
    "slack/message/approval_cards.py:Cards._take_back": "deleting twice is deleting once",
    "slack/intake/intake.py:Intake._ask_whether_meant": "a courtesy, once a day",
    "slack/intake/slack_part.py:tell_alone": "a word to whoever asked, after all attempts",
    "slack/intake/unhandled.py:answer_unhandled": "the end of a step; Slack sends the event again",
    "slack/message/message_writer.py:MessageWriter.delete": "deleting twice is deleting once",
    "slack/message/message_writer.py:MessageWriter._delete_file": "deleting twice is deleting once",
    "slack/edge/files.py:upload": "nobody sees it before it is completed",
    "features/accounts/slack/listeners.py:AccountListeners._disown": "disowned again when the person presses again",
    "agent/model_call.py:ModelCall._respond": "its failpoints are where it is sent, in model/client.py",
}
"""Calls to Slack and the model that have no failpoint, and why they need none."""

STORE: dict[str, tuple[str, ...] | str] = {
    "threads/mailbox.py:Mailbox.submit": ("request-submitting", "request-kept"),
    "threads/mailbox.py:Mailbox.note_submitted": ("request-queued",),
    "threads/mailbox.py:Mailbox.seen": "an event noted twice is one that came again",
    "threads/mailbox.py:Mailbox.head": "sets aside what has expired; again does the same",
    "threads/mailbox.py:Mailbox.pop": ("run-closed",),
    "threads/run.py:Runs.note_file": ("file-sharing",),
    "threads/mailbox.py:Mailbox.claim_for_nothing": "a deletion: done again when Slack delivers it again",
    "threads/mailbox.py:Mailbox.claim_again": "an edit: done again when Slack delivers it again",
    "threads/mailbox.py:Mailbox.put_back": "a deletion: done again when Slack delivers it again",
    "threads/mailbox.py:Mailbox.rewrite": "an edit: done again when Slack delivers it again",
    "threads/mailbox.py:Mailbox.forget_if_empty": ("sweep-found",),
    "threads/mailbox.py:Mailbox.defer": "a deferral ends by itself, and the sweep looks",
    "threads/mailbox.py:Mailbox.keep": "renews what waits; the next look renews it again",
    "threads/mailbox.py:Mailbox.undefer": "a deferral ends by itself, and the sweep looks",
    "threads/mailbox.py:Mailbox.begin_attempt": ("ticket-taken",),
    "threads/mailbox.py:Mailbox.count_failure": "counted twice or not, it is a pause that is longer or shorter",
    "processes.py:RefusedStore.save": "a count for operators; keeping it again is keeping it once",
    "leases.py:Lease.write": ("step-keeping", "step-kept"),
    "leases.py:Leases.take": "an erasure or a refresh, which is begun again with a newer lease",
    "threads/run.py:Runs.start": ("ticket-taken", "run-started"),
    "threads/run.py:Runs.save_point": (
        "step-keeping",
        "messages-joining",
        "step-kept",
        "messages-joined",
    ),
    "threads/run.py:Runs.note_card": "noted again with the next press",
    "threads/run.py:Runs.note_response": "after a crash the sub-agent is done again; the service keeps that one",
    "threads/run.py:Runs.finish": ("run-finishing", "run-finished"),
    "threads/run.py:Runs.ended": "reads only",
    "threads/run.py:Runs.mark_delivered": ("run-delivered", "run-closed"),
    "threads/run.py:PostedMessageRecord._set": ("message-posted", "message-saved", "part-saved"),
    "workspaces/catch_up.py:CatchUpStore.turn": "a turn that is lost is taken again a minute later",
    "workspaces/catch_up.py:CatchUpTurn.hold": "renews a turn",
    "workspaces/catch_up.py:CatchUpTurn.mark": "a channel without its mark is looked through again",
    "features/feedback/store.py:Ratings.save": "saving it again is saving it once",
    "features/feedback/store.py:RatedQuestions.comment": "a comment is one, once or twice",
    "features/feedback/store.py:RatedQuestions._remove": "deleting it again does nothing",
    "features/profiles/versions.py:ProfileVersions.add": "the audit log has the change, with or without this version",
    "features/profiles/operators.py:_teams": "reads only",
    "features/skills/written.py:WrittenSkills.put": "what a trial starts with, in stores of its own",
    "features/skills/written.py:WrittenSkills.numbered": "a version that is not current, which the form saves again",
    "features/skills/written.py:WrittenSkills.apply": "one transaction, after its audit entry; the form saves again",
    "features/skills/written.py:WrittenSkills.delete": "one transaction, after its audit entry; deleted again it is the same",
    "features/reactions/slack_part.py:ReactionsPart._stop": "after a crash the emoji stays taken, as if answered",
    "features/triggers/store.py:RuleStore.add": "after its audit entry; who is not told sees it in the list",
    "features/triggers/store.py:RuleStore.change": "after its audit entry; who is not told sees it in the list",
    "features/triggers/store.py:RuleStore.remove": "a second time there is nothing to remove",
    "features/triggers/store.py:RuleStore.used": "reads only",
    "features/triggers/store.py:RuleStore.in_team": "reads, and keeps what it reads for longer",
    "features/triggers/store.py:RuleStore.count_question": "a count; asked again after a crash it is counted again",
    "features/triggers/store.py:RuleStore.add_cost": "a question that a crash cut off cost nobody knows what",
    "features/triggers/store.py:RuleStore.begin": ("ticket-taken", "run-started"),
    "features/triggers/store.py:RuleStore.end": "said again with the end of the run, it is the same",
    "features/triggers/store.py:RuleStore.see": "remembering it again is remembering it once",
    "features/refresh/store.py:RefreshStore.begin": "a mark that expires",
    "features/refresh/store.py:RefreshStore.end": "a mark that expires",
    "features/refresh/store.py:RefreshStore.keep": "keeping it again is keeping it once",
    "features/refresh/store.py:RefreshStore.note_posted": ("message-posted",),
    "threads/run.py:Runs.renew": "renews a term",
    "threads/mailbox.py:Mailbox.keep_private": "made private again, it is the same",
    "threads/mailbox.py:Mailbox.unpark": "a restore, before any worker runs; again does nothing",
    "sealed.py:SealedValues._swap": "renews the encryption of what is there",
    "sealed.py:SealedValues.remove": "a second time there is nothing to remove",
    "sealed.py:SealedValues.names": "reads only",
    "features/accounts/store.py:AccountStore.note_asked": "asked once more: each admin was told under one name",
    "features/accounts/store.py:AccountStore.save": "the bot signs in again",
    "features/accounts/store.py:AccountStore.connect": "one transaction: who got no page of it connects again",
    "features/accounts/store.py:AccountStore.save_unconfirmed": "who got no page of it connects again",
    "features/accounts/store.py:AccountStore.count_try": "counted and then lost, it is a try less",
    "features/accounts/store.py:AccountStore.forget_unconfirmed": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.remove": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.discard": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.remove_all": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.save_ticket": "a ticket that nobody got expires",
    "features/accounts/store.py:AccountStore.forget_ticket": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.count_press": "a mark that expires",
    "features/accounts/store.py:AccountStore.save_flow": "a flow that nobody finishes expires",
    "features/accounts/store.py:AccountStore.save_client": "the bot registers again",
    "features/accounts/store.py:AccountStore.forget_client": "a second time there is nothing to remove",
    "features/accounts/store.py:RevocationStore.save": "stored before its account goes; again is once",
    "features/accounts/store.py:RevocationStore.change": "tried once more than noted",
    "features/accounts/store.py:RevocationStore.forget": "a second time there is nothing to remove",
    "features/accounts/store.py:AccountStore.note": "noted again under its own id",
    "threads/threads.py:StaleStatuses.add": "a courtesy: a status that is lost is cleared with the next run",
    "threads/threads.py:StaleStatuses.remove": "a second time there is nothing to remove",
    "threads/threads.py:StaleStatuses.take_turn": "a turn that is lost is taken again half a minute later",
    "threads/threads.py:Threads.join": ("request-queued",),
    "threads/threads.py:Threads.join_direct": ("request-queued",),
    "threads/threads.py:Threads.first_notice": "claims a notice; a lost one is a courtesy",
    "threads/threads.py:Threads.forget_notice": "a second time there is nothing to remove",
    "threads/signals.py:Signals.request_cancel": "setting it again is setting it once",
    "threads/signals.py:Signals._take_off": "a person takes back what waits; again does nothing",
    "threads/approvals.py:Approvals.ask": "asked again, the first question is kept",
    "threads/approvals.py:Approvals.decide": ("approval-decided",),
    "threads/approvals.py:Approvals.claim": "by the same call again does the same; its intent guards it",
    "threads/approvals.py:Approvals.note": ("tool-running", "tool-ran"),
    "threads/approvals.py:Approvals.supersede": "done again when Slack delivers the message again",
    "threads/approvals.py:Approvals.park": ("card-posted", "run-parked"),
    "threads/artifacts.py:ArtifactStore.put": ("tool-running", "tool-ran"),
    "threads/artifacts.py:ArtifactStore.count": "a day's sum for one person; counted twice, they may save less",
    "threads/artifacts.py:ArtifactStore.description": "renews a term",
    "threads/artifacts.py:ArtifactStore.data": "renews a term",
    "threads/artifacts.py:ArtifactStore.handles": "reads only",
    "features/accounts/store.py:RevocationStore.reseal": "an operator's, who sees what is left",
    "features/schedules/message_store.py:ScheduledMessageStore.remove": "a second time there is nothing to remove",
    "features/clips/kept.py:KeptTranscript.set": ("tool-running", "tool-ran"),
    "features/memories/store.py:MemoryStore.all_of": "renews a term",
    "features/memories/store.py:MemoryStore.add": ("tool-running", "tool-ran"),
    "features/memories/store.py:MemoryStore.forget": "deleting it again does nothing",
    "workspaces/decisions.py:Decisions.save": "an admin sees whether it is saved; again is once",
    "workspaces/decisions.py:Decisions.forget": "an admin sees whether it is gone; again is once",
    "workspaces/decisions.py:Decisions.change": "changed again from what is kept, it is the same",
    **{
        f"workspaces/decisions.py:ListedDecisions.{name}": "a name whose value is gone is listed for nothing"
        for name in ("save", "forget")
    },
    "workspaces/budgets.py:BudgetStore.positions": "reads only",
    "workspaces/budgets.py:BudgetStore.reserve": ("model-asking",),
    "workspaces/budgets.py:BudgetStore.settle": ("model-answered", "step-keeping"),
    "workspaces/budgets.py:BudgetStore.release": "what is not released expires",
    "workspaces/budgets.py:BudgetStore.raise_budget": "an admin's; setting it again is setting it once",
    "data_format.py:take_over": "noted again by each process that starts",
    "data_format.py:begin_restore": "an operator's; the mark keeps processes from starting until it ends",
    "data_format.py:end_restore": "an operator's: a restore that broke off is made again",
    "processes.py:Receivers.note": "noted again every few seconds",
    "processes.py:Receivers.forget": "what is not said is forgotten a minute later",
    "processes.py:Keyring.announce": "announced again every few seconds",
    "processes.py:Keyring.withdraw": "what is not said is forgotten a minute later",
    "workspaces/catch_up.py:CatchUpStore.note_restore": "an operator's; a restore is made again",
    "workspaces/budgets.py:PauseSwitch.set": "an admin's; setting it again is setting it once",
    "workspaces/budgets.py:PauseSwitch.clear": "an admin's; clearing it again does nothing",
    "threads/mailbox.py:Mailbox.waiting_anywhere": "reads only",
    "__init__.py:Stores.takes_writes": "a mark that says nothing",
    **{
        f"erase.py:Erasure.{name}": "an operator's; begun again it erases what is left"
        for name in (
            "_anonymize_claim",
            "_clear_claim",
            "_delete_leases",
            "_delete_threads",
            "_names",
            "_remove_entries",
            "_sweep",
        )
    },
    "erase.py:Erasure._erase_threads": ("erase-noting", "erase-noted", "erase-removing"),
    "workspaces/audit.py:AuditLog._add": "written before what it tells of, or beside it by the same script",
    "workspaces/audit.py:AuditLog._trim": "in one step with its head; an hour later again",
    "workspaces/audit.py:AuditLog._replace_head": "the operator's, or begun again at the next start",
    "workspaces/audit.py:AuditLog._wait": "written before what it tells of, and once",
    "workspaces/audit.py:AuditLog.erase": "the last step of an erasure that begins again",
    "workspaces/audit.py:AuditLog.pseudonym": "made once and kept",
    "workspaces/audit.py:AuditLog._is_too_much": "counted twice one less is kept of very many",
    **{
        f"workspaces/installs.py:InstallStore.{name}": why
        for name, why in {
            "save": "who installs sees whether it is kept; a token just refreshed and lost is asked for again",
            "find": "notes a workspace; found again it is noted again",
            "forget": "Slack delivers the removal again until it is done",
            "use_state": "who installs begins again",
        }.items()
    },
    "leases.py:Lock.hold": "renews a term",
    "leases.py:locked": "given up by its term",
    "features/schedules/message_store.py:ScheduledMessageStore.save": (
        "elsewhere-posting",
        "elsewhere-posted",
    ),
    "workspaces/schedules.py:ScheduleStore.add": "asked once for each time, told apart by its key",
    "workspaces/schedules.py:ScheduleStore.move": "a second time it stands where it was moved to",
    "workspaces/schedules.py:ScheduleStore.remove": "a second time there is nothing to remove",
    "workspaces/schedules.py:ScheduleStore.ended": "a run counts once, by its name",
    "workspaces/schedules.py:ScheduleStore.due": "a claim runs out, and another process looks again",
    **{
        f"values.py:{name}": "as the stores made of it say"
        for name in (
            "Hash.add",
            "Hash.all",
            "Hash.change",
            "Hash.put",
            "Names.add",
            "Names.all",
            "Names.remove",
            "TimedSet.add",
            "Value.change",
            "Value.delete",
            "Value.get",
            "Value.set",
        )
    },
    "values.py:set_aside": "a second time there is nothing to set aside",
}
"""Every function of the store that writes, with the failpoints at its callers, or why none."""


class Functions(ast.NodeVisitor):
    """Every function of a file, with its name inside the file."""

    def __init__(self) -> None:
        self.found: dict[str, ast.AST] = {}
        self._path: list[str] = []

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._inside(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> None:
        self._inside(node)

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> None:
        self._inside(node)

    def _inside(self, node: ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._path.append(node.name)
        if not isinstance(node, ast.ClassDef):
            self.found[".".join(self._path)] = node
        self.generic_visit(node)
        self._path.pop()


def functions(*folders: str) -> Iterator[tuple[str, ast.AST]]:
    for folder in folders:
        for file in sorted((BOT / folder).rglob("*.py")):
            for name, node in functions_of(file).items():
                yield f"{file.relative_to(BOT).as_posix()}:{name}", node


@cache
def functions_of(file: Path) -> dict[str, ast.AST]:
    """Return the functions of a file by their names."""
    visitor = Functions()
    visitor.visit(ast.parse(file.read_text("utf-8")))
    return visitor.found


def own_calls(function: ast.AST) -> Iterator[ast.Call]:
    """The calls in a function, in order, those of functions inside it left out."""
    inner = (ast.FunctionDef, ast.AsyncFunctionDef)
    for child in ast.iter_child_nodes(function):
        if isinstance(child, inner):
            continue
        if isinstance(child, ast.Call):
            yield child
        yield from own_calls(child)


def dotted(call: ast.Call) -> str:
    return ast.unparse(call.func)


def changes_something(name: str) -> bool:
    of_slack = re.search(r"clients\.((writes|updates|live)\.\w+|tell)$", name)
    return bool(of_slack) or name.endswith(
        ("model.respond", "tool.run", "_docket.add", "_docket.put")
    )


SHAPES = (".set", ".change", ".delete", ".put", ".add", ".remove")
"""The methods of `bot.store.values` that write."""


def writes_to_redis(site: str, function: ast.AST) -> bool:
    """Whether a function may itself change what is kept; shapes are used where they are imported."""
    module = (BOT / site.partition(":")[0]).read_text("utf-8")
    shapes = SHAPES if "bot.store.values" in module or site.startswith("store/values") else ()
    awaited = {id(node.value) for node in ast.walk(function) if isinstance(node, ast.Await)}
    return any(
        writes(call) or (id(call) in awaited and dotted(call).endswith(shapes))
        for call in own_calls(function)
    )


def writes(call: ast.Call) -> bool:
    """Whether a call sends Redis a command or script that may change what is kept."""
    name = dotted(call)
    if name.endswith("edis.call"):
        command = call.args[0]
        return not isinstance(command, ast.Constant) or command.value in ("SET", "DEL", "EXPIRE")
    return name.endswith((".script", ".together", "ease.write"))


def names_given(function: ast.AST) -> list[tuple[int, str]]:
    return [
        (call.lineno, str(ast.literal_eval(call.args[0])))
        for call in own_calls(function)
        if dotted(call) == "failpoint"
    ]


EVERYWHERE = ("features", "slack", "runs", "agent", "model", "store")


def test_every_change_outside_lies_between_failpoints() -> None:
    """(reliability, how it is shown) A call that posts, asks the model or runs a tool has one before and one after."""
    open_sites = []
    for site, function in functions("features", "slack", "runs", "agent"):
        calls = [call for call in own_calls(function) if changes_something(dotted(call))]
        lines = [line for line, _ in names_given(function)]
        for call in calls:
            end = call.end_lineno or call.lineno
            covered = any(at < call.lineno for at in lines) and any(at > end for at in lines)
            if not covered:
                open_sites.append(site)
    allowed = set(COURTESIES) | {
        "runs/queue/engine.py:Engine._add_ticket"
    }  # guarded by its callers
    assert sorted(set(open_sites) - allowed) == []
    assert sorted(set(COURTESIES) - set(open_sites)) == [], "no longer there"


def test_every_write_to_redis_has_its_failpoints() -> None:
    """A function of the store that writes is listed, with failpoints that exist."""
    found = {
        site.removeprefix("store/")
        for site, function in functions("store", "features")
        if writes_to_redis(site, function)
    }
    assert found == set(STORE)
    named = {name for names in STORE.values() if isinstance(names, tuple) for name in names}
    assert named <= set(FAILPOINTS)


def test_failpoints_are_those_of_the_list() -> None:
    """Each stands in the code, under its name, and each window has one or says what shows it."""
    names = [name for _, function in functions(*EVERYWHERE) for _, name in names_given(function)]
    used = {name for name in names if not name.startswith("account-")}  # in tests/unit/accounts
    assert used == set(FAILPOINTS)
    covered = {window for windows in FAILPOINTS.values() for window in windows}
    assert covered.isdisjoint(ELSEWHERE)
    assert covered | set(ELSEWHERE) == WINDOWS


async def test_a_bot_with_real_people_does_not_start(tmp_path: Path) -> None:
    """A crash that was ordered meets nobody: with Slack's own address the bot refuses to start."""
    settings = load_settings(slack_bot_token=SecretStr("xoxb-1"), bot_failpoints=tmp_path)
    with pytest.raises(ConfigurationError, match="BOT_FAILPOINTS"):
        async with bot(settings):
            pass


ORDERED = """
import sys
from pathlib import Path
from bot.core.failpoints import arm, failpoint
arm(Path(sys.argv[1]))
failpoint("run-started")
print("went on", flush=True)
failpoint("run-started")
"""


@pytest.mark.parametrize(
    ("order", "code", "out"),
    [("kill", -signal.SIGKILL, ""), ("raise", 1, ""), ("hang 0", 0, "went on\n")],
)
def test_an_order_is_obeyed_once(tmp_path: Path, order: str, code: int, out: str) -> None:
    (tmp_path / "run-started").write_text(order)
    command = [sys.executable, "-c", ORDERED, str(tmp_path)]
    for expected_code, expected_out in ((code, out), (0, "went on\n")):
        done = subprocess.run(
            command, capture_output=True, text=True, env=dict(os.environ), check=False
        )
        assert (done.returncode, done.stdout) == (expected_code, expected_out)
    assert (tmp_path / "run-started.taken").exists()
