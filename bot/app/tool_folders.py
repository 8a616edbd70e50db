"""Tool folders: modules imported from a folder, wherever it is and whatever its files are called.

A folder that Python finds by its own name, such as `tools` in a clone, is imported by that name.
Any other gets a name of ours, so that `calendar.py` in it hides no installed module and is hidden
by none. Its files import one another as they would beside a script (`import crm_client`), or with a
dot.
"""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
import re
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType

from typing_extensions import override

import bot

_PREFIX = "bot.tools_in_"
"""How our names of folders begin. Logs of modules in `bot` may show what their authors wrote."""

_names: dict[Path, str] = {}

_NOT_TOOLS = re.compile(r"_.*|test_.*|.*_test|conftest|setup")


def own_folder() -> Path:
    """Return the folder of the bot's own tools: in the package (wheel) or beside it (clone)."""
    installed = Path(bot.__file__).parent / "tools"
    return installed if installed.is_dir() else installed.parents[1] / "tools"


def room_modules() -> list[str]:
    """Return the modules with the tools of features: `tools.py` in their rooms."""
    rooms = Path(bot.__file__).parent / "features"
    return [f"bot.features.{file.parent.name}.tools" for file in sorted(rooms.glob("*/tools.py"))]


def module_names(folder: Path) -> list[str]:
    """Return the modules and packages directly in `folder`, without tests and private ones."""
    return [each for each in _all_names(folder) if may_hold_tools(each)]


def may_hold_tools(name: str) -> bool:
    """Return whether a module of this name is no test and not private."""
    return not _NOT_TOOLS.fullmatch(name)


def _all_names(folder: Path) -> list[str]:
    return [each.name for each in pkgutil.iter_modules([str(folder)])]


def import_packages(folders: Sequence[Path]) -> dict[Path, str]:
    """Make the modules of `folders` importable, and those of other folders no longer. Return the
    name of each folder's package.

    Raises what an `__init__.py` raises.
    """
    packages = {each: _package_name(each) for each in folders}
    own = {each: name for each, name in packages.items() if name.startswith(_PREFIX)}
    _neighbours.find_in(own)
    for folder, name in own.items():
        if name not in sys.modules:
            _make_package(name, folder)
    return packages


def _package_name(folder: Path) -> str:
    """Return the name of a folder's package: the one that Python finds it by, or one of ours."""
    if folder == Path(bot.__file__).parent / "tools":
        return "bot.tools"
    if folder in _names:
        return _names[folder]
    init = folder / "__init__.py"
    if init.is_file() and _origin(folder.name) == os.path.realpath(init):
        return folder.name
    base = f"{_PREFIX}{re.sub(r'[^a-zA-Z0-9_]', '_', folder.name)}"
    taken = [name for path, name in _names.items() if path != folder]
    names = (base, *(f"{base}_{number}" for number in range(2, len(taken) + 3)))
    return _names.setdefault(folder, next(each for each in names if each not in taken))


def _origin(name: str) -> str | None:
    """Return the file or folder that `import name` finds, or "built-in"; None for nothing."""
    try:
        found = importlib.util.find_spec(name)
    except ValueError:  # a module without a spec
        return "built-in"
    if found is None:
        return None
    if found.origin and found.has_location:
        return os.path.realpath(found.origin)
    folders = [*(found.submodule_search_locations or ())]  # of a package without `__init__.py`
    return os.path.realpath(folders[0]) if folders else "built-in"


def _make_package(name: str, folder: Path) -> None:
    init = folder / "__init__.py"
    spec: ModuleSpec | None = ModuleSpec(name, None, is_package=True)
    if init.is_file():
        spec = importlib.util.spec_from_file_location(name, init)
    assert spec is not None  # noqa: S101 - a file ending in .py has a loader
    spec.submodule_search_locations = [str(folder)]
    sys.modules[name] = module = importlib.util.module_from_spec(spec)
    try:
        if spec.loader:
            spec.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise


class _Neighbours(MetaPathFinder):
    """Finds the modules of tool folders by the names under which their neighbours import them.

    Each module exists once: `import crm_client` is the module that the folder's package holds, so
    that its classes are the same in all files. Installed modules keep their names.
    """

    def __init__(self) -> None:
        self._packages: dict[Path, str] = {}
        self._modules: dict[str, list[str]] = {}

    def find_in(self, packages: dict[Path, str]) -> None:
        """Find the modules of these folders, and those of earlier ones no longer."""
        if packages == self._packages:
            return
        self._forget()
        self._packages = packages
        for folder, name in packages.items():  # all: a name that two folders have is unclear
            self._add(name, folder)

    def _forget(self) -> None:
        """Forget all modules: another folder may have others by the same names."""
        for name, modules in self._modules.items():
            known = {id(sys.modules[each]) for each in modules if each in sys.modules}
            if id(sys.modules.get(name)) in known:
                within = [each for each in sys.modules if each.startswith(f"{name}.")]
                for each in (name, *within):
                    del sys.modules[each]
        self._modules = {}

    def _add(self, package: str, folder: Path) -> None:
        """Register the modules of `folder`, and the folder itself."""
        modules = {each: f"{package}.{each}" for each in _all_names(folder)}
        modules.setdefault(folder.name, package)
        for name, module in modules.items():
            known = self._modules.get(name, [])
            if module not in known and (known or not _is_installed(name, folder)):
                self._modules[name] = [*known, module]
        if self not in sys.meta_path:
            sys.meta_path.insert(0, self)

    @override
    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """See importlib. Raises ImportError for a name that two folders have."""
        name, dot, rest = fullname.partition(".")
        modules = self._modules.get(name)
        if modules is None:
            return None
        if len(modules) > 1:
            raise ImportError(f"two tool folders have a {name}: write `from . import {name}`")
        return ModuleSpec(fullname, _SameModule(f"{modules[0]}{dot}{rest}"))


def _is_installed(name: str, folder: Path) -> bool:
    """Return whether `name` is a module from elsewhere than `folder`."""
    origin = _origin(name)
    return origin is not None and not Path(origin).is_relative_to(folder.resolve())


class _SameModule(Loader):
    """Loads a module that exists under another name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._spec: ModuleSpec | None = None

    @override
    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._name)
        self._spec = module.__spec__
        return module

    @override
    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self._spec  # the import system has set the one of the other name


_neighbours = _Neighbours()
