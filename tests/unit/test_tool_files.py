"""Where tools are found (22.1): in folders and installed packages, or one line says why not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from bot.app.tool_loading import _loaded, catalogue, load_tools
from bot.core.errors import ConfigurationError, ToolDefinitionError
from tests.unit.test_commands import bot

HEAD = "from typing import Annotated\nfrom pydantic import Field\nfrom bot.toolkit import Changes, Reads, provider, tool\n\n"
SAFE = '@tool(group="g", summary="-", safety='


@pytest.mark.parametrize(
    ("decorator", "parameter", "said"),
    [
        ('@tool(group="g")', "a: int", ", line 5: @tool lacks summary: @tool"),
        ('@tool(group="g", sumary="-")', "a: int", ", line 5: @tool lacks summary"),
        (
            '@tool(group="g", summary="-", safe=True)',
            "a: int",
            ", line 5: @tool has no option safe: did you mean safety",
        ),
        ("@tool", "a: int", r", line 5: @tool is written with options: @tool\(group="),
        ("@provider", "a: int", r", line 5: @provider is written with options: @provider\(group="),
        ("import nowhere_at_all", "a: int", ", line 5: ModuleNotFoundError: .*nowhere_at_all"),
        ("@tool(", "a: int", ", line 5: '\\(' was never closed"),
        ('@tool(group="g", summary="-")', "a", ": Tool slips: parameter a has no annotation"),
        ('@tool(group="g", summary="-", title="{b}")', "a: int", ": Tool slips: title.* name b"),
        ('@tool(group="Ma th!", summary="-")', "a: int", ": Tool slips: 'Ma th!' is no name"),
        (f"{SAFE}Reads(calculates=True, foreign=True))", "a: int", ": Tool slips: what calculates"),
        (f"{SAFE}Reads(quotes=True))", "a: int", ": Tool slips: quotes says more of what others"),
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
    tmp_path: Path, decorator: str, parameter: str, said: str
) -> None:
    """Its author finds the place without a traceback."""
    function = f'def slips({parameter}) -> str:\n    "Slips."\n    return ""\n'
    (tmp_path / "slips.py").write_text(f"{HEAD}{decorator}\n{function}")
    with pytest.raises(
        ToolDefinitionError, match=rf"^{tmp_path}/slips.py(, line \d)?{said}"
    ) as caught:
        catalogue((tmp_path,))
    assert "\n" not in str(caught.value)


def written(file: Path, name: str, before: str = "", returns: str = '""') -> Path:
    """Write a file with one tool; return its folder."""
    file.parent.mkdir(exist_ok=True)
    code = f'def {name}() -> str:\n    "Do it."\n    return {returns}\n'
    file.write_text(f"{HEAD}{before}\n{SAFE}Reads())\n{code}")
    return file.parent


def test_a_name_given_twice_is_told_with_both_places(tmp_path: Path) -> None:
    """Whether both are one's own or one is the bot's."""
    written(tmp_path / "one_file.py", "twice")
    written(tmp_path / "another_file.py", "twice")
    with pytest.raises(
        ToolDefinitionError, match=r"another_file.py, line \d+ and in .*one_file.py"
    ):
        catalogue((tmp_path,))
    folder = written(tmp_path / "own" / "clocks.py", "current_time")
    with pytest.raises(ToolDefinitionError, match=r"own/clocks.py, line \d+ and in tools/clock.py"):
        catalogue((folder,))
    folder = written(tmp_path / "reserved" / "x.py", "complete_task")
    with pytest.raises(
        ToolDefinitionError, match=r"complete_task in .*reserved/x.py, line \d+: the agent"
    ):
        catalogue((folder,))


@pytest.mark.parametrize("package", [False, True])
def test_files_of_a_folder_import_one_another_as_their_author_expects(
    tmp_path: Path, package: bool
) -> None:
    """With a dot, by the plain name and by the folder's name it is the same module, now and later."""
    name = f"own_{package}"
    folder = tmp_path / name
    written(folder / f"client_{name}.py", "in_client", "class Client: ...")
    imports = (
        f"from .client_{name} import Client as relative\n"
        f"from client_{name} import Client as plain\n"
        f"from {name}.client_{name} import Client as named\n"
        f"def later():\n    import client_{name}\n    return client_{name}.Client\n"
    )
    written(folder / "tickets.py", "look", imports, "str(relative is plain is named is later())")
    if package:
        (folder / "__init__.py").write_text("from .tickets import look\n")
    made = load_tools((folder,)).catalogue.get("look")
    assert made is not None
    assert made.function() == "True"


