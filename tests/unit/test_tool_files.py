"""A mistake in a file of `tools/` is one line that names the file, whatever it is."""

from __future__ import annotations

from pathlib import Path

import pytest

import tools
from bot.app.tool_loading import catalogue
from bot.core.errors import ToolDefinitionError

HEAD = "from typing import Annotated\nfrom pydantic import Field\nfrom bot.toolkit import Changes, Reads, tool\n\n"
SAFE = '@tool(group="g", summary="-", safety='


@pytest.mark.parametrize(
    ("decorator", "parameter", "said"),
    [
        ('@tool(group="g")', "a: int", ", line 5: TypeError: .*missing.*summary"),
        ('@tool(group="g", summary="-", mutate=True)', "a: int", ", line 5: TypeError: .*'mutate'"),
        ("@tool", "a: int", ", line 5: TypeError"),
        ("import nowhere_at_all", "a: int", ", line 5: ModuleNotFoundError: .*nowhere_at_all"),
        ("@tool(", "a: int", ", line 5: '\\(' was never closed"),
        ('@tool(group="g", summary="-")', "a", ": Tool slips: parameter a has no annotation"),
        ('@tool(group="g", summary="-", title="{b}")', "a: int", ": Tool slips: title.* name b"),
        ('@tool(group="Ma th!", summary="-")', "a: int", ": Tool slips: 'Ma th!' is no name"),
        (f"{SAFE}Reads(calculates=True, foreign=True))", "a: int", ": Tool slips: what calculates"),
        (
            f"{SAFE}Reads(calculates=True, evidence=False))",
            "a: int",
            ": Tool slips: what calculates",
        ),
        (f'{SAFE}Reads(calculates=True, sends=("a",)))', "a: int", ": Tool slips: what calculates"),
        (f"{SAFE}Changes(free_in_direct=bool))", "a: int", ": Tool slips: .*from sensitive=True"),
        (f'{SAFE}Changes(mentions="b"))', "a: int", ": Tool slips: .*mentions name b"),
        (f'{SAFE}Changes(standing=("b",)))', "a: int", ": Tool slips: .*standing.* name b"),
        (f'{SAFE}Reads(sends=("b",)))', "a: int", ": Tool slips: .*sends.* name b"),
        (f"{SAFE}Reads(sensitive=True))", "a: int", ", line 5: TypeError: .*'sensitive'"),
        (f"{SAFE}Changes(), retries=1)", "a: int", r": Tool slips: retries are for Reads\(...\)"),
        (f"{SAFE}Reads(), retries=9)", "a: int", ": Tool slips: retries is a number from 0 to 5"),
        (f"{SAFE}Reads(), retries=-1)", "a: int", ": Tool slips: retries is a number from 0 to 5"),
        (f"{SAFE}Changes)", "a: int", r": Tool slips: safety is Reads\(...\) or Changes\(...\)"),
        (f"{SAFE}True)", "a: int", r": Tool slips: safety is Reads\(...\) or Changes\(...\)"),
        (
            '@tool(group="g", summary="-")',
            "a: Annotated[int, Field(ge=3)] = 1",
            ": Tool slips: the default of a is refused: .*greater than or equal to 3",
        ),
    ],
)
def test_a_mistake_is_one_line_with_the_name_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, decorator: str, parameter: str, said: str
) -> None:
    folder = tmp_path / "tools"
    folder.mkdir()
    function = f'def slips({parameter}) -> str:\n    "Slips."\n    return ""\n'
    (folder / "slips.py").write_text(f"{HEAD}{decorator}\n{function}")
    monkeypatch.setattr(tools, "__path__", [str(folder)])
    with pytest.raises(ToolDefinitionError, match=f"^tools/slips.py{said}") as caught:
        catalogue.__wrapped__()
    assert "\n" not in str(caught.value)


def test_a_name_given_twice_is_told_with_both_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("one_file", "another_file"):
        code = (
            f'{HEAD}@tool(group="g", summary="-")\ndef twice() -> str:\n    "Tw."\n    return ""\n'
        )
        (tmp_path / f"{name}.py").write_text(code)
    monkeypatch.setattr(tools, "__path__", [str(tmp_path)])
    with pytest.raises(ToolDefinitionError, match=r"twice, in .*another_file and .*one_file"):
        catalogue.__wrapped__()
