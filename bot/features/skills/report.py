"""The lines of `bot skills`: which skills there are, and what is wrong with them."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

from bot.features.skills.library import READ
from bot.features.skills.loading import LoadedSkill, LoadedSkills, load_skills, read_skills
from bot.features.skills.settings import SkillSettings
from bot.text.counting import counted

_LINK = re.compile(r"\]\(([^)\s#]+)")
_PATH = re.compile(r"(?<![\w/.-])((?:scripts|references|assets)/[\w./-]*\w)")


def skill_lines(
    settings: SkillSettings,
    is_taken: Callable[[str], bool],
    *,
    folder: Path | None = None,
    check: bool = False,
) -> list[str]:
    """Return a line for each skill of the settings, or of one `folder`; with `check`, what it should say
    differently, too. A line that begins with ! says what is not loaded, and why.

    Raises ConfigurationError for a path that must not be used.
    """
    if folder:
        loaded = read_skills([(folder.absolute(), folder.name)], is_taken)
    else:
        loaded = load_skills(settings.paths, is_taken)
    wide = max((len(skill.name) for skill in loaded.skills), default=0)
    lines = list[str]()
    for skill in loaded.skills:
        facts = f"{len(skill.text.body):>6,} characters, {len(skill.files):>3} files"
        lines.append(f"{skill.name:<{wide}}  {facts}  {skill.folder}")
        warnings = [*skill.warnings, *missing_files(skill)]
        if check:
            lines += [f"  - {warning}" for warning in warnings]
        elif warnings:
            lines[-1] += f"  ({counted(len(warnings), 'warning')}: `bot skills check`)"
    lines += _refused(loaded)
    return lines or ["There are no skills: put their folders into `paths` of [skills]."]


def missing_files(skill: LoadedSkill) -> Iterator[str]:
    """Yield a line for each file that the body names and the skill does not have."""
    body, files = skill.text.body, {file.path for file in skill.files}
    folders = {parent.as_posix() for path in files for parent in Path(path).parents}
    named = dict.fromkeys((*_LINK.findall(body), *_PATH.findall(body)))
    for path in named:
        is_address = ":" in path or path.startswith("/")
        if not is_address and path.removeprefix("./").rstrip("/") not in files | folders:
            yield f"it names {path}, which it does not have, or which {READ} cannot read"


def _refused(loaded: LoadedSkills) -> Iterator[str]:
    yield from (f"! {folder} is not loaded: {why}" for folder, why in loaded.refused)