def test_names_of_files_hide_no_installed_module_and_are_not_hidden(tmp_path: Path) -> None:
    """A folder may have a calendar.py, a redis.py and a tools.py, and another folder the same."""
    for number in (1, 2):
        folder = tmp_path / f"team_{number}"
        for name in ("calendar", "redis", "tools", "common"):
            written(folder / f"{name}.py", f"{name}_{number}", returns=f"'{number}'")
        uses = f"import calendar, redis\nfrom .common import common_{number} as own"
        result = "f'{calendar.isleap(2028)} {redis.Redis.__name__} {own()}'"
        written(folder / "uses.py", f"uses_{number}", uses, result)
    loaded = catalogue((tmp_path / "team_1", tmp_path / "team_2"))
    for number in (1, 2):
        made = loaded.get(f"uses_{number}")
        assert made is not None
        assert made.function() == f"True Redis {number}"
    for name in ("unclear_1", "unclear_2"):  # the first would have got it, the second the wrong one
        written(tmp_path / name / "uses_shared.py", f"uses_{name}", "import shared")
        written(tmp_path / name / "shared.py", f"shared_{name}")
    with pytest.raises(ToolDefinitionError, match=r"two tool folders .* `from . import shared`"):
        catalogue((tmp_path / "unclear_1", tmp_path / "unclear_2"))


def test_other_objects_of_a_module_are_left_alone(tmp_path: Path) -> None:
    """Lazy clients connect, or fail, when they are asked for anything."""
    lazy = (
        "class Lazy:\n"
        "    def __getattribute__(self, name): raise RuntimeError(name)\n"
        "client = Lazy()"
    )
    written(tmp_path / "lazy.py", "lazily", lazy)
    assert catalogue((tmp_path,)).get("lazily")


def test_tests_beside_tools_are_not_loaded(tmp_path: Path) -> None:
    """Nor are private modules, unless a tool imports them."""
    for name in ("test_crm", "crm_test", "conftest", "_old"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('loaded')")
    written(tmp_path / "crm.py", "find")
    assert load_tools((tmp_path,)).origins == {"find": str(tmp_path)}


def test_a_folder_that_cannot_be_trusted_is_refused(tmp_path: Path) -> None:
    """Missing, no folder, empty, or changeable by others: each is one line with its reason."""
    folder = written(tmp_path / "crm" / "crm.py", "find")
    file = folder / "crm.py"
    nested = written(folder / "parts" / "__init__.py", "part")
    (tmp_path / "empty").mkdir()
    refused = {
        tmp_path / "nowhere": "nowhere does not exist",
        file: "crm.py is not a folder",
        tmp_path / "empty": "there is no tool in",
        Path("~nobody-of-this-name/tools"): "Could not determine home directory",
    }
    for path, said in refused.items():
        with pytest.raises(ConfigurationError, match=f"^Wrong setting: tools.paths: .*{said}"):
            catalogue((path,))
    for place, mode in ((folder, 0o775), (file, 0o646), (nested, 0o777), (tmp_path, 0o757)):
        before = place.stat().st_mode
        place.chmod(mode)
        with pytest.raises(
            ConfigurationError,
            match=rf"{place} belongs to another user, or .* `chmod go-w {place}`",
        ):
            catalogue((folder,))
        place.chmod(before)
    link = tmp_path / "shared" / "link"
    link.parent.mkdir()
    link.symlink_to(folder)
    link.parent.chmod(0o777)
    with pytest.raises(ConfigurationError, match=f"because {link.parent} belongs"):
        catalogue((link,))
    shared = written(tmp_path / "shared" / "parts" / "common.py", "common")
    (folder / "common.py").symlink_to(shared / "common.py")
    (folder / "itself").symlink_to(folder)
    with pytest.raises(ConfigurationError, match=f"because {link.parent} belongs"):
        catalogue((folder,))
    link.parent.chmod(0o1777)  # like /tmp: nobody may replace what is not theirs
    assert catalogue((link,)).get("find")


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_code_of_another_user_is_refused(tmp_path: Path) -> None:
    """S14: who owns a file or a folder may write to it, whatever its mode says today."""
    folder = written(tmp_path / "crm" / "crm.py", "find")
    for place in (folder / "crm.py", folder, tmp_path):
        os.chown(place, 12_345, -1)
        with pytest.raises(ConfigurationError, match=f"because {place} belongs to another user"):
            catalogue((folder,))
        os.chown(place, 0, -1)
    assert catalogue((folder,)).get("find")


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("raise SystemExit(2)", r"broken.py, line 1: SystemExit: 2"),
        ("def f(:", r"broken.py, line 1: "),
        ("from .missing import x", r"broken.py, line 1: ModuleNotFoundError"),
        ("import json\njson.loads('{')", r"broken.py, line 2: JSONDecodeError"),
        ("raise KeyError('a\\nb')", r"broken.py, line 1: KeyError: "),
        ("\0", r"broken.py.*: "),
    ],
)
def test_a_file_that_cannot_be_imported_is_one_line(tmp_path: Path, code: str, said: str) -> None:
    """Whatever importing it raises."""
    written(tmp_path / "fine" / "fine.py", "fine")
    (tmp_path / "fine" / "broken.py").write_text(code)
    with pytest.raises(ToolDefinitionError, match=said) as caught:
        catalogue((tmp_path / "fine",))
    assert "\n" not in str(caught.value)


