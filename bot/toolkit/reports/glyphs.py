"""Which letters a PDF can show: of the fonts that come with what is installed, and of those that the
machine has besides."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typst

_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me", "Cn", "Co", "Cs"})


@cache
def fonts() -> typst.Fonts:
    """All fonts that a PDF may use: Typst's own, Matplotlib's, and those of the machine."""
    import typst

    return typst.Fonts(font_paths=[_bundled()])


def undrawable(text: str) -> list[str]:
    """The characters that no font here has, in the order of `text`, each once."""
    wanted = dict.fromkeys(c for c in text if unicodedata.category(c) not in _UNSEEN)
    for path in _paths():
        if not wanted:
            break
        known = _letters(path)
        wanted = {each: None for each in wanted if ord(each) not in known}
    return list(wanted)


def _paths() -> Iterator[Path]:
    """DejaVu first: nearly always it is enough, and to read all fonts of a machine takes time."""
    yield _bundled() / "DejaVuSans.ttf"
    yield from (Path(path) for path in dict.fromkeys(each.path for each in fonts().fonts()) if path)


def _bundled() -> Path:
    """Matplotlib's: DejaVu, for Latin, Greek, Cyrillic, Arabic, Hebrew and many signs."""
    import matplotlib as mpl

    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@cache
def _letters(path: Path) -> frozenset[int]:
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            return frozenset(font.getBestCmap() or ())
    except (TTLibError, OSError):
        return frozenset()
