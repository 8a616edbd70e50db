"""Build the Dockerfile's last stage as a folder, with the same steps in a chroot.

The base image is a Debian made with debootstrap that has the same Python at the same address. Packages come
from this machine's settings of pip: they are downloaded outside, with their hashes checked, and pip inside
finds them in a folder.
"""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatch
from pathlib import Path

from dockerfile_parse import DockerfileParser
from packaging.markers import Marker

ROOT = Path(__file__).parents[2]
_BASE = re.compile(r"python:(\d+\.\d+)-slim-(\w+)")
_PATH = "/usr/local/bin:/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin"  # of the base image
_PACKAGES = "/packages"  # where pip inside finds what was downloaded


@dataclass
class Stage:
    """One stage of a Dockerfile while it is built: its files, and what its instructions set."""

    root: Path
    env: dict[str, str] = field(default_factory=lambda: {"PATH": _PATH})
    workdir: str = "/"
    user: str = "0:0"
    command: tuple[str, ...] = ()
    health: tuple[str, ...] = ()

    def inside(self, path: str) -> Path:
        """Return where `path` of the image is on this machine."""
        return self.root / str(Path(self.workdir, path)).lstrip("/")


def build(folder: Path) -> Stage:
    """Build the image in `folder`, which keeps the base and the packages for the next time."""
    stages: dict[str, Stage] = {}
    stage: Stage | None = None
    parser = DockerfileParser(str(ROOT / "Dockerfile"))
    for number, each in enumerate(parser.structure):
        instruction, value = each["instruction"], each["value"]
        if instruction == "COMMENT":
            continue
        print(f"{instruction} {value}"[:110], flush=True)
        if instruction == "FROM":
            image, _, name = value.partition(" AS ")
            root = folder / f"stage-{name or 'last'}"
            shutil.rmtree(root, ignore_errors=True)
            subprocess.run(["cp", "-a", _base(folder, image), root], check=True)
            stage = stages[name or str(number)] = Stage(root)
        else:
            assert stage is not None
            _follow(stage, instruction, value, stages, folder)
    assert stage is not None
    return stage


def _follow(
    stage: Stage, instruction: str, value: str, stages: Mapping[str, Stage], folder: Path
) -> None:
    match instruction:
        case "ENV":
            for each in shlex.split(value):
                key, _, given = each.partition("=")
                stage.env[key] = given.replace("$PATH", stage.env["PATH"])
        case "WORKDIR":
            stage.workdir = value
            stage.inside(".").mkdir(parents=True, exist_ok=True)
        case "USER":
            stage.user = value
        case "COPY":
            _copy(stage, value.split(), stages)
        case "RUN":
            _run(stage, value, folder)
        case "CMD":
            stage.command = tuple(_listed(value))
        case "HEALTHCHECK":
            stage.health = tuple(_listed(value[value.index("CMD") + 3 :]))
        case "VOLUME" | "EXPOSE" | "STOPSIGNAL":
            pass
        case _:
            raise ValueError(f"{instruction}: teach tests/image what it does")


def _listed(value: str) -> Sequence[str]:
    return [each.strip().strip('"') for each in re.findall(r'"[^"]*"', value)]


def _copy(stage: Stage, words: list[str], stages: Mapping[str, Stage]) -> None:
    origin, is_context = ROOT, True
    if words[0].startswith("--from="):
        origin, is_context = stages[words.pop(0).removeprefix("--from=")].root, False
    *sources, target = words
    for each in sources:
        assert not is_context or _in_context(each), f".dockerignore leaves out {each}"
        source, into = origin / each.lstrip("/"), stage.inside(target)
        if source.is_dir():
            shutil.copytree(
                *(source, into),
                symlinks=True,
                dirs_exist_ok=True,
                ignore=shutil.ignore_patterns("__pycache__") if is_context else None,
            )
        else:
            shutil.copy2(source, into / source.name if target.endswith("/") else into)


def _in_context(path: str) -> bool:
    kept = False
    for line in (ROOT / ".dockerignore").read_text().splitlines():
        if fnmatch(path, line.removeprefix("!")):
            kept = line.startswith("!")
    return kept


def _run(stage: Stage, script: str, folder: Path) -> None:
    """Run a shell line in the stage, as root, with no other variables than the image's."""
    packages = stage.root / _PACKAGES.lstrip("/")
    packages.mkdir(exist_ok=True)
    offline = {"PIP_NO_INDEX": "1", "PIP_FIND_LINKS": _PACKAGES}
    environment = [f"{key}={value}" for key, value in (stage.env | offline).items()]
    inside = (
        f'mount --bind "$1" "$2{_PACKAGES}" && mount -t proc proc "$2/proc" && '
        'cd "$2" && exec chroot "$2" /usr/bin/env -i "${@:5}" /bin/sh -ec "cd $3; $4"'
    )
    named = ("run", folder / "packages", stage.root, stage.workdir, script, *environment)
    subprocess.run(
        ["unshare", "--mount", "--pid", "--fork", "bash", "-ec", inside, *map(str, named)],
        check=True,
    )
    packages.rmdir()


def _base(folder: Path, image: str) -> Path:
    """Return a Debian with the Python of the base image, as /usr/local/bin/python."""
    found = _BASE.fullmatch(image)
    assert found, image
    version, suite = found.groups()
    base = folder / f"base-{suite}"
    if not base.exists():
        making = folder / "base-unfinished"
        shutil.rmtree(making, ignore_errors=True)
        wanted = f"python{version},python{version}-venv,ca-certificates"
        command = ["debootstrap", "--variant=minbase", f"--include={wanted}", suite, str(making)]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (making / "usr/local/bin/python").symlink_to(f"/usr/bin/python{version}")
        making.rename(base)
    _download(folder / "packages", version)
    return base


def _download(packages: Path, version: str) -> None:
    """Download what requirements.txt names for `version` of Python, with its hashes checked."""
    packages.mkdir(exist_ok=True)
    wanted, done = _wanted(version), packages / "requirements.txt"
    if done.exists() and done.read_text() == wanted:
        return
    asked = packages / "asked.txt"
    asked.write_text(wanted)
    python = Path(sys.base_prefix) / "bin" / "python3"  # the environment of the tests has no pip
    subprocess.run(
        [
            *(python, "-m", "pip", "download", "--quiet", "--no-deps", "--dest", packages),
            *("--only-binary", ":all:", "--python-version", version),
            *("--require-hashes", "--requirement", asked),
        ],
        check=True,
    )
    asked.rename(done)


def _wanted(version: str) -> str:
    """Return requirements.txt without markers: pip evaluates them for the Python that runs it."""
    kept = []
    for line in (ROOT / "requirements.txt").read_text().replace("\\\n", "").splitlines():
        requirement, *hashes = line.split(" --hash=")
        if not hashes:
            continue
        needed, _, marker = requirement.partition(";")
        target = {"python_version": version, "python_full_version": f"{version}.0"}
        if not marker or Marker(marker).evaluate(target):
            kept.append(" --hash=".join((needed.strip(), *map(str.strip, hashes))))
    return "\n".join(kept) + "\n"