async def test_every_command_says_the_same_line(tmp_path: Path) -> None:
    """And none starts; `bot doctor` goes on with its other checks, also without a server's secret."""
    bot_toml = '[tools]\npaths = ["missing"]\n'
    (tmp_path / "bot.toml").write_text(bot_toml)
    line = f"Wrong setting: tools.paths: {tmp_path}/missing does not exist."
    tokens = {"SLACK_BOT_TOKEN": "xoxb-1", "SLACK_SIGNING_SECRET": "s", "OPENAI_API_KEY": "sk-no"}
    model = {"OPENAI_BASE_URL": "http://127.0.0.1:1"}
    for command in ("serve", "ask x", "tools"):
        done = await bot(tmp_path, *command.split(), **tokens, **model)
        assert (done.code, done.err.splitlines()[-1]) == (3, f"bot: {line}"), command
        assert "Traceback" not in done.err
    server = "[mcpServers.n]\nurl = 'https://n.example'\nheaders = {A = '${NOT_SET}'}\n"
    (tmp_path / "bot.toml").write_text(bot_toml + server)
    done = await bot(tmp_path, "doctor", OPENAI_BASE_URL="http://127.0.0.1:1")
    assert done.code == 1
    said = " ".join(done.out.split())
    assert line in said
    assert "MCP server n the environment variable NOT_SET is not set" in said
    assert "model" in said
    assert "Traceback" not in done.err


def installed(folder: Path, name: str, entry_point: str) -> None:
    """Make `folder` a place with an installed package of this name."""
    facts = folder / f"{name.replace('-', '_')}-1.0.dist-info"
    facts.mkdir(parents=True)
    (facts / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (facts / "entry_points.txt").write_text(f"[slack_answer_bot.tools]\ncrm = {entry_point}\n")


def test_tools_of_an_installed_package_are_found(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its entry point, a module or one tool; a mistake names the package."""
    monkeypatch.syspath_prepend(tmp_path)
    written(tmp_path / "crm_of_test" / "tickets.py", "find_one")
    (tmp_path / "crm_of_test" / "__init__.py").touch()
    installed(tmp_path, "crm-of-test", "crm_of_test.tickets")
    _loaded.cache_clear()
    assert load_tools().origins == {"find_one": "package crm-of-test"}
    entry = tmp_path / "crm_of_test-1.0.dist-info" / "entry_points.txt"
    wrong = {
        "crm_of_test": "crm_of_test: there is no tool. Name the module that defines them.",
        "crm_of_test.nowhere": "ModuleNotFoundError: No module named 'crm_of_test.nowhere'",
        "crm_of_test:": "AttributeError",
        "-": "AttributeError",
        "crm_of_test.tickets:SAFE": "AttributeError",
        "crm_of_test.broken": f"{tmp_path}/crm_of_test/broken.py, line 1: ZeroDivisionError",
    }
    (tmp_path / "crm_of_test" / "broken.py").write_text("1 / 0\n")
    for value, said in wrong.items():
        entry.write_text(f"[slack_answer_bot.tools]\ncrm = {value}\n")
        _loaded.cache_clear()
        with pytest.raises(ToolDefinitionError, match=f"^package crm-of-test, .*{said}"):
            load_tools()
    _loaded.cache_clear()


def test_the_files_of_another_folder_are_its_own(tmp_path: Path) -> None:
    """O7: SIGHUP can name another folder, such as the next version: its tools import the files beside
    them, not those of the folder before that have the same names."""
    for version in ("one", "two"):
        folder = tmp_path / version
        written(folder / "look.py", "look", "from looks import VERSION\n", "VERSION")
        (folder / "looks.py").write_text(f"VERSION = '{version}'\n")
    for version in ("one", "two", "one"):
        made = load_tools((tmp_path / version,)).catalogue.get("look")
        assert made
        assert made.function() == version
