"""The example package of docs/tools.md, built and installed, and a wheel of ours (22.1, 22.5)."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from bot.app.features import own_features, served_tools
from bot.app.tool_loading import _loaded
from bot.app.tool_states import tool_states
from bot.core.errors import ConfigurationError
from bot.evals.cases import read_cases
from bot.evals.models import model_for_cases
from bot.evals.running import evaluate
from bot.features.programs.settings import ProgramSettings
from bot.settings import Settings, ToolSettings
from bot.testing.scripted import finish, scripted_run
from docs.examples.crm_tools.fake_crm import TOKEN, running_crm

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "examples" / "crm_tools"


def built(project: Path, folder: Path) -> Path:
    """Build the wheel of a project as pip does, without downloads."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    subprocess.run(command, cwd=project, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    return wheel


def install_wheel(wheel: Path, folder: Path) -> None:
    """Install a wheel into a folder, without downloads."""
    uv = shutil.which("uv")
    pip = [uv, "pip", "install", "--offline"] if uv else [sys.executable, "-m", "pip", "install"]
    subprocess.run([*pip, "--no-deps", "--target", str(folder), str(wheel)], check=True)


def test_a_wheel_of_ours_has_our_tools_and_claims_no_general_name(tmp_path: Path) -> None:
    """Beside another package that is called `tools`, which is not taken for ours."""
    place = tmp_path / "installed"
    with zipfile.ZipFile(built(ROOT, tmp_path)) as wheel:
        names = {each.split("/")[0] for each in wheel.namelist()}
        assert {each.split("-")[0] for each in names} == {"bot", "slack_answer_bot"}
        assert any(
            each.endswith("share/slack-answer-bot/manifest.yml") for each in wheel.namelist()
        )
        wheel.extractall(place)
    (place / "tools").mkdir()
    (place / "tools" / "__init__.py").write_text("raise RuntimeError('of somebody else')")
    code = (
        "from bot.app.tool_folders import import_packages, own_folder\n"
        "print(import_packages([own_folder()]))\n"
        "from bot.tools.clock import current_time\n"
        "print(current_time.tool.name)\n"
    )
    command = [sys.executable, "-c", code]
    done = subprocess.run(
        command, env={"PYTHONPATH": str(place)}, cwd=tmp_path, capture_output=True, text=True
    )
    assert done.stdout.splitlines() == [
        f"{{PosixPath('{place}/bot/tools'): 'bot.tools'}}",
        "current_time",
    ], done.stderr


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The example's wheel, installed for this test."""
    place = tmp_path / "installed"
    install_wheel(built(EXAMPLE, tmp_path), place)
    monkeypatch.syspath_prepend(place)
    for each in [name for name in sys.modules if name.split(".")[0] == "crm_tools"]:
        monkeypatch.delitem(sys.modules, each)  # of the tests beside it
    _loaded.cache_clear()
    yield
    _loaded.cache_clear()


async def test_an_installed_package_brings_its_tools(
    installed: None, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are offered, and an evaluation asks the CRM with the package's own client; without its
    settings the bot does not start, and says what is missing."""
    monkeypatch.delenv("CRM_TOKEN", raising=False)
    with pytest.raises(
        ConfigurationError, match=r"CRM_TOKEN is not set.*tools.crm.url: is missing"
    ):
        await tool_states(Settings(_env_file=None))
    await scripted_run("Hello?", [finish({"summary": "Hello."})])  # tests need neither
    monkeypatch.setenv("CRM_TOKEN", TOKEN)
    async with running_crm() as crm:
        no_programs = ProgramSettings(enabled=False)
        tools = ToolSettings(crm={"url": str(crm.make_url(""))})
        settings = Settings(_env_file=None, tools=tools)
        states = await tool_states(settings)
        assert states.origins["find_tickets"] == "package crm-tools"
        assert "find_tickets" not in {*states.off, *states.broken}
        # Tools of a feature that is off, or has nothing to work with, are not counted as offered.
        assert (
            states.off["read_skill_file"] == states.off["run_skill_script"] == "no skill has files"
        )
        settings = settings.model_copy(update={"programs": no_programs})
        states = await tool_states(settings)
        assert states.off["run_python"] == "they are switched off"
        in_home = {tool.name for tool in served_tools(settings, own_features(settings))}
        assert in_home == {tool.name for tool in states.catalogue.tools} - {*states.off}
        cases = read_cases([EXAMPLE / "evals"])
        async with model_for_cases("walkthrough", settings, cases) as with_model:
            done = await evaluate(with_model, cases, parallel=1, repeat=1, on_result=print)
    assert [each.reasons for each in done.results] == [()]
