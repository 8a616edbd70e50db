"""Asking back as the model sees it (35.5): when it can, how often, and what its response still does."""

from __future__ import annotations

from typing import Any

import pytest

from bot.core.approvals import Approval, Decision, Verdict
from bot.core.outcome import RunStatus
from bot.core.request import WORKFLOW, Entry
from bot.dev.model import Script, call, calls, finish
from bot.features.ask_person.question import PersonQuestion, named_options, told
from bot.features.ask_person.terminal import answer_question
from bot.features.ask_person.tools import ask_person
from bot.runs.policy.run_approvals import AwaitingApproval
from bot.store import Stores
from bot.toolkit import Changes, tool
from tests.support.redis import asked, decided
from tests.support.runs import answer, bot_with

MADE: list[str] = []
ASK = {"question": "Which one?", "options": ["A", "B"], "several": False, "otherwise": "A"}
ACQUIRE = call("acquire_tools", {"names": ["ask_person"]})


@tool(group="town", summary="Books", core=True, safety=Changes(), title="Book {name}")
async def town__book(name: str) -> str:
    """Books a table."""
    MADE.append(name)
    return f"booked {name}"


TOOLS = (town__book.tool, ask_person.tool)


def chooses(place: int) -> Any:
    def decide(approval: Approval) -> Decision:
        given = {"options": [place]}
        return Decision(verdict=Verdict.APPROVED, by=approval.requester, name="Ada", answer=given)

    return decide


@pytest.mark.parametrize("stateless", [False, True])
async def test_what_is_called_beside_it_happens_or_not(stores: Stores, stateless: bool) -> None:
    """D12: what comes before it is done, once; what comes behind it is not, and no result is taken: the
    model wrote both without the answer."""
    MADE.clear()
    together = calls(
        ("town__book", {"name": "before"}),
        ("ask_person", ASK),
        ("town__book", {"name": "behind"}),
        ("ask_person", ASK | {"question": "And then?"}),
        ("complete_task", answer("Too early.")),
    )
    brain = Script([ACQUIRE, together, finish(answer("B it is."))])
    async with bot_with(stores, brain, *TOOLS, model={"stateless": stateless}) as bot:
        bot.change_frontend(reaches_asker=True)
        request = asked("Book!")
        with pytest.raises(AwaitingApproval):
            await bot.ask(request)
        assert MADE == ["before"]
        with pytest.raises(AwaitingApproval):
            await bot.runner.answer(request)
        [approval, *_] = bot.board.asked
        assert approval.is_question
        assert not await decided(stores, approval, chooses(1)(approval))
        assert (await bot.runner.answer(request)).status is RunStatus.SUCCESS
        before, said, behind, second, result = bot.outputs()[-5:]
        assert (before, said) == ("booked before", "Ada chose: B")
        assert behind.startswith("Not run: you called it before you had the answer")
        assert second == "Not run."
        assert result.startswith("Not yet")
    assert MADE == ["before"]


async def test_it_asks_twice_at_most(stores: Stores) -> None:
    """The third question is not put; the model is told what to do instead."""
    questions = [call("ask_person", ASK | {"question": f"{number}?"}) for number in range(3)]
    brain = Script([ACQUIRE, *questions, finish(answer())])
    async with bot_with(stores, brain, *TOOLS) as bot:
        bot.change_frontend(reaches_asker=True)
        bot.board.decide = chooses(0)
        assert (await bot.ask("Book!")).status is RunStatus.SUCCESS
        assert [each.title for each in bot.board.asked] == ["0?", "1?"]
        assert bot.outputs()[-1].startswith("Not asked: two questions are the most")


