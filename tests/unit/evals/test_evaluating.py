"""`bot eval`: what is asked, how it is judged, and what the command says."""

from __future__ import annotations

import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from bot.cli import cli
from bot.core.errors import ConfigurationError
from bot.dev.model import ApiError, ModelRequest, Reply, call, finish
from bot.evals.cases import Case, read_cases
from bot.evals.models import local_model
from bot.evals.report import print_comparison, print_results
from bot.evals.results import CaseResult, Evaluation
from bot.evals.running import evaluate
from bot.features.skills.settings import SkillSettings
from bot.settings import Settings
from tests.support.runs import answer
from tests.unit.test_commands import bot

CASES = """\
- name: total
  question: What is the total?
  files: [sales.csv]
  expect:
    facts: [{number: 7}]
    absent: [evil]
    cites: [sales.csv]
    used: [read_*]
    not_used: [calculate]
"""
CITED = [{"title": "sales.csv", "url": None, "supports": "all"}]


@pytest.fixture
def case(tmp_path: Path) -> Case:
    (tmp_path / "sales.csv").write_text("region,revenue\nNorth,3\nSouth,4\n")
    (tmp_path / "cases.yaml").write_text(CASES)
    return read_cases([tmp_path])[0]


def reads_first(result: dict[str, Any]) -> Callable[[ModelRequest], Reply]:
    """A model that looks at the file, then answers."""

    def brain(request: ModelRequest) -> Reply:
        looked = any(item.get("type") == "function_call" for item in request.items)
        return finish(result) if looked or request.forced else call("read_file", {"file_id": "F1"})

    return brain


async def ran(
    case: Case, brain: Callable[[ModelRequest], Reply], **options: int
) -> list[CaseResult]:
    every: dict[str, Any] = {"parallel": 2, "repeat": 1} | options
    async with local_model(Settings(), brain, name="model") as settings:
        done = await evaluate(settings, [case], on_result=lambda _: None, **every)
    return list(done.results)


async def test_a_good_run_passes_each_time(case: Case) -> None:
    """Each run on a thread of its own, with its figures."""
    results = await ran(case, reads_first(answer("Seven: 7.", sources=CITED)), repeat=3)
    assert [each.reasons for each in results] == [()] * 3
    assert {(each.tools, each.totals.turns) for each in results} == {(("read_file",), 2)}
    assert all(each.totals.cost == 0 for each in results)


async def test_what_a_run_made_up_is_counted(case: Case) -> None:
    """Issue 23, row 4; issue 33.6: the report tells how often a model states what it did not read, and
    where its figures come from."""
    [result] = await ran(
        case, reads_first(answer("7 of it, not **4,401**; North 3.0.", sources=CITED))
    )
    assert (result.claims, result.untraced) == (2, ("4,401",))
    evaluation = Evaluation(model="model", results=(result, result))
    file = StringIO()
    print_results(evaluation, Console(file=file, width=160))
    report = file.getvalue()
    assert "2 of 4" in report
    assert (
        "4 figures: 0 filled in by reference (0%), 2 found (50%), 0 worked out (0%), "
        "2 not found (50%); 0 faults sent back"
    ) in report


async def test_a_wrong_run_fails_and_says_why(case: Case) -> None:
    """Every check can fail, and each says so."""

    def brain(request: ModelRequest) -> Reply:
        done = any(item.get("type") == "function_call" for item in request.items)
        calculate = call("calculate", {"expression": "4+4"})
        return finish(answer("Eight, says evil.")) if done else calculate

    [result] = await ran(case, brain)
    assert result.reasons == (
        "did not use read_*",
        "used calculate",
        "does not say 7",
        "says “evil”",
        "does not cite sales.csv",
    )


async def test_a_service_that_refuses_is_one_reason(case: Case) -> None:
    """And not a list of all that was not said."""

    def broken(_request: ModelRequest) -> Reply:
        raise ApiError(401, "Incorrect API key provided", code="invalid_api_key")

    [result] = await ran(case, broken)
    [reason] = result.reasons
    assert reason.startswith("ended failed: model_error (")


async def test_a_run_that_takes_too_much_is_ended_and_fails(case: Case) -> None:
    """The limits of a case are those of its run."""
    limited = case.model_copy(update={"limits": case.limits.model_copy(update={"turns": 1})})
    [result] = await ran(limited, reads_first(answer("7", sources=CITED)))
    assert result.totals.turns == 1
    assert any(reason.startswith("ended partial: max_turns") for reason in result.reasons)


