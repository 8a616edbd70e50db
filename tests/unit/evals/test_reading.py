"""Cases as people write them: what facts mean, and what is said of a slip."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from bot.core.errors import ConfigurationError
from bot.evals.cases import Fact, read_cases

GOOD = """\
- name: one
  question: How many?
  files: [a.csv]
  expect:
    facts: ["2"]
"""


@pytest.mark.parametrize(
    ("fact", "says", "does_not_say"),
    [
        ({"text": "North Sea"}, "the **north**  sea", "the sea"),
        ({"regex": r"page \d"}, "on page 3", "on a page"),
        ({"number": 1234.5}, "It is $1,234.50.", "1234.6"),
        ({"number": 1234.5}, "| 1234.5 |", "v1.1234.5"),
        ({"number": 100, "within": "1%"}, "99.2", "98.9"),
        ({"number": 0.5, "within": 0.1}, "about 0.6", "0.61"),
        ({"number": 1_200_000}, "1.2 million", "1.2"),
        ({"number": -5}, "it fell by −5 %", "by 5 %"),
        ({"number": 3}, "3 of 4", "2026-03-14, F3, 13 and 3.5"),
        ({"any_of": [{"text": "7"}, {"text": "seven"}]}, "Seven.", "six"),
    ],
)
def test_a_fact_is_found_however_it_is_written(fact, says, does_not_say):
    """Numbers in any notation, words in any case; and nothing else passes for them."""
    wanted = Fact.model_validate(fact)
    assert wanted.is_in(says)
    assert not wanted.is_in(does_not_say)


@pytest.mark.parametrize(
    ("right", "wrong", "said"),
    [
        ("question:", "qestion:", "2: qestion: there is no such key; did you mean question?"),
        ('facts: ["2"]', 'fact: ["2"]', "5: expect.fact: there is no such key; did you mean facts"),
        ("a.csv", "b.csv", "3: files.0: there is no file b.csv"),
        ('["2"]', "[2]", "5: expect.facts.0: a fact is a text, in quotes"),
        ('["2"]', "[{number: two}]", "5: expect.facts.0.number: "),
        ('["2"]', "[{number: 2, text: two}]", "5: expect.facts.0: a fact is one of text, regex"),
        ('["2"]', "[{regex: '('}]", "5: expect.facts.0.regex: "),
        ('["2"]', "[{number: 2, within: wide}]", "5: expect.facts.0.within: this is a distance"),
        ('facts: ["2"]', "x: 1", "5: expect.x: there is no such key; keys: status, facts, absent"),
        ('["2"]', "[]", "4: expect: expects nothing"),
        ("one", "One!", "1: name: "),
        ("files: [a.csv]", "response: Poem", "3: response: must be one of Answer, ThreadSummary, "),
        ('["2"]', '["2"', "6: this is not YAML: "),
        (GOOD, "5", "1: the file: "),
        (GOOD, "", "1: the file: "),
        (GOOD, "[" * 5000, "1: this is nested too deeply"),
    ],
)
def test_a_slip_is_one_line_with_file_line_and_field(tmp_path: Path, right, wrong, said):
    """Before anything is asked, exit code 3."""
    (tmp_path / "a.csv").write_text("n\n2\n")
    file = tmp_path / "cases.yaml"
    file.write_text(GOOD)
    assert len(read_cases([file])) == 1
    file.write_text(GOOD.replace(right, wrong))
    with pytest.raises(ConfigurationError) as caught:
        read_cases([file])
    assert f"{file}:{said}" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_cases_are_told_apart(tmp_path: Path) -> None:
    """By name in tables and comparisons, by question on their way."""
    (tmp_path / "a.csv").touch()
    for name in ("x.yaml", "y.yml"):
        (tmp_path / name).write_text(GOOD)
    with pytest.raises(ConfigurationError, match="Two cases have the name 'one'"):
        read_cases([tmp_path])
    with pytest.raises(ConfigurationError, match="there are no cases"):
        read_cases([tmp_path / "none"])


def test_the_example_of_the_readme_is_a_case(tmp_path: Path) -> None:
    """A newcomer copies it; every key of it exists."""
    readme = Path(__file__).parents[2] / "evals" / "README.md"
    [example] = re.findall(r"```yaml\n(.*?)```", readme.read_text("utf-8"), re.DOTALL)
    for name in ("sales.csv", "shop.sqlite", "targets.csv"):
        (tmp_path / name).touch()
    (tmp_path / "cases.yaml").write_text(example)
    [case] = read_cases([tmp_path])
    assert case.expect.facts[1].is_in("8,150 lamps")
    assert case.bounded
