"""Loading skills from folders: which there are, which are refused and why, and their files."""

from __future__ import annotations

import hashlib
import importlib.util
import json
import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path

from bot.agent.calls.outputs import without_marks
from bot.core.folder_permissions import checked_folder
from bot.features.skills.skill_file import SkillText, Unusable, read_skill, same_name

ENTRY_POINTS = "slack_answer_bot.skills"
"""The group of entry points by which installed packages bring skills: each names a package, whose
folder holds them. None of its code runs."""

SKILL = "SKILL.md"
MOST_BYTES = 1_048_576  # of one file
_MOST_FOLDERS = 2_000  # that are looked at below one path
_MOST_DEPTH = 4  # of folders below a path, and of files below a skill
_MOST_FILES = 256  # of one skill
_SKIPPED = frozenset({"node_modules", "__pycache__"})


@dataclass(frozen=True, slots=True)
class SkillFile:
    """A file of a skill: its path inside the folder of the skill, bytes, and SHA-256 in hex."""

    path: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class LoadedSkill:
    """A skill from a folder. `origin` says where it is from, for people in Slack too."""

    text: SkillText
    folder: Path
    origin: str
    files: tuple[SkillFile, ...]
    digest: str
    warnings: tuple[str, ...]

    @property
    def name(self) -> str:
        return self.text.name

    def file(self, path: str) -> SkillFile | None:
        return next((file for file in self.files if file.path == path), None)

    def read(self, file: SkillFile) -> bytes:
        """Return the content of a file. Raises Unusable if it is not what was loaded."""
        data = _content(self.folder / file.path, self.folder)
        if hashlib.sha256(data).hexdigest() != file.sha256:
            raise Unusable("the file has changed since the bot started")
        return data


@dataclass(slots=True)
class LoadedSkills:
    """The skills of all folders, and `refused`: why others are not loaded, by their folders."""

    skills: list[LoadedSkill] = field(default_factory=list)
    refused: list[tuple[Path, str]] = field(default_factory=list)


def load_skills(paths: Sequence[Path], is_taken: Callable[[str], bool]) -> LoadedSkills:
    """Load the skills in folders of the operator and in installed packages, in this order.

    A skill whose name is a tool's (`is_taken`) is refused, as is one that has the name of an earlier
    one, or a name that looks like it. Raises ConfigurationError for a path that must not be used.
    """
    roots = [checked_folder(path, "skills.paths", suffixes=None) for path in paths]
    refused = list[tuple[Path, str]]()
    loaded = read_skills((*((root, root.name) for root in roots), *_packages(refused)), is_taken)
    return LoadedSkills(loaded.skills, [*loaded.refused, *refused])


def read_skills(roots: Iterable[tuple[Path, str]], is_taken: Callable[[str], bool]) -> LoadedSkills:
    """Read the skills in folders, each with its origin, whoever may change them. See `load_skills`."""
    loaded, names = LoadedSkills(), dict[str, LoadedSkill]()
    for root, origin in roots:
        for folder in _skill_folders(root, loaded.refused):
            inside = folder.relative_to(root).as_posix()
            place = origin if inside == "." else f"{origin}/{inside}"
            try:
                skill = load_skill(folder, place)
            except (Unusable, OSError) as error:
                loaded.refused.append((folder, _reason(error)))
                continue
            other = names.setdefault(same_name(skill.name), skill)
            if is_taken(skill.name):
                loaded.refused.append((folder, f"a tool has the name {skill.name}, or one like it"))
            elif other is not skill:
                like = "" if other.name == skill.name else f", which looks like {skill.name}"
                loaded.refused.append((folder, f"{other.folder} has the name {other.name}{like}"))
            else:
                loaded.skills.append(skill)
    return loaded


def load_skill(folder: Path, origin: str) -> LoadedSkill:
    """Load the skill in a folder. Raises Unusable and OSError."""
    names = {path.name for path in folder.iterdir()}
    file = next((name for name in (SKILL, "skill.md") if name in names), None)
    if file is None:
        raise Unusable(f"there is no {SKILL} in it")
    try:
        content = _content(folder / file, folder).decode()
    except UnicodeDecodeError:
        raise Unusable(f"its {file} is not UTF-8") from None
    text = read_skill(content, folder.name)
    warnings = list(text.warnings)
    if file != SKILL:
        warnings.append(f"its file is named {file}, and should be {SKILL}")
    files = tuple(_files(folder, warnings))
    said = [text.name, text.description, text.body, text.version, text.compatibility, text.tools]
    listed = [(file.path, file.sha256) for file in files]
    digest = hashlib.sha256(json.dumps([said, listed]).encode()).hexdigest()
    return LoadedSkill(text, folder, origin, files, digest, tuple(warnings))