@pytest.mark.parametrize(
    "words",
    [
        {"question": "What is your GitHub password?"},
        {"question": "Slack のパスワードは何ですか"},
        {"question": "How do I sign in?", "options": ["Send my API key", "Not at all"]},
    ],
)
async def test_it_asks_for_no_secret(stores: Stores, words: dict[str, Any]) -> None:
    """S8: the answer would stand in the thread. The model is told why, and can ask for something else."""
    brain = Script([ACQUIRE, call("ask_person", ASK | words), finish(answer())])
    async with bot_with(stores, brain, *TOOLS) as bot:
        bot.change_frontend(reaches_asker=True)
        assert (await bot.ask("Book!")).status is RunStatus.SUCCESS
        assert bot.board.asked == []
        assert "nobody types one into a chat" in bot.outputs()[-1]


@pytest.mark.parametrize(
    ("entry", "reaches_asker"),
    [
        (Entry.SCHEDULE, True),
        (Entry.WORKFLOW_STEP, True),
        (Entry.HEADLESS, False),
        (Entry.MENTION, True),
    ],
)
async def test_where_nobody_can_answer_the_model_does_not_know_of_it(
    stores: Stores, entry: Entry, reaches_asker: bool
) -> None:
    """Not in the list of tools, not in the instructions, and not for a helper."""
    is_asked = entry is Entry.MENTION
    both = call("acquire_tools", {"names": ["ask_person", "dispatch_subagent"]})
    helper = call("dispatch_subagent", {"goal": "Look!", "tools": ["ask_person"]})
    brain = Script([finish(answer())] if not is_asked else [both, helper, finish(answer())])
    async with bot_with(stores, brain) as bot:
        bot.change_frontend(reaches_asker=reaches_asker)
        user = WORKFLOW if entry is Entry.WORKFLOW_STEP else "U1"
        await bot.ask("Book!", entry=entry, user=user)
        body = bot.api.requests[0].body
        assert ("ask_person" in str(body["tools"])) is is_asked
        assert ("ask_person" in body["instructions"]) is is_asked
        if is_asked:
            assert "cannot be given to a helper" in bot.outputs()[-1]


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("1", ()),
        ("-2", ()),
        ("$2", ()),
        ("2", ("2",)),
        ("“one  WAY!”", ("One way",)),
        ("one way or the other", ()),
        ("", ()),
        ("both, one way", ("One way", "Both")),
        ("both, or neither", ()),
    ],
)
def test_a_message_that_names_options(text: str, named: tuple[str, ...]) -> None:
    question = PersonQuestion.of("Which?", ["One way", "Both", "2", "both "], "x", True)
    assert question.options == ("One way", "Both", "2")
    assert named_options(question, text) == named
    alone = question.model_copy(update={"several": False})
    assert named_options(alone, text) == (named if len(named) == 1 else ())


@pytest.mark.parametrize(
    ("typed", "several", "output"),
    [
        ("1", False, "chose: One way"),
        (" (3) ", False, "chose: 2"),
        ("2", False, "chose: 2"),  # its words before its number
        ("1 and 3", True, "chose: One way, 2"),
        ("1 and 3", False, "answered: 1 and 3"),
        ("both", False, "chose: Both"),
        ("-1", False, "answered: -1"),
        ("$3", False, "answered: $3"),
        ("4", False, "answered: 4"),
        ("0", True, "answered: 0"),
        ("²", False, "answered: ²"),
    ],
)
async def test_numbers_choose_where_options_have_them(
    typed: str, several: bool, output: str
) -> None:
    """D11: at the terminal, and nowhere else."""
    question = PersonQuestion.of("Which?", ["One way", "Both", "2"], "x", several)

    async def typed_line(prompt: str) -> str:
        return typed

    of_call = {"id": "run:0:c", "thread_key": "T:C:1", "tool": "asker", "sha256": ""}
    people = {"requester": "U1", "approvers": ("U1",), "expires": 1}
    texts = {"title": "Which?", "arguments": question.model_dump_json()}
    decision = await answer_question(Approval(**of_call, **people, **texts), typed_line)
    assert told(question, decision).content == f"They {output}"
