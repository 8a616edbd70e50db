"""Permissions of the folders that the bot takes code or instructions from: nobody else may be able to
change them.

Whoever can write to a folder of code, or replace one that it is in, runs code with the bot's secrets.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

from bot.core.errors import ConfigurationError

CODE = frozenset({".py", ".pyc", ".so"})
"""The suffixes of files of code."""


def checked_folder(path: Path, setting: str, suffixes: frozenset[str] | None = CODE) -> Path:
    """Return the absolute path of a folder that `setting` names.

    Raises ConfigurationError if it cannot be read, or if others can change the files in it with one
    of these suffixes, None for all files.
    """
    try:
        folder = path.expanduser().absolute()
        if not folder.is_dir():
            problem = "is not a folder" if folder.exists() else "does not exist"
            raise ConfigurationError(f"Wrong setting: {setting}: {folder} {problem}.")
        next(folder.iterdir(), None)
        place = _writable_by_others(folder, suffixes)
    except PermissionError as error:
        raise ConfigurationError(
            f"Wrong setting: {setting}: {error.filename} cannot be read: {error.strerror}."
        ) from None
    except RuntimeError as error:  # `~somebody` whom the system does not know
        raise ConfigurationError(f"Wrong setting: {setting}: {path}: {error}") from None
    if place:
        what = "code" if suffixes else "files"
        raise ConfigurationError(
            f"Wrong setting: {setting}: others can change the {what} in {folder}, because {place} "
            f"belongs to another user, or its group or everybody may write to it. Run "
            f"`chown $(id -u) {place}` or `chmod go-w {place}`."
        )
    return folder


def _writable_by_others(folder: Path, suffixes: frozenset[str] | None) -> Path | None:
    """Return a place through which others can change such files in `folder`, an absolute path.

    That is a folder or file inside that its group or everybody may write to, or a folder
    above that lets them replace it, also above what a link leads to; and any of these that belongs
    to another user, but for root. None if there is none.
    """
    if os.name == "nt":  # has no such permissions
        return None
    above = [*folder.parents, *folder.resolve().parents]
    for place in _places_in(folder, suffixes):
        if _is_writable_by_others(place) or _is_of_another(place):
            return place
        if place.is_symlink():
            above += Path(os.path.realpath(place)).parents  # which bears circles
    for place in dict.fromkeys(above):
        if _is_of_another(place) or (_is_writable_by_others(place) and not _keeps_entries(place)):
            return place
    return None


def _is_of_another(place: Path) -> bool:
    """Return whether a user other than this process's and root owns the place, or the link itself:
    owners may change its mode and what it holds at any moment."""
    try:
        owners = {place.stat().st_uid, place.lstat().st_uid}
        return not owners <= {0, os.geteuid()} and not _is_read_only(place)
    except OSError as error:
        return _leads_somewhere(error)


def _is_read_only(place: Path) -> bool:
    """Return whether the place is in a mounted volume that nobody here can write to."""
    return bool(os.statvfs(place).f_flag & os.ST_RDONLY)


def _places_in(folder: Path, suffixes: frozenset[str] | None) -> Iterator[Path]:
    """Yield `folder`, its folders and their files with such suffixes, without hidden folders and,
    where only code counts, venvs: anybody who can write to a folder can make it look like one."""
    yield folder
    seen = {folder.resolve()}
    for root, folders, files in os.walk(folder, followlinks=True):
        inside = [Path(root, each) for each in folders if not each.startswith(".")]
        if suffixes is not None:
            inside = [each for each in inside if not (each / "pyvenv.cfg").exists()]
        folders[:] = [each.name for each in inside if each.resolve() not in seen]
        seen.update(each.resolve() for each in inside)
        yield from inside
        names = (name for name in files if suffixes is None or Path(name).suffix in suffixes)
        yield from (Path(root, name) for name in names)


def _is_writable_by_others(place: Path) -> bool:
    try:
        if not place.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
            return False
        return not _is_read_only(place)  # such a volume is often 0777
    except OSError as error:
        return _leads_somewhere(error)


def _leads_somewhere(error: OSError) -> bool:
    """Return False for the error of a link that leads nowhere or in a circle, and of a file that has
    gone. Raises others."""
    if error.errno not in (errno.ENOENT, errno.ELOOP):
        raise error
    return False


def _keeps_entries(place: Path) -> bool:
    """Return whether a folder protects what is in it from those who may write to it.

    `/tmp` does, as only owners may replace their entries. So does a folder whose group is its
    owner's own: many systems make such folders writable by that group.
    """
    import grp  # not on Windows
    import pwd

    facts = place.stat()
    if facts.st_mode & stat.S_ISVTX:
        return True
    if facts.st_mode & stat.S_IWOTH:
        return False
    try:
        owner, group = pwd.getpwuid(facts.st_uid), grp.getgrgid(facts.st_gid)
    except KeyError:
        return False
    return owner.pw_gid == facts.st_gid and set(group.gr_mem) <= {owner.pw_name}
