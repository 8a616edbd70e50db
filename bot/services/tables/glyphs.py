"""Which letters a PDF or an image of a chart can show: of the fonts that come with what is installed,
and of those that the machine has besides."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import typst

_LAST_RESORT = 20
"""Characters to a glyph; in fonts for reading there are hardly more characters than glyphs."""

_UNSEEN = frozenset({"Cc", "Cf", "Zs", "Zl", "Zp", "Mn", "Me", "Cn", "Co", "Cs"})


@cache
def fonts() -> typst.Fonts:
    """All fonts that a PDF may use: Typst's own, Matplotlib's, and those of the machine."""
    import typst

    return typst.Fonts(font_paths=[_bundled()])


def undrawable(text: str) -> list[str]:
    """The characters that no font here has, in the order of `text`, each once."""
    return drawn_with(text)[1]


def drawn_with(text: str, *, bitmaps: bool = True) -> tuple[list[Path], list[str]]:
    """The fonts that draw `text`, DejaVu Sans first, and the characters that none here has; without
    `bitmaps` only fonts of outlines count."""
    wanted = dict.fromkeys(c for c in text if unicodedata.category(c) not in _UNSEEN)
    used: list[Path] = []
    for path in _paths():
        if used and not wanted:
            break
        known = _letters(path, bitmaps)
        if not used or any(ord(each) in known for each in wanted):
            used.append(path)
        wanted = {each: None for each in wanted if ord(each) not in known}
    return used, list(wanted)


def _paths() -> Iterator[Path]:
    """DejaVu first: nearly always it is enough, and to read all fonts of a machine takes time."""
    yield _bundled() / "DejaVuSans.ttf"
    yield from (Path(path) for path in dict.fromkeys(each.path for each in fonts().fonts()) if path)


def _bundled() -> Path:
    """Matplotlib's: DejaVu, for Latin, Greek, Cyrillic, Arabic, Hebrew and many signs."""
    import matplotlib as mpl

    return Path(mpl.get_data_path()) / "fonts" / "ttf"


@cache
def _letters(path: Path, bitmaps: bool) -> frozenset[int]:
    """The code points that a font draws; none for a font of last resort (Matplotlib and macOS have
    one), which draws the same few boxes for all of Unicode."""
    from fontTools.ttLib import TTFont, TTLibError

    try:
        with TTFont(path, fontNumber=0, lazy=True) as font:
            glyphs = font.getBestCmap() or {}
            has_outlines = "glyf" in font or "CFF " in font or "CFF2" in font
    except (TTLibError, OSError):
        return frozenset()
    is_last_resort = len(glyphs) > _LAST_RESORT * len(set(glyphs.values()))
    can_draw = not is_last_resort and (has_outlines or bitmaps)
    return frozenset(glyphs) if can_draw else frozenset()