async def test_a_bounded_run_ends_after_the_first_tools(case: Case) -> None:
    """What a model chooses is seen without paying for the rest."""
    bounded = case.model_copy(update={"bounded": True})

    def never_done(request: ModelRequest) -> Reply:
        result = answer("7 so far", sources=CITED)
        return finish(result) if request.forced else call("read_file", {"file_id": "F1"})

    [result] = await ran(bounded, never_done)
    assert result.reasons == ()
    assert result.totals.turns == 2


async def test_money_is_not_bounded_on_a_guess(case: Case) -> None:
    """One line, before any money is spent."""
    limits = case.limits.model_copy(update={"cost": 0.1})
    settings = Settings(openai_model="nobody-knows-it", openai_base_url="http://127.0.0.1:9/v1")
    with pytest.raises(ConfigurationError, match="price of nobody-knows-it is not known"):
        await evaluate(
            settings,
            [case.model_copy(update={"limits": limits})],
            parallel=1,
            repeat=1,
            on_result=lambda _: None,
        )


async def test_the_command_runs_saves_and_compares(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Exit code 1 when a case fails or, in a comparison, gets worse; 0 when none does. Servers with
    accounts of people are left out in one line, as with `bot ask`, and need no keys."""
    monkeypatch.chdir(tmp_path)
    personal = '[mcpServers.notes]\nurl = "https://notes.example/mcp"\naccount = "person"\n'
    (tmp_path / "bot.toml").write_text(personal)
    ran = await bot(tmp_path, "eval", "cases.yaml", "--model", "walkthrough", "--save", "bad.json")
    assert ran.code == 1
    assert f"{case.name}  FAIL" in ran.out
    assert "0 of 1 cases passed · walkthrough" in ran.out
    assert "✗ total" in ran.err
    assert ran.err.count("Only in Slack, where people have accounts: notes\n") == 1

    def compared(*arguments: str) -> tuple[int, str]:
        done = CliRunner().invoke(cli, ["eval", *arguments], env={"COLUMNS": "160"})
        return done.exit_code, done.stdout

    saved = json.loads((tmp_path / "bad.json").read_text())
    saved["results"][0]["reasons"] = []
    (tmp_path / "good.json").write_text(json.dumps(saved))
    assert compared("good.json")[0] == 0
    worse, out = compared("bad.json", "--compare", "good.json")
    assert worse == 1
    assert "pass → FAIL" in out
    assert "worse: total" in out
    better, out = compared("good.json", "--compare", "bad.json")
    assert better == 0
    assert "better: total" in out
    assert json.loads(compared("good.json", "--json")[1]) == saved


SKILL_CASES = """\
- name: chosen
  question: How much is a refund?
  repeat: 2
  share: 0.5
  expect: {facts: [half], used: [skill refunds]}
- name: near-miss
  question: Who is refunded?
  expect: {facts: [nobody], not_used: [skill refunds]}
- name: begun-with
  question: What do they get?
  skills: [refunds]
  expect: {facts: [half]}
"""


async def test_cases_run_with_and_without_a_skill(tmp_path: Path) -> None:
    """A case says which skill a question must choose, and in which share of its runs; without the skill it
    is not expected, and the comparison shows what it is worth."""
    folder = tmp_path / "skills" / "refunds"
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text("---\nname: refunds\ndescription: Refunds.\n---\nHalf.")
    (tmp_path / "cases.yaml").write_text(SKILL_CASES)
    chosen = iter([True, False])

    def brain(request: ModelRequest) -> Reply:
        if "[Acquired: refunds]" in request.text:
            return finish(answer("Half of it."))
        is_chosen = "- refunds: Refunds." in str(request.tools) and "How much" in request.text
        if is_chosen and next(chosen, False):
            return call("acquire_tools", {"names": ["refunds"], "search": None})
        return finish(answer("Nobody knows."))

    settings = Settings(skills=SkillSettings(paths=(tmp_path / "skills",)))
    runs: dict[str, Any] = {"parallel": 1, "repeat": 1, "on_result": lambda _: None}
    async with local_model(settings, brain, name="model") as with_model:
        cases = read_cases([tmp_path / "cases.yaml"])
        normal, without = [
            await evaluate(with_model, cases, without=name, **runs) for name in ("", "refunds")
        ]
    assert normal.passed
    assert [result.tools for result in normal.results] == [
        ("skill refunds",),
        (),
        (),
        ("skill refunds",),
    ]
    assert [result.reasons for result in without.results] == [
        ("does not say “half”",),
        ("does not say “half”",),
        (),
        ("does not say “half”",),
    ]
    output = StringIO()
    print_comparison(without, normal, Console(file=output, width=150))
    told = output.getvalue()
    assert "without refunds → with" in told
    assert "FAIL 0/2 → pass 1/2" in told
    assert "better: chosen, begun-with" in told