def _packages(refused: list[tuple[Path, str]]) -> Iterator[tuple[Path, str]]:
    """Yield the folder of each installed package that brings skills, and its name. Nothing of the package
    is imported."""
    for point in metadata.entry_points(group=ENTRY_POINTS):
        package, *inside = point.value.split(".")
        spec = importlib.util.find_spec(package) if package.isidentifier() else None
        places = (spec and spec.submodule_search_locations) or ()
        folders = [folder for place in places if (folder := Path(place, *inside)).is_dir()]
        if not folders:
            refused.append((Path(point.value), "no installed package has this folder"))
        name = f"package {point.dist.name} {point.dist.version}" if point.dist else point.name
        yield from ((folder, name) for folder in folders)


def _skill_folders(root: Path, refused: list[tuple[Path, str]]) -> Iterator[Path]:
    """Yield the folders of skills below `root`, in the order of their paths. Folders that a link leads
    out of `root` to are refused."""
    waiting, seen = [(root, 0)], 0
    while waiting:
        folder, depth = waiting.pop(0)
        seen += 1
        if seen > _MOST_FOLDERS:
            refused.append(
                (root, f"it has more than {_MOST_FOLDERS:,} folders: the rest is left out")
            )
            return
        try:
            with os.scandir(folder) as scanned:
                entries = sorted(scanned, key=lambda entry: entry.name)
        except OSError as error:
            refused.append((folder, _reason(error)))
            continue
        if any(entry.name in (SKILL, "skill.md") for entry in entries):
            yield folder
            continue
        for entry in entries:
            inside = Path(entry.path)  # whose is_dir bears links that lead in a circle
            if entry.name.startswith(".") or entry.name in _SKIPPED or not inside.is_dir():
                continue
            if not _is_plain(entry.name):
                refused.append((folder / ascii(entry.name), f"its name {_NOT_PLAIN}"))
            elif entry.is_symlink():
                if not _is_inside(inside, root):
                    refused.append((inside, "a link leads out of the folder of skills"))
            elif depth < _MOST_DEPTH:
                waiting.append((inside, depth + 1))


def _files(folder: Path, warnings: list[str]) -> Iterator[SkillFile]:
    """Yield the files of a skill beside its SKILL.md, in the order of their paths. Raises Unusable for a
    link that leads out of it."""
    count = 0
    for path in _paths(folder, folder):
        name = path.relative_to(folder).as_posix()
        if name in (SKILL, "skill.md"):
            continue
        if path.is_symlink() and not _is_inside(path, folder):
            raise Unusable(f"its {name} leads out of the skill by a link")
        facts = path.stat()
        if not _is_plain(name):
            warnings.append(f"{name!a} is left out: its name {_NOT_PLAIN}")
        elif not stat.S_ISREG(facts.st_mode):
            warnings.append(f"{name} is no regular file, and is left out")
        elif facts.st_size > MOST_BYTES:
            warnings.append(f"{name} has more than 1 MiB, and is left out")
        elif count == _MOST_FILES:
            warnings.append(f"it has more than {_MOST_FILES} files: the rest is left out")
            return
        else:
            count += 1
            data = _content(path, folder)
            yield SkillFile(name, len(data), hashlib.sha256(data).hexdigest())


def _paths(folder: Path, root: Path) -> Iterator[Path]:
    """Yield what is in a folder of the skill at `root`, without hidden files; of a link to another folder
    of the skill nothing."""
    depth = len(folder.relative_to(root).parts)
    for path in sorted(folder.iterdir()):
        if path.name.startswith(".") or path.name in _SKIPPED:
            continue
        if path.is_dir() and not path.is_symlink():
            if depth < _MOST_DEPTH:
                yield from _paths(path, root)
        elif not path.is_dir() or not _is_inside(path, root):
            yield path


def _content(path: Path, root: Path) -> bytes:
    """Return a regular file inside `root`, up to 1 MiB. Raises Unusable and OSError."""
    real = Path(os.path.realpath(path))
    if not real.is_relative_to(os.path.realpath(root)):
        raise Unusable(f"its {path.name} leads out of the skill by a link")
    descriptor = os.open(real, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    with os.fdopen(descriptor, "rb") as file:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise Unusable(f"its {path.name} is no regular file")
        data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise Unusable(f"its {path.name} has more than 1 MiB")
    return data


_NOT_PLAIN = "has line ends, marks or characters that cannot be shown"


def _is_plain(name: str) -> bool:
    """Return whether the model and people can be told a name: it cannot pose as a line of ours."""
    return name.isprintable() and without_marks(name) == name


def _is_inside(path: Path, root: Path) -> bool:
    return Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))


def _reason(error: Unusable | OSError) -> str:
    return str(error) if isinstance(error, Unusable) else f"it cannot be read: {error.strerror}"
